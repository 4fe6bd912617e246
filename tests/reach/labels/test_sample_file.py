from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from prm.data.records import read_trajectories
from prm.reach.labels.human_file import read_human
from prm.reach.labels.sample_file import protect, restore, write_sample
from prm.types import RunIdentity, Trajectory
from tests.reach.labels.labelled_runs import labelled_run

RUNS = [labelled_run(7, [("fabricated_ref", -1), ("unknown", None)], outcome=-1, M1="reached", M2="touched")]
TELLING = ("fabricated", "loop", "reached", "touched", "rule", "looper")


@pytest.mark.parametrize("name", ["sample.jsonl", "sample.csv"])
def test_the_file_is_blind_to_verdicts_rules_labels_and_the_agent(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert write_sample(path, RUNS, {}) == 1
    text = path.read_text(encoding="utf-8-sig")
    assert not any(word in text for word in TELLING), text
    assert "step 0 of 7" in text
    assert "M2" in text


@pytest.mark.parametrize("name", ["sample.jsonl", "sample.csv"])
def test_an_unfilled_file_reads_as_no_labels(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_sample(path, RUNS, {})
    (said,) = read_human(path)
    assert said.identity.key == RUNS[0].key
    assert (said.steps, said.outcome, said.milestones) == ({}, None, {})


def test_jsonl_holds_legal_trajectory_records(tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    write_sample(path, RUNS, {})
    (run,) = read_trajectories(path)
    assert run.step_labels == {1: None, 2: None}
    assert json.loads(path.read_text())["milestones"] == {"M1": None, "M2": None}


def test_the_table_has_a_row_a_message_and_shows_calls_and_titles(tmp_path: Path) -> None:
    path = tmp_path / "sample.csv"
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"a":"1"}'}}
    run = Trajectory(
        RunIdentity(id="=r"),
        ({"role": "user", "content": "=1+1"}, {"role": "assistant", "content": None, "tool_calls": [call]}),
        {1: 1},
        extra={"reach": {"milestones": {"M1": "reached"}}},
    )
    write_sample(path, [run], {"M1": "ticket read"})
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["kind"] for row in rows] == ["user", "step", "outcome", "milestone"]
    assert rows[0]["text"] == "'=1+1"
    assert rows[1]["text"] == '\'-> look({"a":"1"})'
    assert rows[3]["text"] == "M1: ticket read"
    assert {row["id"] for row in rows} == {"'=r"}
    assert read_human(path)[0].identity.key == ("id", "=r")


@pytest.mark.parametrize("text", ["", "x", "=x", "'x", "''", "-1", "@a", "\t"])
def test_a_protected_cell_is_restored_and_begins_no_formula(text: str) -> None:
    assert restore(protect(text)) == text
    assert not protect(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_lone_surrogate_does_not_stop_the_table(tmp_path: Path) -> None:
    run = Trajectory(RunIdentity(id="r"), ({"role": "assistant", "content": "\ud800"},), {0: 1})
    write_sample(tmp_path / "sample.csv", [run], {})
    assert "\\ud800" in (tmp_path / "sample.csv").read_text(encoding="utf-8-sig")
