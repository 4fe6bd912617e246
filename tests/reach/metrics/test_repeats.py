from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.reach.metrics.repeats import ability, all_of, any_of, flip_rate


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_two_of_three_runs_that_succeed_by_hand() -> None:
    assert all_of(column(2), column(3), 3).ravel() == pytest.approx([2 / 3, 1 / 3, 0])
    assert any_of(column(2), column(3), 3).ravel() == pytest.approx([2 / 3, 1, 1])
    assert flip_rate(column(2), column(3)) == pytest.approx([2 / 3])


def test_more_runs_than_a_scenario_has_are_undefined_and_not_one() -> None:
    everything = all_of(column(2, 4), column(2, 4), 4)
    assert np.isnan(everything[2, 0])
    assert everything[3, 1] == 1.0
    assert np.isnan(any_of(column(2), column(2), 3)[2, 0])


def test_a_scenario_without_scorable_runs_is_undefined() -> None:
    assert np.isnan(all_of(column(0), column(0), 1)).all()
    assert np.isnan(flip_rate(column(0, 1), column(0, 1))).all()


@given(st.integers(1, 30).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_the_products_are_the_binomial_quotients(counts: tuple[int, int]) -> None:
    successes, runs = counts
    every, some = (of(column(successes), column(runs), runs).ravel() for of in (all_of, any_of))
    for k in range(1, runs + 1):
        assert every[k - 1] == pytest.approx(math.comb(successes, k) / math.comb(runs, k))
        assert some[k - 1] == pytest.approx(1 - math.comb(runs - successes, k) / math.comb(runs, k))


@given(st.integers(2, 30).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_the_flip_rate_is_any_of_two_less_all_of_two(counts: tuple[int, int]) -> None:
    successes, runs = column(counts[0]), column(counts[1])
    gap = any_of(successes, runs, 2)[1] - all_of(successes, runs, 2)[1]
    assert flip_rate(successes, runs) == pytest.approx(gap)


def test_of_three_runs_none_to_three_are_bottleneck_undetermined_unstable_stable() -> None:
    assert [ability(c, 3) for c in range(4)] == ["bottleneck", "undetermined", "unstable", "stable"]


def test_with_other_numbers_of_runs_more_than_half_are_able() -> None:
    assert [ability(c, 2) for c in range(3)] == ["bottleneck", "undetermined", "stable"]
    assert [ability(c, 4) for c in range(5)] == ["bottleneck", "undetermined", "undetermined", "unstable", "stable"]
    assert ability(6, 10) == "unstable"


def test_one_run_says_nothing_of_stability() -> None:
    assert ability(1, 1) is None
    assert ability(0, 0) is None
