"""The recipe that tables airline verdicts against reward: its README tells the truth, its numbers are right."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from prm.reach.judging.verdict import RunVerdict
from prm.reach.judging.verdict_json import read_verdicts
from tests.conftest import ROOT
from tests.reach.metrics.hand_verdicts import verdict

RECIPE = ROOT / "recipes" / "reach-airline"


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    return runpy.run_path(str(RECIPE / "run.py"), run_name="reach_airline")


def hand(word: str, task: str, success: bool) -> RunVerdict:
    return verdict(word, scenario=task, final_success=success)


def test_a_row_compares_the_runs_of_which_it_is_said_with_the_others(recipe: dict[str, Any]) -> None:
    runs = [
        hand("rr", "a", True),
        hand("rr", "a", False),
        hand("rt", "b", False),
        hand("r?", "b", True),
        hand("r-", "b", True),
    ]
    rows = {row.says: row for row in recipe["rows_of"](runs, 0, 0)}
    second = rows["reach M2"]
    assert (second.runs, second.success, second.others, second.other_success) == (2, 0.5, 1, 0.0)
    assert (second.difference, second.ci95) == (0.5, None)
    assert rows["reach M1"].difference is None
    covered = rows["are covered (and hit no minefield)"]
    assert (covered.runs, covered.others) == (3, 1)


def test_intervals_resample_whole_tasks(recipe: dict[str, Any]) -> None:
    runs = [hand("r", f"t{n}", n % 4 != 0) for n in range(40)] + [hand("t", f"t{n}", False) for n in range(40)]
    (row,) = [row for row in recipe["rows_of"](runs, 200, 1) if row.says == "reach M1"]
    low, high = row.ci95
    assert low < row.difference == 0.75 < high
    assert 0.55 < low < high < 0.95


def test_the_readme_holds_the_rows_of_the_real_runs(
    recipe: dict[str, Any], shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = shared_data / "tau_bench" / "gpt-4o-airline.json"
    if not logs.is_file():
        pytest.skip("the tau-bench runs are not here")
    assert recipe["main"](["--logs", str(logs), "--out", str(tmp_path)]) == 0
    assert "are covered" in capsys.readouterr().out
    assert len(list(read_verdicts(tmp_path / "verdicts.jsonl"))) == 200
    readme = (RECIPE / "README.md").read_text(encoding="utf-8")
    for line in (tmp_path / "table.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(("| reach", "| hit", "| are covered")):
            assert line in readme


def test_wrong_input_is_one_line_and_exit_code_2(
    recipe: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "gpt-4o-airline.json"
    empty.write_text("[]")
    assert recipe["main"](["--logs", str(empty), "--out", str(tmp_path / "out")]) == 2
    assert recipe["main"](["--logs", str(tmp_path / "none.json"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "must hold at least one record" in said[0]
    assert "file must exist" in said[1]
    assert not (tmp_path / "out").exists()
