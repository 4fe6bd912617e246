"""What the terminal shows of stability, reports and comparisons."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.comparison_table import comparison_tables
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.outcome_stability import stability_of_verdicts
from prm.reach.metrics.report import build_report, compare_sets
from prm.reach.metrics.report_table import MAX_ARMS, report_tables
from prm.reach.metrics.stability_table import stability_tables
from tests.reach.metrics.hand_verdicts import fabricated, verdict

SETTINGS = Settings(15, 50, 0)


def shown(tables: Any) -> str:
    console = Console(width=100, record=True, highlight=False)
    with console.capture() as capture:
        console.print(tables)
    text = capture.get()
    assert max(map(len, text.splitlines())) <= 100
    return text


def runs(word: str, **changes: Any) -> list[RunVerdict]:
    return [verdict(word, f"{name}-1", run, **changes) for name in "abcdef" for run in range(3)]


def test_a_report_shows_its_findings_then_its_numbers() -> None:
    text = shown(report_tables(build_report(runs("rrt", diagnoses=(fabricated(batch=4),)), SETTINGS)))
    assert text.index("bottleneck M3") < text.index("Agents × variants") < text.index("Milestones: agent / plain")
    assert "Reach@15" in text
    assert "66.7 [66.7, 66.7]" in text


def test_only_the_first_milestone_tables_are_shown_and_the_rest_is_said() -> None:
    many = [v for number in range(MAX_ARMS + 2) for v in runs("r", agent=f"agent{number}")]
    text = shown(report_tables(build_report(many, Settings(15, 0, 0))))
    assert text.count("Milestones:") == MAX_ARMS
    assert "of 2 more agents × variants" in text


def test_what_is_unknown_is_said_under_the_report() -> None:
    assert "all_reached in 18" in shown(report_tables(build_report(runs("r?"), SETTINGS)))


def test_a_comparison_shows_what_moved_and_the_numbers() -> None:
    text = shown(comparison_tables(compare_sets(runs("rt"), runs("rr", variant="structured"), SETTINGS)))
    assert "agent / structured against agent / plain" in text
    assert "M2 reached" in text
    assert "0.031" in text


def test_milestones_that_did_not_move_are_left_out_of_a_comparison() -> None:
    text = shown(comparison_tables(compare_sets(runs("rt"), runs("rr", variant="structured"), SETTINGS)))
    assert "M1 reached" not in text
    assert "M2 touched" not in text
    assert "without any difference are left out" in text


def test_every_column_of_a_report_is_explained() -> None:
    text = shown(report_tables(build_report(runs("rt"), SETTINGS)))
    for word in ("all:", "covered:", "legal:", "success:", "gap:", "given prereq.:", "call:", "all of k:"):
        assert word in text


def test_stability_shows_each_outcome_and_milestone() -> None:
    text = shown(stability_tables(stability_of_verdicts(runs("rt"), SETTINGS, "v")))
    assert "flip rate" in text
    assert "M2" in text


def test_without_repeats_the_reader_is_told_that_nothing_can_be_said() -> None:
    text = shown(stability_tables(stability_of_verdicts([verdict("r")], SETTINGS, "v")))
    assert text.count("no scenario was run twice") == 1
    assert "flip rate" not in text


def test_names_from_a_log_cannot_command_the_terminal() -> None:
    hostile = "[red]\x1b[2Jagent\n" + "x" * 500
    verdicts = runs("rt", agent=hostile)
    for tables in (
        report_tables(build_report(verdicts, SETTINGS)),
        stability_tables(stability_of_verdicts(verdicts, SETTINGS, "v")),
        comparison_tables(compare_sets(verdicts, verdicts, SETTINGS)),
    ):
        text = shown(tables)
        assert "\x1b[2J" not in text
        assert "[red]" in text
