from __future__ import annotations

import pytest

from prm.errors import ConfigError, InputError
from prm.evaluation.baselines import always_positive, fitted_baselines, majority, position_prior
from tests.evaluation.labelled_runs import gold_run

GOLD = [
    gold_run(0, 0, [1, -1], 1),
    gold_run(0, 1, [1, -1], 1),
    gold_run(1, 0, [1, 0], -1),
    gold_run(2, 0, [1, 0], -1),
]


def test_always_positive_says_plus_one_of_everything() -> None:
    first = always_positive(GOLD)[0]
    assert (first.step_labels, first.final_label, first.key) == ({2: 1, 4: 1}, 1, GOLD[0].key)


def test_majority_leaves_the_own_query_out() -> None:
    # for query 0: +1 +1 0 0 elsewhere, outcomes −1 −1; for query 2: +1 ×3 of 6, outcomes +1 +1 −1
    outcomes = [p.final_label for p in majority(GOLD)]
    assert outcomes == [-1, -1, 1, 1]


def test_majority_goes_by_source_and_falls_back_to_all() -> None:
    train = [
        gold_run(5, 0, [0, 0, 0], -1, source="a"),
        gold_run(6, 0, [-1, -1], 1, source="b"),
        gold_run(7, 0, [0], -1, source="c"),
    ]
    gold = [
        gold_run(0, 0, [1], source="a"),
        gold_run(1, 0, [1], source="b"),
        gold_run(2, 0, [1], source="new"),
    ]
    predictions = majority(gold, train)
    assert [p.step_labels[2] for p in predictions] == [0, -1, 0]
    assert [p.final_label for p in predictions] == [-1, 1, -1]
    assert predictions[0].step_probs == {}


def test_position_prior_gives_the_shares_at_each_ordinal() -> None:
    train = [gold_run(9, s, [1, label], 1) for s, label in enumerate([-1, -1, 0])]
    prediction = position_prior([gold_run(0, 0, [1, 1, 1])], train)[0]
    assert prediction.step_labels[2] == 1
    assert prediction.step_labels[4] == -1
    # counts −1: 2, 0: 1 at ordinal 1, and one label's weight of the overall shares 2/6, 1/6, 3/6
    assert prediction.step_probs[4] == pytest.approx(((2 + 2 / 6) / 4, (1 + 1 / 6) / 4, (3 / 6) / 4))
    # ordinal 2 was never seen: the overall shares
    assert prediction.step_probs[6] == pytest.approx((2 / 6, 1 / 6, 3 / 6))


def test_position_prior_of_a_query_does_not_know_its_own_labels() -> None:
    gold = [gold_run(0, 0, [-1]), gold_run(1, 0, [1]), gold_run(2, 0, [1])]
    assert position_prior(gold)[0].step_probs[2] == pytest.approx((0.0, 0.0, 1.0))


def test_unknown_labels_are_not_counted_but_predicted() -> None:
    gold = [gold_run(0, 0, [None, None], None), gold_run(1, 0, [0, None], None)]
    prediction = majority([gold[0]], [gold[1]])[0]
    assert (prediction.step_labels, prediction.final_label) == ({2: 0, 4: 0}, None)


def test_one_query_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="another query"):
        majority([gold_run(0, 0, [1]), gold_run(0, 1, [1])])


def test_names_say_how_they_were_fitted() -> None:
    assert list(fitted_baselines(GOLD, ["majority"], None, "")) == ["majority (leave-query-out)"]
    train = [gold_run(9, 0, [1])]
    names = list(fitted_baselines(GOLD, ["position_prior", "position_prior"], train, "train.jsonl"))
    assert names == ["position_prior (fitted on train.jsonl)"]


def test_training_on_queries_of_the_gold_is_refused() -> None:
    with pytest.raises(InputError, match=r"train.jsonl: a baseline must not be fitted on queries of the gold"):
        fitted_baselines(GOLD, ["majority"], [gold_run(2, 9, [1])], "train.jsonl")


def test_unknown_baseline_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be one of majority"):
        fitted_baselines(GOLD, ["median"], None, "")
