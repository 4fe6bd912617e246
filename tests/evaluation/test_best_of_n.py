from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.evaluation.best_of_n import (
    NOTHING_TO_CHOOSE,
    best_of_n,
    choose,
    expected_success,
    group_runs,
    selector_scores,
)
from prm.types import Prediction
from tests.evaluation.labelled_runs import encoded, gold_and_predictions, gold_run, said

# one query, three runs; only the last succeeds
GOLD = [gold_run(0, 0, [1, 1, 1, 1], -1), gold_run(0, 1, [1, 1], -1), gold_run(0, 2, [1], 1)]
SAID = [said(GOLD[0], [1, 1, 1, 0], 1), said(GOLD[1], [1, -1], 0), said(GOLD[2], [1], 1)]


def accuracy(gold: list, predictions: list, selector: str) -> float:  # type: ignore[type-arg]
    block = best_of_n(choose(*encoded(gold, predictions)), None)
    return block["selectors"][selector]["accuracy"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("final", 1 / 2),  # runs 0 and 2 are predicted +1: a tie, one of them succeeded
        ("num_pos", 0.0),  # 3 steps of run 0
        ("pct_pos", 1.0),  # all of run 2
        ("two_stage", 1.0),  # of runs 0 (3/4) and 2 (1/1)
    ],
)
def test_selectors_by_hand(selector: str, expected: float) -> None:
    assert accuracy(GOLD, SAID, selector) == pytest.approx(expected)


def test_two_stage_falls_back_to_all_runs_where_none_is_predicted_to_succeed() -> None:
    predictions = [said(GOLD[0], [1, 1, 1, 1], -1), said(GOLD[1], [0, 0], 0), said(GOLD[2], [0], -1)]
    assert accuracy(GOLD, predictions, "two_stage") == 0.0  # run 0 has the highest share


def test_two_stage_prefers_a_run_predicted_to_succeed_over_a_higher_share() -> None:
    predictions = [said(GOLD[0], [1, 1, 1, 1], 0), said(GOLD[1], [1, 1], 0), said(GOLD[2], [-1], 1)]
    assert accuracy(GOLD, predictions, "two_stage") == 1.0


def test_missing_steps_lower_the_share() -> None:
    predictions = [said(GOLD[0], [1, None, None, None], 1), said(GOLD[1], [0, 1], 1), said(GOLD[2], [0], 1)]
    gold, judge = encoded(GOLD, predictions)
    assert selector_scores(gold, judge)["pct_pos"].tolist() == [0.25, 0.5, 0.0]


def probs(*p_positive: float) -> dict[int, tuple[float, float, float]]:
    return {2 * k + 2: (1 - p, 0.0, p) for k, p in enumerate(p_positive)}


@pytest.mark.parametrize(
    ("selector", "winner"),
    [("prob_mean", 0), ("prob_min", 1), ("prob_product", 1), ("prob_last", 2), ("final_prob", 2)],
)
def test_probability_selectors_by_hand(selector: str, winner: int) -> None:
    given = [(0.99, 0.1, 0.98), (0.5, 0.5, 0.5), (0.3, 0.3, 0.99)]
    # means 0.69, 0.5, 0.53; minima 0.1, 0.5, 0.3; products 0.097, 0.125, 0.089; last 0.98, 0.5, 0.99
    for successful in range(3):
        gold = [gold_run(0, s, [1, 1, 1], 1 if s == successful else -1) for s in range(3)]
        predictions = [
            said(g, [1, 1, 1], 1, step_probs=probs(*p), final_prob=(k + 1) / 4)
            for k, (g, p) in enumerate(zip(gold, given, strict=True))
        ]
        assert accuracy(gold, predictions, selector) == (1.0 if successful == winner else 0.0)


def test_a_product_with_a_zero_is_lowest_but_still_a_score() -> None:
    gold = [gold_run(0, s, [1, 1], 1 if s == 0 else -1) for s in range(2)]
    zero = said(gold[0], [1, 1], 1, step_probs=probs(0.0, 0.9))
    failed = Prediction(gold[1].identity, {}, status="failed")
    assert accuracy(gold, [zero, failed], "prob_product") == 1.0


def test_equal_products_tie_however_they_are_ordered() -> None:
    gold = [gold_run(0, s, [1, 1, 1], 1 if s == 0 else -1) for s in range(2)]
    predictions = [
        said(gold[0], [1] * 3, 1, step_probs=probs(0.1, 0.2, 0.3)),
        said(gold[1], [1] * 3, 1, step_probs=probs(0.3, 0.1, 0.2)),
    ]
    assert accuracy(gold, predictions, "prob_product") == 0.5
    assert accuracy(gold, predictions, "prob_mean") == 0.5


def test_without_probabilities_there_are_no_probability_selectors() -> None:
    assert set(selector_scores(*encoded(GOLD, SAID))) == {"final", "num_pos", "pct_pos", "two_stage"}


@pytest.mark.parametrize("selector", ["final", "num_pos", "pct_pos", "two_stage"])
def test_a_failed_or_missing_run_loses_to_the_worst_judged_one(selector: str) -> None:
    gold = [gold_run(0, s, [1], 1 if s == 2 else -1) for s in range(3)]
    predictions = [Prediction(gold[0].identity, {}, 1, status="failed"), said(gold[2], [-1], -1)]
    assert accuracy(gold, predictions, selector) == 1.0


def test_random_is_the_mean_and_oracle_is_any() -> None:
    gold = [*GOLD, gold_run(1, 0, [1], -1), gold_run(1, 1, [1], -1), gold_run(2, 0, [1], 1)]
    block = best_of_n(choose(*encoded(gold, [])), None)
    assert block["random"] == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert block["oracle"] == pytest.approx(2 / 3)
    assert (block["n"], block["n_min"], block["n_max"], block["groups"], block["single_run_groups"]) == (
        None,
        1,
        3,
        3,
        1,
    )


def test_a_judge_that_said_nothing_chooses_at_random() -> None:
    block = best_of_n(choose(*encoded(GOLD, [])), None)
    assert all(s["gain"] == pytest.approx(0.0) for s in block["selectors"].values())


@pytest.mark.parametrize("outcome", [-1, 1])
def test_nothing_can_be_gained_where_all_outcomes_are_equal(outcome: int) -> None:
    gold = [gold_run(0, s, [1], outcome) for s in range(3)]  # type: ignore[arg-type]
    block = best_of_n(choose(*encoded(gold, [said(gold[0], [1], 1)])), None)
    assert {s["gain"] for s in block["selectors"].values()} == {0.0}


def test_one_run_a_query_leaves_nothing_to_choose() -> None:
    gold = [gold_run(q, 0, [1], 1) for q in range(3)]
    block = best_of_n(choose(*encoded(gold, [])), None)
    assert (block["random"], block["selectors"], block["undefined"]) == (None, {}, NOTHING_TO_CHOOSE)


def test_runs_of_unknown_outcome_are_left_out() -> None:
    gold = [gold_run(0, 0, [1], None), gold_run(0, 1, [1], 1), gold_run(0, 2, [1], -1)]
    block = best_of_n(choose(*encoded(gold, [said(gold[0], [1], 1)])), None)
    assert (block["n"], block["random"]) == (2, 0.5)


scores = st.one_of(st.floats(-5, 5).map(lambda x: round(x)), st.just(float("nan")))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-1, 1]), scores), min_size=1, max_size=12))
def test_nan_never_wins_and_ties_are_expectations(runs: list[tuple[int, int, float]]) -> None:
    gold, _ = encoded([gold_run(q, s, [], y) for s, (q, y, _) in enumerate(runs)], [])  # type: ignore[arg-type]
    got = expected_success(np.array([score for *_, score in runs], dtype=float), group_runs(gold))
    expected = []
    for query in sorted({q for q, *_ in runs}):
        group = [(score, y == 1) for q, y, score in runs if q == query]
        judged = [pair for pair in group if not np.isnan(pair[0])] or group
        best = max(judged, key=lambda pair: pair[0])[0]
        tied = [won for score, won in judged if np.isnan(best) or score == best]
        expected.append(sum(tied) / len(tied))
    assert got.tolist() == pytest.approx(expected)


@settings(deadline=None)
@given(gold_and_predictions())
def test_accuracy_lies_between_zero_and_the_oracle_in_any_order(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, predictions = drawn
    block = best_of_n(choose(*encoded(gold, predictions)), None)
    turned = best_of_n(choose(*encoded(gold[::-1], predictions[::-1])), None)
    for name, selector in block["selectors"].items():
        assert -1e-9 <= selector["accuracy"] <= block["oracle"] + 1e-9
        assert selector["accuracy"] == pytest.approx(turned["selectors"][name]["accuracy"])
