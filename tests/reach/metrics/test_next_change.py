from __future__ import annotations

import pytest

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.comparison_values import NextChange
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.next_change import dependents, lost_share, next_change
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import fabricated, verdict


def change(*verdicts: RunVerdict) -> NextChange | None:
    arrays = encode_verdicts(verdicts)
    return next_change(arrays, ScenarioMeans(arrays.grouping, Settings(15, 100, 0)))


def test_what_hangs_on_a_milestone_follows_the_chain() -> None:
    arrays = encode_verdicts([verdict("rrrrr")])
    assert dependents(arrays, "M3") == ("M4", "M5")
    assert dependents(arrays, "M1") == ("M2", "M3", "M4", "M5")
    assert dependents(arrays, "M5") == ()


def test_a_break_costs_the_milestone_and_the_open_ones_behind_it() -> None:
    arrays = encode_verdicts(
        [verdict("rrtmm"), verdict("rrtrr", run=1), verdict("rr-rm", run=2), verdict("mmmmm", run=3)]
    )
    assert lost_share(arrays, "M3")[:2] == pytest.approx([3 / 5, 1 / 5])
    assert lost_share(arrays, "M5")[2] == pytest.approx(1 / 4)
    assert lost_share(arrays, "M1")[3] == 1.0
    assert lost_share(arrays, "M3")[3] == 0.0


def test_the_dearest_milestone_is_named_not_the_one_missed_most_often() -> None:
    # M5 is open in four runs and M3 in two; but where M3 breaks, M4 and M5 go with it.
    runs = [verdict("rrtmm", "a"), verdict("rrtmm", "b"), verdict("rrrrt", "c"), verdict("rrrrt", "d")]
    found = change(*runs)
    assert found is not None
    assert (found.milestone, found.step, found.step_share) == ("M3", "use", 1.0)
    assert found.lost.value == pytest.approx(2 / 4 * 3 / 5)


def test_a_tool_that_is_mostly_not_called_is_worked_on_at_its_call() -> None:
    found = change(verdict("rmr", "a"), verdict("rmr", "b"), verdict("rtr", "c"))
    assert found is not None
    assert (found.milestone, found.step, found.step_share) == ("M2", "call", pytest.approx(2 / 3))
    assert "not called in 67 %" in found.words


def test_the_words_name_the_most_frequent_cause() -> None:
    found = change(verdict("rrt", "a", diagnoses=(fabricated(batch=4),)), verdict("rrt", "b"))
    assert found is not None
    assert found.cause is not None
    assert "50 % of its misses are an invented SKU" in found.words


def test_where_nothing_is_lost_there_is_nothing_to_change() -> None:
    assert change(verdict("rrrrr")) is None
    assert change(verdict("-----")) is None


def test_milestones_that_come_after_each_other_in_a_circle_end() -> None:
    from dataclasses import replace

    one = verdict("mm")
    circle = replace(one, milestones=(replace(one.milestones[0], after=("M2",)), one.milestones[1]))
    assert dependents(encode_verdicts([circle]), "M1") == ("M2",)
