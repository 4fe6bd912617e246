from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.errors import ConfigError, PrmError, RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.judging.verdict_json import read_verdicts
from tests.reach.judging.hand_runs import shop


def invoke(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["reach", *map(str, arguments)], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    write_jsonl(path, map(dump_trajectory, generate_runs(12, seed=8)))
    return path


def test_one_verdict_a_run_in_the_order_of_the_logs(logs: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    write_jsonl(more, map(dump_trajectory, generate_runs(3, seed=9)))
    out = tmp_path / "v" / "verdicts.jsonl"
    code, shown = invoke("judge", "--spec", "ticket", "--logs", logs, more, "--out", out)
    assert code == 0
    keys = [
        json.loads(line)["query_index"] for line in [*logs.read_text().splitlines(), *more.read_text().splitlines()]
    ]
    assert [verdict.identity.query_index for verdict in read_verdicts(out)] == keys
    assert "15 runs" in shown
    assert "M3" in shown
    assert "diagnoses (runs):" in shown


def test_a_bad_record_leaves_no_half_written_file(logs: Path, tmp_path: Path) -> None:
    logs.write_text(logs.read_text() + "{broken\n")
    out = tmp_path / "verdicts.jsonl"
    with pytest.raises(RecordError, match=r"runs\.jsonl:13"):
        invoke("judge", "--spec", "ticket", "--logs", logs, "--out", out)
    assert not out.exists()
    assert not list(tmp_path.glob(".*partial"))


def test_the_logs_are_not_written_over(logs: Path) -> None:
    with pytest.raises(ConfigError, match="must not replace what is read"):
        invoke("judge", "--spec", "ticket", "--logs", logs, "--out", logs)


def test_the_spec_is_not_written_over(logs: Path, tmp_path: Path) -> None:
    spec = tmp_path / "shop.yaml"
    spec.write_text(yaml.safe_dump(shop().model_dump(mode="json", by_alias=True, exclude_unset=True)))
    with pytest.raises(ConfigError, match="must not replace what is read"):
        invoke("judge", "--spec", spec, "--logs", logs, "--out", spec)


def test_a_log_that_is_named_twice_would_count_twice(logs: Path, tmp_path: Path) -> None:
    again = logs.parent / "." / logs.name
    with pytest.raises(ConfigError, match="--logs: must name each file once"):
        invoke("judge", "--spec", "ticket", "--logs", logs, again, "--out", tmp_path / "v.jsonl")


@pytest.mark.parametrize(("spec", "message"), [("hotel", "must be a file or one of"), ("hotel.yaml", "must exist")])
def test_a_spec_that_is_not_there_is_refused(logs: Path, tmp_path: Path, spec: str, message: str) -> None:
    with pytest.raises(PrmError, match=message):
        invoke("judge", "--spec", spec, "--logs", logs, "--out", tmp_path / "v.jsonl")


def test_a_spec_for_other_logs_is_told(logs: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(yaml.safe_dump(shop().model_dump(mode="json", by_alias=True, exclude_unset=True)))
    _, shown = invoke("judge", "--spec", path, "--logs", logs, "--out", tmp_path / "v.jsonl")
    assert "is this the right spec?" in shown


def test_titles_are_shown_as_they_are(logs: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    titled = shop(
        title="Shop [/b]", milestones={"found": {"title": "[red]", "source": {"tool": "find"}, "used": "final"}}
    )
    path.write_text(yaml.safe_dump(titled.model_dump(mode="json", by_alias=True, exclude_unset=True)))
    _, shown = invoke("judge", "--spec", path, "--logs", logs, "--out", tmp_path / "v.jsonl")
    assert "by Shop [/b]" in shown
    assert "found  [red]" in shown


def test_check_spec_accepts_what_ships() -> None:
    code, shown = invoke("check-spec", "ticket")
    assert code == 0
    assert "every milestone can be reached, none is vacuous" in shown


def test_check_spec_names_what_is_wrong_and_exits_with_2(tmp_path: Path) -> None:
    content = shop(logs="logs.yaml", milestones={"found": {"source": {"tool": "find"}, "used": "final"}})
    (tmp_path / "shop.yaml").write_text(
        yaml.safe_dump(content.model_dump(mode="json", by_alias=True, exclude_unset=True))
    )
    (tmp_path / "logs.yaml").write_text("logs: {one: {legal: true, messages: [{user: hello}, {say: done}]}}")
    code, shown = invoke("check-spec", tmp_path / "shop.yaml")
    assert code == 2
    assert "log one: it is legal, but not covered" in shown
    assert "milestone found is unreachable" in shown


def test_a_spec_without_logs_cannot_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(yaml.safe_dump(shop().model_dump(mode="json", by_alias=True, exclude_unset=True)))
    with pytest.raises(ConfigError, match="must have logs of its own"):
        invoke("check-spec", path)
