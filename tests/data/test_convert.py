"""To and from TRL's former stepwise format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.convert import binary_stepwise_record, convert, stepwise_record
from prm.data.readers.registry import read_all
from prm.data.readers.stepwise import trajectory_of_stepwise
from prm.data.records import parse_trajectory
from prm.data.sources import RefuseBad, load_trajectories
from prm.errors import ConfigError, RecordError

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def test_a_completion_is_what_was_seen_since_the_last_step_and_the_step() -> None:
    messages = [
        {"role": "system", "content": "help"},
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": '{"a":1}'}}],
        },
        {"role": "tool", "content": "result"},
        {"role": "assistant", "content": "answer"},
        {"role": "tool", "content": "after the last step"},
    ]
    record = {"id": "r", "messages": messages, "step_labels": {"2": 0, "4": -1}, "final_label": -1}
    row = stepwise_record(parse_trajectory(record, "x"), "x")
    assert row == {
        "id": "r",
        "prompt": "help\n\nq",
        "completions": ['f({"a":1})', "result\n\nanswer"],
        "labels": [0, -1],
        "final_label": -1,
    }


texts = st.text(min_size=1, max_size=8)


@given(texts, st.lists(st.tuples(texts, st.sampled_from([-1, 0, 1, None])), min_size=1, max_size=5))
def test_a_stepwise_row_survives_the_way_there_and_back(prompt: str, steps: list[tuple[str, Any]]) -> None:
    row = {
        "prompt": prompt,
        "completions": [text for text, _ in steps],
        "labels": [label for _, label in steps],
    }
    record = {**trajectory_of_stepwise(row, "x", "math"), "sample_index": 0}
    again = stepwise_record(parse_trajectory(record, "x"), "x")
    assert {key: again[key] for key in row} == row


def test_boolean_labels_survive_and_neutral_ones_are_refused(make_record: Make) -> None:
    row = binary_stepwise_record(parse_trajectory(make_record(1, -1), "x"), "x")
    assert row["labels"] == [True, False]
    for label in (0, None):
        with pytest.raises(RecordError, match=r'step_labels\["2"\].*--to stepwise'):
            binary_stepwise_record(parse_trajectory(make_record(1, label), "x"), "x")


def test_a_run_without_steps_has_no_stepwise_row(make_record: Make) -> None:
    with pytest.raises(RecordError, match="needs a step"):
        stepwise_record(parse_trajectory(make_record(), "x"), "x")


def test_files_are_converted_and_read_again(tmp_path: Path, write_lines: Write, make_record: Make) -> None:
    path = str(write_lines(tmp_path / "a.jsonl", [make_record(1, 0), make_record(-1, sample=1, final_label=-1)]))
    out = tmp_path / "b.jsonl"
    assert convert(load_trajectories([path]), "stepwise", out, RefuseBad()) == 2
    first, second = read_all([str(out)])
    assert (first.step_labels, second.step_labels) == ({1: 1, 2: 0}, {1: -1})
    assert [t.key for t in (first, second)] == [t.key for t in read_all([path])]
    assert [t.final_label for t in (first, second)] == [1, -1]
    convert(load_trajectories([path]), "trajectories", out, RefuseBad())
    assert read_all([str(out)]) == read_all([path])


def test_a_failed_conversion_writes_nothing(tmp_path: Path, write_lines: Write, make_record: Make) -> None:
    path = str(write_lines(tmp_path / "a.jsonl", [make_record(1), make_record(0, sample=1)]))
    with pytest.raises(RecordError):
        convert(load_trajectories([path]), "stepwise-binary", tmp_path / "b.jsonl", RefuseBad())
    with pytest.raises(ConfigError, match="--to: must be one of"):
        convert(load_trajectories([path]), "csv", tmp_path / "b.jsonl", RefuseBad())
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
