from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.reach.labels.agree import agree_with_human
from prm.reach.labels.human_file import read_human
from prm.reach.labels.labelled_file import read_labelled
from prm.reach.labels.neutral_id import neutral_identity
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
def test_an_id_that_names_the_agent_is_not_written_and_agree_finds_the_run_again(name: str, tmp_path: Path) -> None:
    runs = [
        replace(run, identity=replace(run.identity, id=f"desk-7/{agent}/plain/0", generator=agent))
        for agent, run in (("looper", RUNS[0]), ("small-model", RUNS[0]))
    ]
    path, labelled = tmp_path / name, tmp_path / "labelled.jsonl"
    write_sample(path, runs, {})
    text = path.read_text(encoding="utf-8-sig")
    assert not any(word in text for word in (*TELLING, "small-model", "plain")), text
    write_jsonl(labelled, map(dump_trajectory, runs))
    human = read_human(path)
    for said, label in zip(human, (-1, 1), strict=True):
        said.steps[1] = label
    by_rules = read_labelled(labelled, whole={said.identity.key for said in human})
    assert by_rules == runs
    found = agree_with_human(human, by_rules, bootstrap=0)
    assert (found["runs"]["compared"], found["steps"]["n"], found["steps"]["agreement"]) == (2, 2, 0.5)
    assert [record["id"] for record in found["disagreements"]["fabricated_ref"]] == ["desk-7/small-model/plain/0"]


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
    assert {row["id"] for row in rows} == {neutral_identity(run.identity).id}
    assert read_human(path)[0].identity == neutral_identity(run.identity)


@pytest.mark.parametrize("text", ["", "x", "=x", "'x", "''", "-1", "@a", "\t"])
def test_a_protected_cell_is_restored_and_begins_no_formula(text: str) -> None:
    assert restore(protect(text)) == text
    assert not protect(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_lone_surrogate_does_not_stop_the_table(tmp_path: Path) -> None:
    run = Trajectory(RunIdentity(id="r"), ({"role": "assistant", "content": "\ud800"},), {0: 1})
    write_sample(tmp_path / "sample.csv", [run], {})
    assert "\\ud800" in (tmp_path / "sample.csv").read_text(encoding="utf-8-sig")
