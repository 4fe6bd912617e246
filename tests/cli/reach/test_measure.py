from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest
import typer
from typer.testing import CliRunner

from prm.cli.reach import register
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.data.schema import read_schema
from prm.errors import ConfigError, InputError, MissingFileError, RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.judging.verdict import RunVerdict
from prm.reach.judging.verdict_json import dump_verdict
from tests.reach.metrics.hand_verdicts import fabricated, verdict

APP = typer.Typer()
register(APP)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(APP, ["reach", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def written(path: Path, verdicts: Sequence[RunVerdict]) -> Path:
    write_jsonl(path, map(dump_verdict, verdicts))
    return path


def verdicts_of(word: str, variant: str = "plain") -> list[RunVerdict]:
    return [
        verdict(word, f"{name}-1", repeat, variant=variant, diagnoses=(fabricated(batch=4),))
        for name in "abcdefgh"
        for repeat in range(3)
    ]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return written(tmp_path / "old.jsonl", verdicts_of("rrtmm"))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return written(tmp_path / "new.jsonl", verdicts_of("rrrrr", "structured"))


def test_stability_of_the_shipped_airline_runs(shared_data: Path) -> None:
    source = shared_data / "tau_bench" / "gpt-4o-airline.json"
    (arm,) = json.loads(run("stability", source, "--json"))["arms"]
    told = [round(point["all_of"]["value"], 3) for point in arm["outcomes"]["outcome"]["curve"]]
    assert told == [0.420, 0.273, 0.220, 0.200]
    assert "42.0" in run("stability", source)


def test_stability_of_generated_trajectories(tmp_path: Path) -> None:
    runs = [dump_trajectory(t) for t in generate_runs(12, 0, agents=["looper"])]
    write_jsonl(tmp_path / "runs.jsonl", runs)
    found = json.loads(run("stability", tmp_path / "runs.jsonl", "--json"))
    jsonschema.validate(found, json.loads(read_schema("reach-stability")))
    assert found["arms"][0]["arm"] == {"agent": "looper", "variant": "plain"}
    assert found["arms"][0]["outcomes"]["outcome"]["repeats"] == {"4": 3}


def test_stability_of_verdicts_has_every_milestone(old: Path) -> None:
    (arm,) = json.loads(run("stability", old, "--json"))["arms"]
    assert arm["milestones"]["M3"]["abilities"]["bottleneck"] == 8
    assert "bottleneck" in run("stability", old)


def test_stability_does_not_mix_verdicts_and_trajectories(old: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "runs.jsonl", [dump_trajectory(t) for t in generate_runs(2, 0)])
    with pytest.raises(InputError, match=r"runs\.jsonl: must hold verdicts like the other files"):
        run("stability", old, tmp_path / "runs.jsonl")


def test_a_report_is_written_and_its_findings_are_shown(old: Path, tmp_path: Path) -> None:
    output = run("report", old, "--out", tmp_path / "out", "--no-page", "--bootstrap", "50")
    assert "bottleneck M3: touched 100 %, reached 0 %; 100 % of misses are an invented SKU" in output
    content = json.loads((tmp_path / "out" / "reach.json").read_text())
    jsonschema.validate(content, json.loads(read_schema("reach-report")))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["reach.json"]


def test_a_report_of_several_files_compares_them(old: Path, new: Path, tmp_path: Path) -> None:
    output = run("report", old, new, "--out", tmp_path, "--no-page", "--bootstrap", "50", "--json")
    (comparison,) = json.loads(output)["comparisons"]
    assert comparison["metrics"]["reach"]["verdict"] == "better"


def test_the_page_is_written_beside_the_numbers(old: Path, tmp_path: Path) -> None:
    output = run("report", old, "--out", tmp_path / "out", "--bootstrap", "50")
    assert "report.html" in output
    assert (tmp_path / "out" / "report.html").stat().st_size > 1_000


def test_logs_that_are_not_there_stop_before_anything_is_written(old: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        run("report", old, "--out", tmp_path / "out", "--logs", tmp_path / "none.jsonl")
    assert not (tmp_path / "out").exists()


def test_compare_names_what_moved_and_what_to_do(old: Path, new: Path, tmp_path: Path) -> None:
    output = run("compare", old, new, "--out", tmp_path / "compared.json")
    assert "agent / structured against agent / plain" in output
    assert "less often: M3 (100 % → 0 % of runs)" in output
    content = json.loads((tmp_path / "compared.json").read_text())
    jsonschema.validate(content, json.loads(read_schema("reach-comparison")))
    assert json.loads(run("compare", old, new, "--json")) == content


def test_compare_the_other_way_round_says_what_to_work_on(old: Path, new: Path) -> None:
    assert "work on M3 next: 60 % of all milestones are lost there" in " ".join(run("compare", new, old).split())


def test_scenarios_on_one_side_only_are_counted_and_named(old: Path, tmp_path: Path) -> None:
    fewer = written(tmp_path / "fewer.jsonl", [v for v in verdicts_of("rrrrr") if v.scenario != "c-1"])
    output = " ".join(run("compare", old, fewer).split())
    assert "not compared, only on the old side: 1 scenario (c-1)" in output


def test_nothing_in_common_is_one_clear_line(old: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other.jsonl", [verdict("r", "z-9")])
    with pytest.raises(InputError, match="OLD and NEW: must share scenarios"):
        run("compare", old, other)


def test_compare_does_not_write_over_what_it_reads(old: Path, new: Path) -> None:
    with pytest.raises(ConfigError, match="must not replace what is read"):
        run("compare", old, new, "--out", old)


def test_a_file_that_holds_no_verdicts_is_named(old: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(old.read_text().splitlines()[0] + '\n{"schema": "prm.reach.verdict/1"')
    with pytest.raises(RecordError, match=r"broken\.jsonl:2"):
        run("report", broken, "--out", tmp_path / "out")
    broken.write_text("\n")
    with pytest.raises(InputError, match="at least one verdict"):
        run("compare", old, broken)


@pytest.mark.parametrize("option", [("--cap", 0), ("--bootstrap", 3), ("--seed", -1)])
def test_an_option_out_of_range_is_refused_before_anything_is_read(option: tuple[str, int], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=option[0]):
        run("report", tmp_path / "none.jsonl", "--out", tmp_path, *option)


def test_stability_of_a_flat_log_is_that_of_its_trajectories(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    write_jsonl(runs, map(dump_trajectory, generate_runs(16, seed=8, agents=["looper"])))
    run("export", "--logs", runs, "--format", "flat", "--out", tmp_path / "flat.jsonl")
    told = [json.loads(run("stability", file, "--json"))["arms"] for file in (runs, tmp_path / "flat.jsonl")]
    assert told[0][0]["outcomes"] == told[1][0]["outcomes"]


def test_logs_of_other_runs_stop_before_anything_is_written(old: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs.jsonl"
    write_jsonl(logs, map(dump_trajectory, generate_runs(2, seed=8)))
    with pytest.raises(InputError, match="--logs: must hold the runs that were judged, got 'none of them'"):
        run("report", old, "--out", tmp_path / "out", "--logs", logs)
    assert not (tmp_path / "out").exists()
