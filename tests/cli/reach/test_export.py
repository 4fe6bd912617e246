from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import read_jsonl, write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.errors import PrmError
from prm.reach.desk.generate import generate_runs
from prm.reach.log.otlp_values import plain_attributes
from prm.reach.log.read import read_runs
from tests.reach.log.spans import document, spans_of


def run(*arguments: str | Path) -> str:
    """The output of one command; its error is raised."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    write_jsonl(path, map(dump_trajectory, generate_runs(20, seed=8)))
    return path


@pytest.fixture
def verdicts(logs: Path) -> Path:
    out = logs.with_name("verdicts.jsonl")
    run("reach", "judge", "--spec", "ticket", "--logs", logs, "--out", out)
    return out


def test_flat_rows_name_milestones_and_what_fed_what(logs: Path, verdicts: Path, tmp_path: Path) -> None:
    out = tmp_path / "flat.jsonl"
    run("reach", "export", "--logs", logs, "--verdicts", verdicts, "--spec", "ticket", "--format", "flat", "--out", out)
    rows = [row for _, row in read_jsonl(out)]
    assert len(rows) == sum(len(one.calls) for one in read_runs(logs))
    assert {name for row in rows for name in row["milestones_reached"]} == {"M1", "M2", "M3", "M4", "M5"}
    ids = {(row["round_id"], row["call_id"]) for row in rows}
    assert any(row["source"] for row in rows)
    assert all((row["round_id"], other) in ids for row in rows for other in (*row["source"], *row["target"]))


def test_events_are_one_a_milestone_and_one_a_run(logs: Path, verdicts: Path, tmp_path: Path) -> None:
    out = tmp_path / "events.jsonl"
    run("reach", "export", "--logs", logs, "--verdicts", verdicts, "--format", "events", "--out", out)
    documents = [document for _, document in read_jsonl(out)]
    assert len(documents) == 20
    records = documents[0]["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    names = [plain_attributes(record, "event")["gen_ai.evaluation.name"] for record in records]
    assert names == ["reach.M1", "reach.M2", "reach.M3", "reach.M4", "reach.M5", "reach.covered"]


def test_spans_become_trajectories_that_are_judged_like_the_runs_they_came_from(
    logs: Path, verdicts: Path, tmp_path: Path
) -> None:
    spans = tmp_path / "spans.jsonl"
    write_jsonl(spans, (document(*spans_of(one, f"t{n}")) for n, one in enumerate(read_trajectories(logs))))
    out, judged = tmp_path / "trajectories.jsonl", tmp_path / "judged.jsonl"
    run("reach", "export", "--logs", spans, "--format", "trajectory", "--out", out)
    assert "20 trajectories" in run("check", out)
    run("reach", "judge", "--spec", "ticket", "--logs", out, "--out", judged)
    wanted = {(v["scenario"], v["run"]): v["milestones"] for _, v in read_jsonl(verdicts)}
    found = {(v["scenario"], v["run"]): v["milestones"] for _, v in read_jsonl(judged)}
    assert found == wanted


def test_the_readers_columns_are_declared_on_the_command_line(tmp_path: Path) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "flat.jsonl"
    log.write_text("ts,who,op,session\n1,ann,read,s1\n2,ann,write,s2\n", encoding="utf-8")
    reader = "operations?time=ts&actor=who&operation=op&run=session"
    run("reach", "export", "--logs", log, "--reader", reader, "--format", "flat", "--out", out)
    assert [(row["run"], row["tool"]) for _, row in read_jsonl(out)] == [("s1", "read"), ("s2", "write")]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--format", "events"), "--verdicts: must be given with --format events"),
        (("--format", "trajectory", "--verdicts", "v.jsonl"), "--verdicts: has no place"),
        (("--format", "trajectory", "--spec", "ticket"), "--spec: is for --format flat"),
        (("--format", "flat", "--verdicts", "nowhere.jsonl"), "nowhere.jsonl: file must exist"),
        (("--format", "flat", "--reader", "nothing"), "--reader: must be one of"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(
    logs: Path, options: tuple[str, ...], complaint: str
) -> None:
    out = logs.with_name("out.jsonl")
    with pytest.raises(PrmError, match=complaint):
        run("reach", "export", "--logs", logs, "--out", out, *options)
    assert not out.exists()


def test_verdicts_of_other_logs_are_refused_and_nothing_is_written(logs: Path, verdicts: Path) -> None:
    other, out = logs.with_name("other.jsonl"), logs.with_name("out.jsonl")
    write_jsonl(other, map(dump_trajectory, generate_runs(4, seed=99)))
    with pytest.raises(PrmError, match="verdicts: each must be on a run of the logs"):
        run("reach", "export", "--logs", other, "--verdicts", verdicts, "--format", "flat", "--out", out)
    assert not out.exists()
