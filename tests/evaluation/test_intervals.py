from __future__ import annotations

import numpy as np
import pytest

from prm.evaluation import intervals
from prm.evaluation.intervals import bootstrap_sums, interval95, two_sided_p_value


def test_a_draw_takes_as_many_queries_as_there_are() -> None:
    sums = bootstrap_sums(np.ones((7, 1)), draws=50, seed=0)
    assert sums.ravel().tolist() == [7.0] * 50


def test_draws_have_the_mean_and_spread_of_resampling() -> None:
    values = np.arange(20.0)[:, None]
    means = bootstrap_sums(values, draws=20_000, seed=1).ravel() / 20
    assert means.mean() == pytest.approx(9.5, abs=0.05)
    assert means.std() == pytest.approx(values.std() / np.sqrt(20), rel=0.03)


def test_columns_share_the_draws() -> None:
    values = np.arange(5.0)
    sums = bootstrap_sums(np.stack([values, 2 * values], axis=1), draws=30, seed=0)
    assert np.array_equal(2 * sums[:, 0], sums[:, 1])


def test_same_seed_same_draws_other_seed_others() -> None:
    values = np.arange(9.0)[:, None]
    assert np.array_equal(bootstrap_sums(values, 20, 3), bootstrap_sums(values, 20, 3))
    assert not np.array_equal(bootstrap_sums(values, 20, 3), bootstrap_sums(values, 20, 4))


def test_chunking_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random((11, 3))
    whole = bootstrap_sums(values, 40, 5)
    monkeypatch.setattr(intervals, "_CELLS_AT_ONCE", 30)
    assert np.allclose(bootstrap_sums(values, 40, 5), whole, rtol=1e-13)


def test_interval_leaves_undefined_draws_out() -> None:
    draws = np.append(np.linspace(0, 1, 1001), np.nan)
    assert interval95(draws) == pytest.approx([0.025, 0.975])


def test_interval_of_nothing_is_none() -> None:
    assert interval95(np.array([np.nan])) is None


def test_p_value_by_hand() -> None:
    # 2 of 9 draws ≤ 0 → 2 · (2 + 1) / (9 + 1)
    assert two_sided_p_value(np.array([-1.0, 0, 1, 2, 3, 4, 5, 6, 7])) == pytest.approx(0.6)


def test_p_value_of_equal_judges_is_one() -> None:
    assert two_sided_p_value(np.zeros(100)) == 1.0


def test_p_value_is_never_zero_and_has_no_sign() -> None:
    assert two_sided_p_value(np.ones(99)) == two_sided_p_value(-np.ones(99)) == pytest.approx(0.02)
