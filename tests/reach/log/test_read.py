from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.errors import ConfigError, InputError, MissingFileError, RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.read import detect_log, read_runs
from prm.reach.log.run import Run
from tests.reach.log.messages import says, trajectory, user
from tests.reach.log.spans import document, span


def own_reader(source: str) -> Iterator[Any]:
    """Runs, trajectories and records, for the tests below."""
    yield run_of_trajectory(trajectory(user(), says("one")))
    yield trajectory(user(), says("two"))
    yield dump_trajectory(trajectory(user(), says("three")))


def failing_reader(source: str) -> Iterator[Any]:
    yield trajectory(user(), says("one"))
    raise KeyError("oops")


def test_the_reader_is_found_by_what_the_log_looks_like(tmp_path: Path) -> None:
    contents = {
        "otel": json.dumps(document(span("execute_tool", 0, 1, tool="x"))),
        "flat": '{"round_id": "r", "tool": "x"}',
        "operations": '{"time": 1, "actor": "a", "operation": "x"}',
        "trajectory": json.dumps(dump_trajectory(trajectory(user(), says("x")))),
        "chat": '{"messages": [{"role": "user", "content": "hi"}]}',
        "taubench": '[{"task_id": 1, "traj": [{"role": "user", "content": "hi"}]}]',
    }
    for name, content in contents.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text(content + "\n", encoding="utf-8")
        assert detect_log(str(path)) == name
        assert len(list(read_runs(path))) == 1


@pytest.mark.parametrize("break_after", ["{", '{"resourceSpans": [', '{ "resourceSpans": [{"resource": '])
def test_a_document_over_several_lines_is_known_by_its_first(tmp_path: Path, break_after: str) -> None:
    text = json.dumps(document(span("execute_tool", 0, 1, tool="x")))
    start = break_after.replace("{ ", "{")
    assert start in text
    path = tmp_path / "spans.json"
    path.write_text("\ufeff" + text.replace(start, break_after + "\n", 1), encoding="utf-8")
    assert detect_log(str(path)) == "otel"
    assert len(list(read_runs(path))) == 1


def test_real_tau_bench_runs_are_read(shared_data: Path) -> None:
    runs = list(read_runs(shared_data / "tau_bench" / "gpt-4o-airline.json"))
    assert len(runs) == 200
    assert sum(len(run.calls) for run in runs) == 1164
    assert all(call.id in run.results for run in runs for call in run.calls)
    errors = [result for run in runs for result in run.results.values() if result.ok is False]
    assert len(errors) == 73
    assert all(str(result.value).startswith("Error") for result in errors)
    assert sum(run.outcome == 1 for run in runs) == 84


def test_real_agentprocessbench_runs_are_read(shared_data: Path) -> None:
    runs = list(read_runs(shared_data / "agentprocessbench" / "hotpotqa.jsonl"))
    assert len(runs) == 250
    calls = [call for run in runs for call in run.calls]
    assert (len(calls), sum(call.arguments is None for call in calls)) == (461, 2)
    assert all(call.id in run.results for run in runs for call in run.calls)


def test_scripted_runs_are_read_with_their_marks(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    write_jsonl(path, map(dump_trajectory, generate_runs(200)))
    runs = list(read_runs(path))
    assert len(runs) == 200
    results = [result for run in runs for result in run.results.values()]
    assert {result.status for result in results} >= {"ok", "not_found", "timeout"}
    assert all(result.ok is (result.status == "ok") for result in results)
    assert any(result.partial for result in results)
    assert not any(run.notes for run in runs)


def test_ones_own_reader_may_give_runs_trajectories_or_records() -> None:
    runs = list(read_runs("anything", "tests.reach.log.test_read:own_reader"))
    assert all(isinstance(run, Run) for run in runs)
    assert [run.events[1].text for run in runs] == ["one", "two", "three"]


def test_what_ones_own_reader_raises_is_one_line() -> None:
    with pytest.raises(InputError, match='anything: record 2: the reader must not fail, got "KeyError'):
        list(read_runs("anything", "tests.reach.log.test_read:failing_reader"))


def test_a_log_reader_can_be_given_to_the_trajectory_readers_too(tmp_path: Path) -> None:
    from prm.data.readers.registry import read_all

    path = tmp_path / "flat.jsonl"
    path.write_text('{"round_id": "r", "tool": "x"}\n', encoding="utf-8")
    (found,) = read_all([str(path)], "prm.reach.log.flat:read")
    assert found.identity.id == "flat_log:r"
    assert list(found.step_labels.values()) == [None]


@pytest.mark.parametrize("reader", ["nothing", "flat?run=x", "operations?x=y", "no.such:module"])
def test_a_reader_that_does_not_exist_is_one_line(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "flat.jsonl"
    path.write_text('{"round_id": "r", "tool": "x"}\n', encoding="utf-8")
    with pytest.raises(ConfigError):
        list(read_runs(path, reader))


def test_a_missing_or_an_empty_file_is_one_line(tmp_path: Path) -> None:
    for reader in (None, "flat", "otel", "operations"):
        with pytest.raises(MissingFileError):
            list(read_runs(tmp_path / "nowhere.jsonl", reader))
    for name in ("empty.jsonl", "empty.csv"):
        (tmp_path / name).write_text("")
        for reader in (None, "flat", "otel", "operations"):
            with pytest.raises(InputError):
                list(read_runs(tmp_path / name, reader))


def test_a_reader_that_is_not_there_is_told_with_all_that_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--reader: must be one of flat, otel, operations, trajectory, .*got 'no'"):
        list(read_runs(tmp_path / "log.jsonl", "no"))


@pytest.mark.parametrize("record", ['{"schema": "prm.reach.verdict/1"}', '{"resourceLogs": []}'])
def test_verdicts_and_evaluation_events_are_no_log(tmp_path: Path, record: str) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text(record + "\n")
    with pytest.raises(RecordError, match=r"verdicts\.jsonl:1: must be a log, got 'verdicts'"):
        list(read_runs(path))
