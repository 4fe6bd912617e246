from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.evaluation.first_error import (
    first_error,
    first_error_accuracy,
    first_error_accuracy_strict,
    first_error_is_known,
    first_errors,
)
from prm.evaluation.step_metrics import summary
from prm.types import Prediction
from tests.evaluation.labelled_runs import encoded, gold_and_predictions, gold_run


def test_first_error_is_the_smallest_index_whatever_the_order() -> None:
    assert first_error({8: -1, 4: -1, 2: 1}) == 4


def test_first_error_of_a_clean_trajectory_is_none() -> None:
    assert first_error({2: 1, 4: 0}) is None


@pytest.mark.parametrize(
    ("gold", "known"),
    [
        ({2: 1, 4: -1, 6: None}, True),  # what follows the first −1 does not matter
        ({2: None, 4: -1}, False),
        ({2: 1, 4: None}, False),
        ({2: 1}, True),
        ({}, True),
    ],
)
def test_which_first_errors_are_known(gold: dict[int, int | None], known: bool) -> None:
    assert first_error_is_known(gold) is known  # type: ignore[arg-type]


CASES = [
    # gold, predicted, right as published, right strictly
    ({2: 1, 4: -1, 6: 1}, {2: 1, 4: -1, 6: 1}, 1, 1),
    ({2: 1, 4: -1}, {2: -1, 4: -1}, 0, 0),
    ({2: 1, 4: -1}, {2: 1, 4: 0}, 0, 0),
    ({2: 1, 4: 0}, {2: 0, 4: 1}, 1, 1),
    ({2: 1, 4: -1}, {2: 1}, 0, 0),  # nothing is said of the first error itself
    ({2: 1, 4: 0}, {2: 0, 4: -1}, 0, 0),
    ({2: 1, 4: 0}, None, 1, 0),  # a missing prediction counts as "no error" in the published rule
    ({2: 1, 4: -1}, None, 0, 0),
    ({2: 1, 4: -1}, {4: -1}, 1, 0),  # nobody knows what the judge would have said of step 2
    ({2: 1, 4: -1, 6: 1}, {2: 1, 4: -1}, 1, 1),  # step 6 comes after the first error
    ({2: 1, 4: 1}, {2: 1}, 1, 0),
    ({2: 1, 4: -1}, {1: -1, 2: 1, 4: -1}, 0, 1),  # an extra −1 on a user message
    ({2: 1, 4: 1}, {2: 1, 4: 1, 5: -1}, 0, 1),
    ({}, {}, 1, 1),
    ({}, None, 1, 0),
]


@pytest.mark.parametrize(("gold", "predicted", "published", "strict"), CASES)
def test_both_rules_by_hand(gold: dict, predicted: dict | None, published: int, strict: int) -> None:  # type: ignore[type-arg]
    assert first_error_accuracy([gold], [predicted]) == published
    assert first_error_accuracy_strict([gold], [predicted]) == strict
    run = replace(gold_run(0, 0, []), step_labels=gold)
    found = first_errors(*encoded([run], [] if predicted is None else [Prediction(run.identity, predicted)]))
    assert (found.published[0], found.strict[0]) == (published, strict)


def test_unknown_first_errors_are_left_out() -> None:
    gold = [{2: None, 4: -1}, {2: 1, 4: -1}]
    assert first_error_accuracy(gold, [{4: -1}, {2: 1, 4: 1}]) == 0.0  # type: ignore[arg-type, list-item]
    assert first_error_accuracy(gold[:1], [{4: -1}]) is None  # type: ignore[arg-type]


def test_a_failed_record_has_no_labels_even_if_some_are_in_it() -> None:
    gold = gold_run(0, 0, [1, -1])
    failed = Prediction(gold.identity, {2: 1, 4: -1}, 1, status="failed")
    result = summary([gold], [failed])
    assert (result["first_err_acc"], result["step_acc"], result["final_coverage"]) == (0.0, 0.0, 0.0)


@settings(deadline=None)
@given(gold_and_predictions())
def test_array_form_agrees_with_the_plain_rules(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, predictions = drawn
    by_key = {p.key: p.step_labels for p in predictions if p.status != "failed"}
    labels = [g.step_labels for g in gold]
    given = [by_key.get(g.key) for g in gold]
    result = summary(gold, predictions)
    for name, rule in (
        ("first_err_acc", first_error_accuracy),
        ("first_err_acc_strict", first_error_accuracy_strict),
    ):
        plain = rule(labels, given)
        assert result[name] == (None if plain is None else pytest.approx(plain))


@settings(deadline=None)
@given(gold_and_predictions(), st.data())
def test_leaving_a_label_or_a_record_out_never_helps_the_strict_rules(
    drawn: tuple[list, list],  # type: ignore[type-arg]
    data: st.DataObject,
) -> None:
    gold, predictions = drawn
    if not predictions:
        return
    number = data.draw(st.integers(0, len(predictions) - 1))
    chosen = predictions[number]
    kept = {i: v for i, v in chosen.step_labels.items() if data.draw(st.booleans())}
    poorer = [
        *predictions[:number],
        replace(chosen, step_labels=kept, final_label=None),
        *predictions[number + 1 :],
    ]
    if data.draw(st.booleans()):
        poorer = [*predictions[:number], *predictions[number + 1 :]]
    before, after = summary(gold, predictions), summary(gold, poorer)
    for name in ("step_acc", "first_err_acc_strict", "final_acc_strict", "coverage", "macro_recall"):
        assert before[name] is None or after[name] <= before[name]  # type: ignore[operator]
