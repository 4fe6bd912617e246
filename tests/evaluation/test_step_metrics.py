from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from prm.errors import InputError
from prm.evaluation.step_metrics import confusion, label_share, step_accuracy, summary
from prm.types import Prediction
from tests.evaluation.labelled_runs import encoded, gold_and_predictions, gold_run, said

GOLD = [gold_run(0, 0, [1, 0, -1], -1), gold_run(0, 1, [1, None, 1], 1), gold_run(1, 0, [-1, 1], 1)]
SAID = [said(GOLD[0], [1, 1, -1], -1), said(GOLD[1], [1, -1, None], 1), said(GOLD[2], [0, 1], -1)]


def test_step_accuracy_pools_steps_and_counts_missing_as_wrong() -> None:
    # right: 1, −1 | 1 | 1 of 3 + 2 + 2 labelled steps
    assert step_accuracy([g.step_labels for g in GOLD], [p.step_labels for p in SAID]) == pytest.approx(4 / 7)


def test_step_accuracy_of_a_judge_that_said_nothing_is_zero() -> None:
    assert step_accuracy([{2: 1}], [None]) == 0.0


def test_step_accuracy_without_labelled_steps_is_undefined() -> None:
    assert step_accuracy([{2: None}, {}], [{2: 1}, {}]) is None


def test_step_accuracy_of_labels_as_text_is_zero() -> None:
    assert step_accuracy([{2: 1}], [{2: "+1"}]) == 0.0  # type: ignore[dict-item]


def test_summary_by_hand() -> None:
    result = summary(GOLD, SAID)
    # right: 1 of 2 −1, 0 of 1 0, 3 of 4 +1; first errors: run 0 found, run 1 left out, run 2 missed
    expected = {
        "step_acc": 4 / 7,
        "recall_neg": 1 / 2,
        "recall_zero": 0.0,
        "recall_pos": 3 / 4,
        "macro_recall": (1 / 2 + 0 + 3 / 4) / 3,
        "first_err_acc": 1 / 2,
        "first_err_acc_strict": 1 / 2,
        "error_f1": None,  # the only run without −1 has an unknown label
        "final_acc": 2 / 3,
        "final_acc_strict": 2 / 3,
        "final_coverage": 1.0,
        "coverage": 6 / 7,
        "n_steps": 7.0,
        "share_neg": 2 / 7,
        "share_zero": 1 / 7,
        "share_pos": 4 / 7,
    }
    assert result == {name: pytest.approx(value) if value is not None else None for name, value in expected.items()}


def test_summary_without_predictions_has_no_shares_and_no_hits() -> None:
    result = summary(GOLD, [])
    assert result["share_pos"] is None
    assert result["step_acc"] == 0.0
    assert result["coverage"] == 0.0


def test_summary_refuses_predictions_for_other_runs() -> None:
    with pytest.raises(InputError, match="keys of gold"):
        summary(GOLD, [said(gold_run(9, 9, [1]), [1])])


def test_confusion_has_gold_in_rows_and_leaves_missing_out() -> None:
    # gold −1 → {−1: 1, 0: 1}; gold 0 → {+1: 1}; gold +1 → {+1: 3}, one +1 step was not predicted
    assert confusion(*encoded(GOLD, SAID)) == [[1, 1, 0], [0, 0, 1], [0, 0, 3]]


def test_label_share_counts_predictions_for_steps_only() -> None:
    gold = [gold_run(0, 0, [1])]
    prediction = Prediction(gold[0].identity, {1: -1, 2: 1, 3: -1})
    assert label_share(encoded(gold, [prediction])[1]) == {"-1": 0.0, "0": 0.0, "1": 1.0}


def test_labels_that_are_no_labels_are_refused() -> None:
    with pytest.raises(InputError, match=r"must be -1, 0, 1 or None, got '\+1'"):
        summary(GOLD[:1], [Prediction(GOLD[0].identity, {2: "+1"})])  # type: ignore[dict-item]


@settings(deadline=None)
@given(gold_and_predictions())
def test_array_form_agrees_with_the_plain_formula(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, predictions = drawn
    by_key = {p.key: p.step_labels for p in predictions}
    plain = step_accuracy([g.step_labels for g in gold], [by_key.get(g.key) for g in gold])
    result = summary(gold, predictions)
    assert result["step_acc"] == (None if plain is None else pytest.approx(plain))


@settings(deadline=None)
@given(gold_and_predictions())
def test_every_number_is_none_or_a_share(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    for name, value in summary(*drawn).items():
        assert value is None or name == "n_steps" or (0.0 <= value <= 1.0 and not math.isnan(value))


@settings(deadline=None)
@given(gold_and_predictions())
def test_order_of_records_changes_nothing(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, predictions = drawn
    assert summary(gold, predictions) == summary(gold[::-1], predictions[::-1])


@settings(deadline=None)
@given(gold_and_predictions())
def test_truth_scores_one(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, _ = drawn
    truth = [said(g, list(g.step_labels.values()), g.final_label) for g in gold]
    result = summary(gold, truth)
    for name in (
        "step_acc",
        "first_err_acc",
        "first_err_acc_strict",
        "macro_recall",
        "final_acc",
        "coverage",
    ):
        assert result[name] in (None, 1.0)
