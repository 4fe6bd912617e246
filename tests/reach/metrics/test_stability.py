from __future__ import annotations

import numpy as np
import pytest

from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.node_values import Stability
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.stability import MAX_K, stability
from prm.reach.metrics.verdict_arrays import group_runs

NAN = float("nan")


def stability_of(**runs: list[float]) -> Stability:
    names = [name for name, values in runs.items() for _ in values]
    means = ScenarioMeans(group_runs(names, names), Settings(15, 200, 0))
    return stability(np.array([value for values in runs.values() for value in values]), means)()


def test_three_scenarios_of_three_runs_by_hand() -> None:
    found = stability_of(never=[0, 0, 0], mostly=[1, 0, 1], always=[1, 1, 1])
    assert [point.all_of.value for point in found.curve] == pytest.approx([5 / 9, 4 / 9, 1 / 3])
    assert [point.any_of.value for point in found.curve] == pytest.approx([5 / 9, 2 / 3, 2 / 3])
    assert found.flip_rate.value == pytest.approx(2 / 9)
    assert found.abilities == {"bottleneck": 1, "undetermined": 0, "unstable": 1, "stable": 1}


def test_unequal_repeats_leave_a_scenario_out_of_the_k_it_has_not() -> None:
    found = stability_of(twice=[1, 1], thrice=[1, 0, 0])
    assert found.repeats == {2: 1, 3: 1}
    third = found.curve[2].all_of
    assert (third.value, third.scenarios, third.runs, third.left_out) == (0.0, 1, 3, 2)
    assert found.curve[1].all_of.value == pytest.approx((1 + 0) / 2)


def test_runs_that_cannot_be_scored_are_no_repeats() -> None:
    found = stability_of(a=[1, NAN, 1], b=[NAN, NAN, NAN])
    assert found.repeats == {2: 1}
    assert found.curve[-1].k == 2
    assert found.abilities["stable"] == 1


def test_a_single_run_is_counted_and_says_nothing() -> None:
    found = stability_of(a=[1], b=[0])
    assert (found.single, sum(found.abilities.values())) == (2, 0)
    assert found.flip_rate.value is None
    assert found.flip_rate.undefined is not None


def test_without_any_scorable_run_everything_is_undefined() -> None:
    found = stability_of(a=[NAN, NAN])
    assert (found.repeats, found.curve[0].all_of.value) == ({}, None)


def test_the_curve_stays_short_however_often_a_scenario_was_run() -> None:
    assert len(stability_of(a=[1.0] * 500).curve) == MAX_K
