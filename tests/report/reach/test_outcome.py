"""Where a run's chain breaks, and the names of runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from prm.report.reach.outcome import COVERED, MINEFIELD, UNKNOWN, broken_at, log_key, run_names
from prm.types import RunIdentity
from tests.report.reach.examples import CHAIN, drawn, milestone, verdict


@pytest.mark.parametrize(
    ("letters", "broken"),
    [
        ("rrrrr", COVERED),
        ("rr-rr", COVERED),
        ("tttmm", "M1"),
        ("rrtrr", "M3"),  # the run went on all the same
        ("rtrtr", "M2"),
        ("rttmm", "M2"),  # of two, the first of the spec
        ("rr-tm", "M4"),
        ("rr?mm", UNKNOWN),  # whether it got as far as M4 is not known
        ("?rrrr", UNKNOWN),
        ("rrrrm", "M5"),
    ],
)
def test_a_chain_breaks_at_the_first_open_milestone_that_was_prepared(letters: str, broken: str) -> None:
    assert broken_at(verdict(letters)) == broken


def test_a_minefield_is_named_where_nothing_is_open() -> None:
    hit = {"minefields": {"ship_when_out_of_stock": True, "foreign": None}}
    assert broken_at(verdict("rrrrr", **hit)) == MINEFIELD
    assert broken_at(verdict("rrtrr", **hit)) == "M3"
    assert broken_at(verdict("rrrrr", minefields={"foreign": None})) == COVERED


def test_an_optional_milestone_breaks_nothing() -> None:
    found = verdict("rrrrr")
    stands = [milestone("M2", "m", 1, CHAIN["M2"], required=False) if m.name == "M2" else m for m in found.milestones]
    more: dict[str, Any] = {"milestones": tuple(stands)}
    assert broken_at(verdict("rrrrr", **more)) == COVERED


def test_no_two_runs_have_the_same_name() -> None:
    same = [
        verdict("rrrrr", identity=RunIdentity("d", "a:b", 1)),
        verdict("rrrrr", identity=RunIdentity("d", "a", "b:1")),
    ]
    named = verdict("rrrrr", identity=RunIdentity(id="x"))
    assert run_names([*same, named]) == ["d:a:b:1", "d:a:b:1 (2)", "x"]


def test_a_runs_log_is_told_from_that_of_the_same_run_under_another_variant() -> None:
    verdicts, runs = drawn(1)
    other = replace(runs[0], variant="structured")
    assert log_key(runs[0]) == log_key(verdicts[0])
    assert log_key(other) != log_key(verdicts[0])
