"""Rewards: every form of an answer, and numbers by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.errors import ConfigError, RecordError
from prm.training.rewards import (
    answer_statistics,
    balanced_step_accuracy_reward,
    first_error_reward,
    format_reward,
    load_reward,
    outcome_reward,
    step_accuracy_reward,
    text_of,
    weighted_step_accuracy_reward,
)

LABELS = json.dumps({"1": 1, "3": 0, "5": -1, "7": 1})
RIGHT = "1:+ 2:0 3:- 4:+"


def _step(*completions: Any, labels: str = LABELS) -> list[float | None]:
    return step_accuracy_reward(list(completions), [labels] * len(completions))


def test_step_accuracy_counts_right_verdicts() -> None:
    assert _step(RIGHT, "1:+ 2:+ 3:+ 4:+", "1:- 2:- 3:+ 4:-") == [1.0, 0.5, 0.0]


def test_texts_and_messages_are_the_same() -> None:
    message = [{"role": "assistant", "content": RIGHT}]
    blocks = [{"role": "assistant", "content": [{"type": "text", "text": RIGHT}]}]
    assert _step(RIGHT, message, blocks) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "completion",
    [
        None,
        "",
        "no verdict at all",
        [],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant"}],
        "1:+ 1:+ 2:0",
        "9:+",
        '{"steps": [{"step": 1, "label": 2}]}',
        "<think>1:+ 2:0 3:- 4:+",
        17,
    ],
)
def test_what_cannot_be_read_earns_nothing_and_no_default(completion: Any) -> None:
    assert _step(completion) == [0.0]
    assert format_reward([completion], [LABELS]) == [0.0]
    assert first_error_reward([completion], [LABELS]) == [0.0]


def test_a_draft_in_a_thought_that_the_prompt_opened_is_no_answer() -> None:
    draft = f"Perhaps so:\n{RIGHT}\nbut then"
    answers = [draft, f"{draft}</think>{RIGHT}", [{"role": "assistant", "content": draft}], RIGHT]
    columns = {"step_labels": [LABELS] * 4, "answer_prefix": ["<think>", "<think>", "<think>", ""]}
    for reward in (step_accuracy_reward, balanced_step_accuracy_reward, first_error_reward, format_reward):
        assert reward(answers, **columns) == [0.0, 1.0, 0.0, 1.0]
    assert answer_statistics(answers, **columns)["unread"] == [1.0, 0.0, 1.0, 0.0]


def test_a_thought_that_a_trainer_took_out_of_the_text_has_ended() -> None:
    message = [{"role": "assistant", "content": RIGHT, "reasoning_content": "1:- perhaps"}]
    assert step_accuracy_reward([message], [LABELS], answer_prefix=["<think>"]) == [1.0]


def test_a_missing_verdict_is_wrong() -> None:
    # Two of four are said, both right; the answer is not whole.
    assert _step("1:+ 2:0") == [0.5]
    assert format_reward(["1:+ 2:0", RIGHT], [LABELS] * 2) == [0.0, 1.0]


def test_the_outcome_in_an_answer_changes_nothing_for_the_steps() -> None:
    assert _step(RIGHT + " final:+", RIGHT + " final:-") == [1.0, 1.0]
    assert format_reward([RIGHT + " final:+"], [LABELS]) == [1.0]


def test_unknown_labels_are_left_out() -> None:
    labels = json.dumps({"1": 1, "3": None, "5": -1})
    assert _step("1:+ 2:- 3:+", labels=labels) == [0.5]
    assert _step("1:+", labels=json.dumps({"1": None})) == [None]


def test_steps_are_in_the_order_of_their_message_indices_not_of_the_keys_as_text() -> None:
    labels = json.dumps({"11": -1, "3": 1})
    assert _step("1:+ 2:-", labels=labels) == [1.0]


def test_the_balanced_reward_is_the_mean_over_the_classes_that_a_run_has() -> None:
    # +1: one of two right; 0: wrong; −1: right → (1/2 + 0 + 1) / 3.
    assert balanced_step_accuracy_reward(["1:+ 2:+ 3:- 4:-"], [LABELS]) == [pytest.approx(0.5)]


def test_class_factors_weigh_steps() -> None:
    # Factors −1: 3, 0: 1, +1: 0.5; right are the −1 (3) and one +1 (0.5) of 3 + 1 + 0.5 + 0.5.
    reward = weighted_step_accuracy_reward((3.0, 1.0, 0.5))
    assert reward(["1:+ 2:+ 3:- 4:-"], [LABELS]) == [pytest.approx(3.5 / 5)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (RIGHT, 1.0),
        ("1:0 2:+ 3:- 4:-", 1.0),
        ("1:- 2:0 3:- 4:+", 0.0),
        ("1:+ 2:0 3:+ 4:-", 0.0),
        ("1:+ 3:- 4:+", 0.0),
        ("1:+ 2:0 3:-", 1.0),
    ],
)
def test_the_first_error_must_be_the_first_error(answer: str, expected: float) -> None:
    assert first_error_reward([answer], [LABELS]) == [expected]


def test_without_an_error_none_may_be_found_and_unknowns_before_it_hide_it() -> None:
    clean, hidden = json.dumps({"1": 1, "3": 0}), json.dumps({"1": None, "3": -1})
    assert first_error_reward(["1:+ 2:+", "1:+ 2:-", "1:+"], [clean] * 3) == [1.0, 0.0, 0.0]
    assert first_error_reward(["1:+ 2:-"], [hidden]) == [None]


def test_the_outcome_is_rewarded_on_its_own() -> None:
    answers = ["1:+ 2:0 3:- 4:+ final:-", RIGHT, "1:+ final:+"]
    assert outcome_reward(answers, [LABELS] * 3, [-1, -1, None]) == [1.0, 0.0, None]


def test_trainers_pass_more_columns() -> None:
    more = {"prompts": ["a"], "completion_ids": [[1]], "trainer_state": None, "log_metric": print}
    assert step_accuracy_reward(completions=[RIGHT], step_labels=[LABELS], **more) == [1.0]


@pytest.mark.parametrize("labels", ["not json", "[1, 2]", '{"a": 1}', None, 3])
def test_labels_that_are_no_mapping_are_refused_in_one_line(labels: Any) -> None:
    with pytest.raises(RecordError, match="step_labels: must be JSON text"):
        step_accuracy_reward([RIGHT], [labels])


def test_a_label_outside_the_three_is_refused() -> None:
    with pytest.raises(RecordError, match="must be -1, 0, 1 or null, got 2"):
        step_accuracy_reward([RIGHT], ['{"1": 2}'])


def test_statistics_of_answers() -> None:
    found = answer_statistics([RIGHT, "1:+ 2:+", "?"], [LABELS] * 3)
    assert found["unread"] == [0.0, 1.0, 1.0]
    # Right: 4 of 4, 1 of 4, 0 of 4.
    assert sum(found["step_acc"]) / len(found["step_acc"]) == pytest.approx(5 / 12)
    assert sum(found["always_positive"]) / len(found["always_positive"]) == 0.5
    shares = [sum(found[f"share_{word}"]) / len(found[f"share_{word}"]) for word in ("neg", "zero", "pos")]
    assert shares == [pytest.approx(n / 6) for n in (1, 1, 4)]


def test_statistics_without_any_verdict_have_no_shares() -> None:
    assert set(answer_statistics(["?"], ['{"1": null}'])) == {"unread"}


def test_the_text_of_several_messages_is_that_of_the_last_with_text() -> None:
    messages = [{"content": "first"}, {"content": "last"}, {"content": None}]
    assert text_of(messages) == "last"


def own_reward(completions: Any, **columns: Any) -> list[float]:
    return [0.25] * len(completions)


def test_ones_own_reward_is_found_by_name() -> None:
    assert load_reward("tests.training.test_rewards:own_reward")(["a", "b"]) == [0.25, 0.25]


@pytest.mark.parametrize("name", ["own_reward", "no.such.module:f", "json:nothing", "json:__doc__"])
def test_a_reward_that_is_not_there_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ConfigError, match="reward: must be") as caught:
        load_reward(name)
    assert "\n" not in str(caught.value)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.lists(st.sampled_from([-1, 0, 1, None]), min_size=1, max_size=5))
def test_any_text_earns_between_nothing_and_all(text: str, labels: list[int | None]) -> None:
    gold = json.dumps({str(2 * k + 1): label for k, label in enumerate(labels)})
    for reward in (step_accuracy_reward, balanced_step_accuracy_reward, first_error_reward, format_reward):
        (value,) = reward([text], [gold])
        assert value is None or 0.0 <= value <= 1.0
