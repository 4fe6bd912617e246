"""The evaluation report: from metrics, gold and predictions to a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from prm.evaluation.metrics_file import evaluate
from prm.report.write import write_report
from prm.types import Prediction, Trajectory
from tests.report.pages import run, said, unpacked


def measured() -> tuple[dict[str, Any], list[Trajectory], dict[str, list[Prediction]]]:
    """Four runs; judge `b` labels every step right, judge `a` half of them, judge `c` failed everywhere."""
    gold = [run(sample, {2: 1, 4: -1 if sample % 2 else 1}, -1 if sample % 2 else 1) for sample in range(4)]
    judges = {
        "a": [said(g, {2: 1, 4: 0}, 1) for g in gold],
        "b": [said(g, dict(g.step_labels), g.final_label) for g in gold],
        "c": [said(g, {}, status="failed", reason="cut off") for g in gold],
    }
    return evaluate(gold, judges, bootstrap=20), gold, judges


def test_the_report_is_written_and_names_every_file_beside_it(tmp_path: Path) -> None:
    written = write_report(tmp_path, *measured())
    assert written[0] == tmp_path / "report.html"
    assert all(path.is_file() and path.stat().st_size for path in written)
    html = written[0].read_text(encoding="utf-8")
    linked = re.findall(r'<a href="((?:plots|tables)/[^"]+)"', html)
    assert sorted(linked) == sorted(path.relative_to(tmp_path).as_posix() for path in written[1:])
    assert any(path.suffix == ".svg" for path in written)
    assert any(path.suffix == ".csv" for path in written)
    assert "3 judges · 4 runs · 8 labelled steps" in html


def test_the_browser_shows_the_best_judge_first(tmp_path: Path) -> None:
    html = write_report(tmp_path, *measured())[0].read_text(encoding="utf-8")
    packed = re.search(r'id="runs-index">"([^"]+)"<', html)
    assert packed is not None
    assert unpacked(packed[1])["judges"] == ["b", "a", "c"]


def test_gold_without_judges_or_errors_makes_a_report(tmp_path: Path) -> None:
    gold = [run(0, {2: 1, 4: None}, None)]
    assert write_report(tmp_path, evaluate(gold, {}, bootstrap=0), gold, {})[0].is_file()


def test_two_reports_of_the_same_data_are_the_same(tmp_path: Path) -> None:
    first = write_report(tmp_path / "first", *measured())
    second = write_report(tmp_path / "second", *measured())
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
