"""What `check_trajectories` counts and complains of."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prm.data.check import MAX_LISTED, check_trajectories
from prm.data.readers.row import Row
from prm.data.records import parse_trajectory
from prm.data.sources import Loaded, load_trajectories

Make = Callable[..., dict[str, Any]]


def loaded(records: Any) -> Iterator[Loaded]:
    for number, record in enumerate(records, start=1):
        where = f"a.jsonl:{number}"
        yield Loaded(parse_trajectory(record, where), Row(where, None, record), "a.jsonl")


def test_counts_by_hand(make_record: Make) -> None:
    records = [
        make_record(1, -1, generator="g"),
        make_record(0, None, sample=1, final_label=-1),
        make_record(1, query=1, final_label=None, protocol="independent"),
    ]
    plain = check_trajectories(loaded(records)).as_dict()
    assert (plain["trajectories"], plain["steps"], plain["queries"]) == (3, 5, 2)
    assert plain["label_counts"] == {"-1": 1, "0": 1, "1": 2, "unknown": 1}
    assert plain["outcome_counts"] == {"-1": 1, "0": 0, "1": 1, "unknown": 1}
    assert plain["by_source"] == {"shop": 3}
    assert plain["generators"] == {"g": 1, "unknown": 2}
    assert plain["protocols"] == {"independent": 1, "unnamed": 2}
    assert plain["warnings"]["count"] == plain["contradictions"]["count"] == plain["duplicates"]["count"] == 0


def test_lengths_are_nearest_rank(make_record: Make) -> None:
    lengths = iter([10, 30, 20, 40])
    report = check_trajectories(loaded(make_record(1, sample=i) for i in range(4)), lambda _: next(lengths), "tokens")
    assert report.as_dict()["lengths"] == {"unit": "tokens", "p50": 20, "p90": 40, "max": 40}


def test_the_same_messages_with_other_labels_contradict_each_other(make_record: Make) -> None:
    first = make_record(1, 0)
    same = {**first, "sample_index": 1}
    other = {**first, "sample_index": 2, "step_labels": {"1": 1, "2": -1}}
    report = check_trajectories(loaded([first, same, other]))
    assert report.contradictions.first == ["a.jsonl:3: same messages as an earlier record, other labels"]


def test_a_key_that_stands_twice_is_named(make_record: Make) -> None:
    report = check_trajectories(loaded([make_record(1), make_record(1, sample=1), make_record(-1)]))
    assert report.duplicates.count == 1
    assert report.duplicates.first[0].startswith("a.jsonl:3: key shop / 0 / 0")


def test_broken_arguments_are_warnings_and_objects_and_blanks_are_not(make_record: Make) -> None:
    def calls(*arguments: Any) -> dict[str, Any]:
        return {
            "role": "assistant",
            "tool_calls": [{"function": {"name": "f", "arguments": a}} for a in arguments],
        }

    good, broken = calls('{"n":null}', {"n": 1}, "", None, "7"), calls("{}", "{broken")
    record = make_record(messages=[good, broken], step_labels={"0": 1, "1": 1})
    report = check_trajectories(loaded([record]))
    assert report.warnings.first == ["a.jsonl:1: messages[1].tool_calls[1].function.arguments: not JSON, kept as it is"]


def test_all_complaints_are_counted_and_few_are_listed(make_record: Make) -> None:
    report = check_trajectories(loaded([make_record(1)] * 100))
    assert report.duplicates.count == 99
    assert len(report.duplicates.first) == MAX_LISTED


def test_the_two_broken_argument_strings_of_the_benchmark_are_the_only_complaints(shared_data: Path) -> None:
    report = check_trajectories(load_trajectories([str(shared_data / "agentprocessbench" / "hotpotqa.jsonl")]))
    assert (report.trajectories, report.steps, report.queries) == (250, 734, 50)
    assert [line.split(": ")[0].rsplit(":")[-1] for line in report.warnings.first] == ["63", "113"]
    assert report.contradictions.count == report.duplicates.count == 0


def test_memory_does_not_grow_with_the_text(make_record: Make) -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        records = (make_record(1, -1, sample=i, question="x" * 20_000) for i in range(count))
        check_trajectories(loaded(records))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    few, many = peak(100), peak(1_100)
    assert (many - few) / 1_000 < 500, "bytes a record, of more than 20,000"
