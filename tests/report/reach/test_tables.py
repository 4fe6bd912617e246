"""The tables: one row each, values as measured, nothing repeated and nothing endless."""

from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.verdict import Diagnosis, MissingInformation
from prm.report.elements import Cell, Estimate, Table
from prm.report.reach import tables
from prm.report.reach.causes_table import causes_table
from tests.report.reach.examples import drawn, repeated, report_of


def column(table: Table | None, title: str) -> list[Cell]:
    assert table is not None
    place = [one.title for one in table.columns].index(title)
    return [row[place] for row in table.rows]


def value(cell: Cell) -> Any:
    return cell.value if isinstance(cell, Estimate) else cell


def two_agents() -> list[Any]:
    return [*repeated("rrrrr", "rrtrr"), *repeated("rrrrr", "rrrrr", agent="better")]


def test_arms_stand_best_first_with_their_shares() -> None:
    table = tables.arms_table(report_of(two_agents()))
    assert column(table, "agent / variant") == ["better / plain", "careful / plain"]
    assert [value(cell) for cell in column(table, "Reach@15")] == pytest.approx([1.0, 0.9])
    assert [value(cell) for cell in column(table, "covered")] == [1.0, 0.5]
    assert column(table, "runs") == [2, 2]


def test_an_interval_is_carried_where_there_is_one() -> None:
    found = column(tables.arms_table(report_of(two_agents())), "covered")[1]
    assert isinstance(found, Estimate)
    assert found.low is not None
    assert found.low <= 0.5 <= (found.high or 0.0)


def test_milestones_are_compared_by_agent_only_where_there_are_several() -> None:
    table = tables.milestones_table(report_of(two_agents()))
    assert [value(cell) for cell in column(table, "M3")] == [1.0, 0.5]
    assert tables.milestones_table(report_of(repeated("rrrrr"))) is None


def test_every_milestone_tells_its_gap_its_ends_and_its_causes() -> None:
    table = tables.nodes_table(report_of(repeated("rrrrr", "rrtmm")))
    assert [value(cell) for cell in column(table, "gap")] == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert column(table, "end here") == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert set(column(table, "found in misses")) == {"–"}
    assert "n/a" not in [one.title for one in (table.columns if table else ())]


def test_runs_that_cannot_be_scored_get_a_column() -> None:
    table = tables.nodes_table(report_of(repeated("rr-rr", "r?rrr")))
    assert column(table, "n/a") == [0, 0, 1, 0, 0]
    assert column(table, "unscorable") == [0, 1, 0, 0, 0]


def test_coverage_over_repeats() -> None:
    table = tables.stability_table(report_of(repeated("rrrrr rrrrr", "rrtrr rrrrr")))
    shown = {title: value(column(table, title)[0]) for title in ("all of 1", "all of 2", "any of 2", "flip rate")}
    assert shown == {"all of 1": 0.75, "all of 2": 0.5, "any of 2": 1.0, "flip rate": 0.5}
    assert tables.stability_table(report_of(repeated("rrrrr", "rrtrr"))) is None


def test_what_agents_do_about_missing_information() -> None:
    gaps: Any = [(MissingInformation("no_sku", "asks"),), (MissingInformation("no_sku", "invents"),)]
    verdicts = [
        one for k, gap in enumerate(gaps) for one in repeated(*["rrrrr"] * (k + 1), missing_information=gap)[k:]
    ]
    table = tables.missing_information_table(report_of(verdicts))
    assert column(table, "missing") == ["anything", "no_sku"]
    assert [value(cell) for cell in column(table, "invents")] == [0.5, 0.5]
    assert tables.missing_information_table(report_of(repeated("rrrrr"))) is None


def test_only_minefields_that_were_hit_are_listed() -> None:
    hit = repeated("rrrrr", minefields={"a": True, "b": False})
    assert column(tables.minefields_table(report_of(hit)), "minefield") == ["a"]
    assert tables.minefields_table(report_of(repeated("rrrrr", minefields={"a": False}))) is None


def test_differences_stand_surest_first() -> None:
    verdicts, _ = drawn(40)
    table = tables.comparisons_table(report_of(verdicts))
    known = [cell for cell in column(table, "p (Holm)") if cell is not None]
    assert known == sorted(known)
    assert tables.comparisons_table(report_of(repeated("rrrrr"))) is None


def test_diagnoses_are_counted_by_subject_and_not_twice() -> None:
    made = (Diagnosis("fabrication", 2, "c0", "sku"), Diagnosis("fabrication", 4, "c1", "sku"), Diagnosis("loop", 6))
    table = causes_table(report_of(repeated("rrtrr", "rrtrr", diagnoses=made)))
    assert column(table, "found") == ["an invented SKU", "the same call again and again"]
    assert column(table, "runs") == [2, 2]
    assert column(table, "times") == [4, 2]
    assert value(column(table, "share")[0]) == 1.0


def test_with_a_few_agents_each_has_its_share_of_a_diagnosis() -> None:
    verdicts = [*repeated("rrtrr", diagnoses=(Diagnosis("loop", 6, None, "t"),)), *repeated("rrrrr", agent="better")]
    table = causes_table(report_of(verdicts))
    assert value(column(table, "careful / plain")[0]) == 1.0
    assert value(column(table, "better / plain")[0]) == 0.0


def test_a_long_table_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    table = tables.nodes_table(report_of(repeated("rrrrr")))
    assert table is not None
    assert len(table.rows) == 2
    assert table.note == "3 further rows are in reach.json."
