"""`prm reach label`, `sample` and `agree` from a log to the comparison with a person, as a person runs them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.errors import PrmError
from prm.reach.desk.generate import generate_runs
from prm.reach.labels.sample_file import COLUMNS


def prm(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, PrmError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("label")
    write_jsonl(made / "runs.jsonl", map(dump_trajectory, generate_runs(60, seed=2)))
    prm("reach", "label", "--logs", made / "runs.jsonl", "--spec", "ticket", "--out", made / "labelled.jsonl")
    return made


def test_label_writes_a_trajectory_file_that_check_and_build_take(folder: Path, tmp_path: Path) -> None:
    runs = list(read_trajectories(folder / "labelled.jsonl"))
    assert len(runs) == 60
    assert {run.label_source for run in runs} == {"rule"}
    assert {run.protocol for run in runs} == {"error_propagation"}
    assert "60 trajectories" in prm("check", folder / "labelled.jsonl")
    prm("build", folder / "labelled.jsonl", "--out", tmp_path / "data")
    assert (tmp_path / "data" / "train.jsonl").is_file()


def test_label_prints_the_labels_of_each_rule_and_the_masked_share(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "labelled.jsonl"
    shown = prm("reach", "label", "--logs", folder / "runs.jsonl", "--spec", "ticket", "--out", out)
    assert "fabricated_ref" in shown
    assert "masked 0.0%" in shown
    assert out.read_bytes() == (folder / "labelled.jsonl").read_bytes()


def test_labelling_again_what_rules_have_labelled_changes_nothing_and_keeps_the_worlds_outcome(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "again.jsonl"
    prm("reach", "label", "--logs", folder / "labelled.jsonl", "--spec", "ticket", "--out", out)
    assert out.read_bytes() == (folder / "labelled.jsonl").read_bytes()
    known = [run.final_label for run in read_trajectories(folder / "runs.jsonl")]
    assert [run.extra["reach"]["outcome"] for run in read_trajectories(out)] == known


@pytest.mark.parametrize("name", ["human.csv", "human.jsonl"])
def test_a_sample_filled_in_with_the_known_labels_agrees_with_the_rules(
    folder: Path, tmp_path: Path, name: str
) -> None:
    human = tmp_path / name
    shown = prm("reach", "sample", folder / "labelled.jsonl", "--out", human, "--spec", "ticket")
    assert "M2  Customer found and used" in shown
    known = {run.key: run for run in read_trajectories(folder / "runs.jsonl")}
    (fill_table if name.endswith(".csv") else fill_records)(human, known)
    report = tmp_path / "agreement.json"
    shown = prm("reach", "agree", human, folder / "labelled.jsonl", "--out", report)
    assert "Precision of each rule" in shown
    found = json.loads(report.read_text())
    assert found["steps"]["n"] >= 100
    assert found["steps"]["agreement"] >= 0.97
    assert found["runs"]["compared"] >= 12


def fill_table(path: Path, known: dict) -> None:  # type: ignore[type-arg]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        run = known[row["data_source"], row["query_index"], row["sample_index"]]
        if row["kind"] == "step":
            row["label"] = str(run.step_labels[int(row["message"])])
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def fill_records(path: Path, known: dict) -> None:  # type: ignore[type-arg]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        key = (record["data_source"], str(record["query_index"]), str(record["sample_index"]))
        record["step_labels"] = {str(index): label for index, label in known[key].step_labels.items()}
    write_jsonl(path, records)


def test_a_file_without_rule_labels_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PrmError, match="must have been labelled by") as caught:
        prm("reach", "sample", folder / "runs.jsonl", "--out", tmp_path / "human.csv")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "human.csv").exists()


def test_an_output_that_would_replace_its_input_is_refused(folder: Path) -> None:
    labelled = folder / "labelled.jsonl"
    with pytest.raises(PrmError, match="must not replace what is read"):
        prm("reach", "sample", labelled, "--out", labelled)
    with pytest.raises(PrmError, match="must not replace what is read"):
        prm("reach", "label", "--logs", labelled, "--spec", "ticket", "--out", labelled)


def test_generate_writes_rule_labels_and_keeps_the_known_ones_beside(tmp_path: Path) -> None:
    known, ruled = tmp_path / "known.jsonl", tmp_path / "ruled.jsonl"
    prm("reach", "generate", "--runs", "20", "--seed", "3", "--out", known)
    prm("reach", "generate", "--runs", "20", "--seed", "3", "--out", ruled, "--labels", "rules")
    for first, second in zip(read_trajectories(known), read_trajectories(ruled), strict=True):
        assert second.messages == first.messages
        kept = second.extra["reach"]["known"]["step_labels"]
        assert kept == {str(index): label for index, label in first.step_labels.items()}
        assert second.label_notes[str(first.steps[0].index)]["rule"]
    with pytest.raises(PrmError, match="must be known or rules"):
        prm("reach", "generate", "--runs", "4", "--out", tmp_path / "x.jsonl", "--labels", "both")


def test_labels_by_a_spec_for_other_logs_are_doubted(folder: Path, tmp_path: Path) -> None:
    words = ["reach", "label", "--spec", "airline", "--logs", folder / "runs.jsonl", "--out", tmp_path / "l.jsonl"]
    assert "is this the right spec?" in prm(*words)
    assert "is this the right spec?" not in prm(*words[:3], "ticket", *words[4:])


def test_the_rules_are_not_compared_with_themselves(folder: Path) -> None:
    with pytest.raises(PrmError, match="HUMAN and LABELLED: must name each file once"):
        prm("reach", "agree", folder / "labelled.jsonl", folder / "labelled.jsonl")
