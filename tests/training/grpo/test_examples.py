"""Examples: labels and worth by hand, columns that Arrow cannot spoil."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from datasets import Dataset

from prm.errors import ConfigError, RecordError
from prm.models.judge.answer import compact_form
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.training.grpo.examples import SlotWorth, build_examples, class_factors, reward_columns, slot_worth
from prm.training.grpo.options import RewardOptions
from prm.training.judge.prompts import build_prompts
from prm.training.rewards import step_accuracy_reward
from prm.types import Trajectory
from tests.models.judge.templates import CHATML
from tests.tiny import byte_level_tokenizer, make_run

PLAIN = SlotWorth(1.0, 0.0, 0.0, (1.0, 1.0, 1.0))


def _examples(runs: list[Trajectory], worth: SlotWorth = PLAIN) -> list:  # type: ignore[type-arg]
    tokenizer = byte_level_tokenizer()
    builder = JudgePromptBuilder(tokenizer, JudgePromptConfig(max_prompt_tokens=2000))
    return build_examples(build_prompts(runs, builder), True, compact_form(tokenizer), worth)


def test_an_example_has_the_class_of_each_step_and_of_the_outcome() -> None:
    run = make_run(3, steps=3)
    (example,) = _examples([run])
    expected = [run.step_labels[step.index] for step in run.steps] + [run.final_label]
    assert [(-1, 0, 1)[label] for label in example.gold] == expected
    assert example.rewarded == (True, True, True, False)
    assert len(example.frame.verdict_positions()) == 4


def test_the_true_answer_earns_the_whole_reward() -> None:
    tokenizer = byte_level_tokenizer()
    for run in (make_run(n, steps=1 + n % 13) for n in range(5, 40, 8)):
        (example,) = _examples([run])
        answer = tokenizer.decode(example.frame.ids([(-1, 0, 1)[label] for label in example.gold]))
        assert step_accuracy_reward([answer.replace("<|im_end|>", "")], [example.row["step_labels"]]) == [1.0]


def test_a_run_without_labels_is_refused() -> None:
    run = make_run(1)
    with pytest.raises(RecordError, match="must have a step label"):
        _examples([replace(run, step_labels=dict.fromkeys(run.step_labels))])


def test_where_whole_answers_are_rewarded_every_labelled_step_counts_and_the_outcome_does_not() -> None:
    run = make_run(3, steps=3)
    worth = slot_worth(RewardOptions(step_weight=0.0, first_error_weight=1.0), [run])
    (example,) = _examples([run], worth)
    assert example.worth == (0.0, 0.0, 0.0, 0.0)
    assert example.rewarded == (True, True, True, False)


def test_a_run_without_a_label_that_is_rewarded_is_refused() -> None:
    only_outcome = slot_worth(RewardOptions(step_weight=0.0, outcome_reward_weight=1.0), [])
    with pytest.raises(RecordError, match="must have a label that is rewarded"):
        _examples([replace(make_run(3), final_label=None)], only_outcome)


@pytest.mark.parametrize(("forced", "prefix"), [(True, ""), (False, "<think>")])
def test_a_free_answer_is_read_with_what_the_prompt_has_begun(forced: bool, prefix: str) -> None:
    """A forced one begins with a verdict, in whatever a template opens."""
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
    builder = JudgePromptBuilder(tokenizer, JudgePromptConfig(max_prompt_tokens=2000))
    form = compact_form(tokenizer) if forced else None
    (example,) = build_examples(build_prompts([make_run(3)], builder), True, form, PLAIN)
    assert example.row["answer_prefix"] == prefix


def test_columns_do_not_mix_in_arrow() -> None:
    """Message-index keys as plain mappings would be united over the rows."""
    runs = [make_run(1, steps=1), make_run(2, steps=3)]
    rows = Dataset.from_list([reward_columns(run) for run in runs])
    assert [len(json.loads(row["step_labels"])) for row in rows] == [1, 3]


def test_classes_of_a_run_weigh_the_same_where_it_is_balanced() -> None:
    # Classes 0, 2, 2, 2: two classes, four steps; 4/(2·1) = 2 and 4/(2·3) = 2/3. The mean is 1.
    worth = SlotWorth(1.0, 0.0, 0.5, None).of([0, 2, 2, 2, 1], [1, 3, 5, 7, None])
    assert worth == pytest.approx((2.0, 2 / 3, 2 / 3, 2 / 3, 0.5))


def test_plain_and_balanced_accuracy_add_up() -> None:
    worth = SlotWorth(1.0, 0.5, 0.0, (3.0, 1.0, 1.0)).of([0, 2, -1], [1, 3, 5])
    assert worth == pytest.approx((3.0 + 0.5, 1.0 + 0.5, 0.0))


def test_factors_of_all_labels_average_to_one() -> None:
    run = make_run(1, steps=4)
    runs = [replace(run, step_labels=dict(zip(run.step_labels, labels, strict=True))) for labels in ([1, 1, 1, -1],)]
    # Four labels, two classes: 4/(2·1) for −1 and 4/(2·3) for +1; there is no 0.
    assert class_factors(runs) == pytest.approx((2.0, 0.0, 2 / 3))
    with pytest.raises(ConfigError, match="must have labelled steps"):
        class_factors([])


@pytest.mark.parametrize(("balance", "expected"), [("none", (1.0, 1.0, 1.0)), ("group", None)])
def test_options_become_worth(balance: str, expected: object) -> None:
    options = RewardOptions(reward_class_balance=balance, step_weight=2.0, outcome_reward_weight=0.25)
    worth = slot_worth(options, [])
    assert (worth.step, worth.outcome, worth.by_class) == (2.0, 0.25, expected)
