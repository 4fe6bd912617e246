from __future__ import annotations

import numpy as np
import pytest

from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.first_reach import first_reach, weighted_quantile
from prm.reach.metrics.node_values import FirstReach
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import group_runs

INF, NAN = float("inf"), float("nan")


def first_reach_of(scenarios: list[str], calls: list[float], cap: int = 10, longest: int = 5) -> FirstReach:
    means = ScenarioMeans(group_runs(scenarios, scenarios), Settings(cap, 0, 0))
    return first_reach(np.array(calls), longest, cap, means)()


def test_a_run_that_never_reaches_it_counts_as_the_cap_and_not_as_nothing() -> None:
    found = first_reach_of(["a", "b"], [2, INF])
    assert found.restricted_mean.value == 6.0
    assert found.quartiles == (2.0, 2.0, 2.0)


def test_a_reach_after_the_cap_counts_as_the_cap() -> None:
    assert first_reach_of(["a"], [40]).restricted_mean.value == 10.0


def test_the_restricted_mean_is_over_scenarios() -> None:
    assert first_reach_of(["a", "b", "b", "b"], [2, 4, 4, 4]).restricted_mean.value == 3.0


def test_every_scenario_weighs_the_same_in_the_quartiles() -> None:
    found = first_reach_of(["a", "b", "b", "b", "b", "b"], [1, 5, 5, 5, 5, 5])
    assert found.quartiles == (1.0, 3.0, 5.0)


def test_the_curve_ends_at_the_share_that_ever_reaches_it() -> None:
    assert first_reach_of(["a", "b"], [2, INF], longest=3).curve == pytest.approx((0, 0.5, 0.5))


def test_without_scorable_runs_there_is_nothing() -> None:
    found = first_reach_of(["a"], [NAN], longest=2)
    assert (found.quartiles, found.restricted_mean.value, found.curve) == (None, None, (None, None))


def test_quantiles_of_equal_weights_are_the_usual_ones() -> None:
    values, shares = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.25, 0.5, 0.75, 1.0])
    assert [weighted_quantile(values, shares, q) for q in (0.25, 0.5, 0.75)] == [1.5, 2.5, 3.5]
    assert weighted_quantile(np.array([7.0]), np.array([1.0]), 0.5) == 7.0
