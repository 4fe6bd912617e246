from __future__ import annotations

import numpy as np
import pytest

from prm.evaluation.tallies import COLUMNS, UNDEFINED, harmonic_mean, per_query, rates, trajectory_tallies
from tests.evaluation.labelled_runs import encoded, gold_run, said

NAN = float("nan")


@pytest.mark.parametrize(("a", "b", "mean"), [(0.5, 1.0, 2 / 3), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (NAN, 1.0, NAN)])
def test_harmonic_mean_by_hand(a: float, b: float, mean: float) -> None:
    assert float(harmonic_mean(np.array(a), np.array(b))) == pytest.approx(mean, nan_ok=True)


def test_tallies_of_one_run_by_hand() -> None:
    gold = [gold_run(0, 0, [1, 0, -1, None], -1)]
    row = trajectory_tallies(*encoded(gold, [said(gold[0], [1, 1, None, 1], 0)]))[0]
    expected = {
        **{"steps": 3, "hits": 1, "predicted": 2, "gold_-1": 1, "gold_0": 1, "gold_1": 1},
        **{"hit_-1": 0, "hit_0": 0, "hit_1": 1, "first": 1, "first_published": 0, "first_strict": 0},
        **{"error": 1, "error_hits": 0, "clean": 0, "clean_hits": 0, "runs": 1, "exact": 0},
        **{"outcomes": 1, "outcome_hits": 1, "outcome_strict": 1, "outcome_given": 1},
    }
    assert dict(zip(COLUMNS, row.tolist(), strict=True)) == expected


def test_rates_of_nothing_are_all_undefined_and_each_has_a_reason() -> None:
    values = rates(np.zeros(len(COLUMNS)))
    assert all(np.isnan(value) for value in values.values())
    assert set(values) == set(UNDEFINED)


def test_rates_of_many_draws_are_the_rates_of_each() -> None:
    sums = np.random.default_rng(0).integers(0, 9, (5, len(COLUMNS))).astype(float)
    for name, values in rates(sums).items():
        assert values.tolist() == pytest.approx([float(rates(row)[name]) for row in sums], nan_ok=True)


def test_sums_by_query_add_up() -> None:
    gold = [gold_run(q, s, [1, -1]) for q in (3, 1) for s in range(2)]
    arrays, judge = encoded(gold, [said(gold[0], [1, -1])])
    tallies = trajectory_tallies(arrays, judge)
    # queries are numbered by key: query 1 first
    assert per_query(arrays, tallies)[:, COLUMNS.index("hits")].tolist() == [0.0, 2.0]
