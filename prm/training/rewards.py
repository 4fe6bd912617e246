"""Rewards for judges, as plain functions that a stock TRL ``GRPOTrainer`` takes.

Each gets the completions (texts, or lists of chat messages) and columns of the data set, and returns one reward in
[0, 1] for each completion, None where there is nothing to reward. `step_labels` holds JSON text, message index → label
or null, one entry for each step. What an answer lacks is wrong; an answer that cannot be read earns nothing. Where the
chat template opens a thought, the column `answer_prefix` must hold its tag (`JudgePrompt.answer_prefix`): a thought
that does not end is no answer.

    from trl import GRPOTrainer
    from prm.training.rewards import step_accuracy_reward
    GRPOTrainer(model, reward_funcs=step_accuracy_reward, train_dataset=…)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from prm.data.own_code import load_object
from prm.errors import ConfigError, RecordError
from prm.evaluation.step_metrics import LABEL_WORDS
from prm.models.judge.parse import ParsedAnswer, parse_answer
from prm.types import LABELS, StepLabel

Rewards: TypeAlias = "list[float | None]"
RewardFunction: TypeAlias = Callable[..., Any]
ClassFactors: TypeAlias = tuple[float, float, float]
"""What a step of class −1, 0, +1 counts."""

_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Where a message may hold a thought that was taken out of its text."""


@dataclass(frozen=True, slots=True)
class RewardTerm:
    """One summand of the reward.

    Attributes:
        function: As TRL calls it; its name is the log's.
        weight: Its weight.
        of_verdicts: Whether it is a sum over single verdicts, so that each can be given its own share.
    """

    function: RewardFunction
    weight: float
    of_verdicts: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", self.function))


def step_accuracy_reward(completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any) -> Rewards:
    """StepAcc of each answer: right verdicts / labelled steps (arXiv 2603.14465).

    Args:
        completions: [B] answers.
        step_labels: [B] JSON text.
        columns: Whatever else a trainer passes.
    """
    return [_weighted_accuracy(*pair, _equal) for pair in _read_all(completions, step_labels, columns)]


def balanced_step_accuracy_reward(completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any) -> Rewards:
    """The mean over the classes that a run has of the share of their steps judged right (macro recall in the run)."""
    return [_weighted_accuracy(*pair, _within_run) for pair in _read_all(completions, step_labels, columns)]


def weighted_step_accuracy_reward(factors: ClassFactors) -> RewardFunction:
    """StepAcc in which a step counts as its true class says: Σ factor · right / Σ factor over the labelled steps."""

    def weighted_step_accuracy_reward(
        completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any
    ) -> Rewards:
        pairs = _read_all(completions, step_labels, columns)
        return [_weighted_accuracy(*pair, lambda gold: _by_class(gold, factors)) for pair in pairs]

    return weighted_step_accuracy_reward


def first_error_reward(completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any) -> Rewards:
    """1 where the answer's first −1 is the run's (none in either is right too), else 0.

    None where an unknown label hides the run's first error; an answer that lacks a step before is wrong.
    """
    return [_first_error_found(*pair) for pair in _read_all(completions, step_labels, columns)]


def format_reward(completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any) -> Rewards:
    """1 where an answer could be read whole, else 0."""
    return [float(answer.status == "ok") for answer, _ in _read_all(completions, step_labels, columns)]


def outcome_reward(
    completions: Sequence[Any], step_labels: Sequence[Any], final_label: Sequence[Any], **columns: Any
) -> Rewards:
    """1 where the verdict on the whole run is right, else 0; None where the outcome is unknown.

    Args:
        completions: [B] answers.
        step_labels: [B] JSON text.
        final_label: [B] −1, 0, 1 or None.
        columns: Whatever else a trainer passes.
    """
    answers = [answer for answer, _ in _read_all(completions, step_labels, columns, outcome=True)]
    return [
        None if label is None else float(answer.final_label == label)
        for answer, label in zip(answers, final_label, strict=True)
    ]


def answer_statistics(completions: Sequence[Any], step_labels: Sequence[Any], **columns: Any) -> dict[str, list[float]]:
    """What was answered, as lists whose means are worth logging; a list without a value is left out.

    Args:
        completions: [B] answers.
        step_labels: [B] JSON text.
        columns: Whatever else a reward gets.

    Returns:
        unread: of each answer, 1 where it does not say all steps' labels. step_acc: of each labelled step of each
        answer, 1 where its verdict is right. always_positive: the same for a judge that says +1. share_neg,
        share_zero, share_pos: of each verdict given for a step, 1 where it is that label.
    """
    pairs = _read_all(completions, step_labels, columns)
    said = [label for answer, _ in pairs for label in answer.step_labels.values()]
    steps = [(answer.step_labels.get(index), label) for answer, gold in pairs for index, label in gold.items()]
    known = [(guess, label) for guess, label in steps if label is not None]
    found = {
        "unread": [float(answer.status != "ok") for answer, _ in pairs],
        "step_acc": [float(guess == label) for guess, label in known],
        "always_positive": [float(label == 1) for _, label in known],
        **{f"share_{word}": [float(label == value) for label in said] for value, word in LABEL_WORDS.items()},
    }
    return {name: values for name, values in found.items() if values}


def load_reward(name: str) -> RewardFunction:
    """The function named ``module:function``.

    Raises:
        ConfigError: It is not named so, cannot be imported, or is no function.
    """
    found = load_object("reward", name)
    if not callable(found):
        raise ConfigError.at("reward", "must be a function of completions and columns", name, "name a function")
    reward: RewardFunction = found
    return reward


Gold: TypeAlias = Mapping[int, "StepLabel | None"]
"""Message index → label, in the order of the steps."""


def _read_all(
    completions: Sequence[Any], step_labels: Sequence[Any], columns: Mapping[str, Any], *, outcome: bool = False
) -> list[tuple[ParsedAnswer, Gold]]:
    """Each answer with its labels; the outcome does not count as missing unless it is what is asked about."""
    prefixes = columns.get("answer_prefix") or [""] * len(completions)
    golds = [_gold(labels) for labels in step_labels]
    return [
        (parse_answer(_whole_text(completion, prefix), list(gold), outcome=outcome), gold)
        for completion, prefix, gold in zip(completions, prefixes, golds, strict=True)
    ]


def _whole_text(completion: Any, prefix: str | None) -> str:
    """The text of an answer with what the prompt had begun of it, unless a trainer has taken the thought out."""
    messages = completion if isinstance(completion, list | tuple) else []
    is_apart = any(message.get(key) for message in messages if isinstance(message, Mapping) for key in _THOUGHT_KEYS)
    return text_of(completion) if is_apart else (prefix or "") + text_of(completion)


def text_of(completion: Any) -> str:
    """The text of an answer: itself, or that of the last message that has one; "" for None."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, list | tuple):
        return ""
    contents = [message.get("content") for message in completion if isinstance(message, Mapping)]
    texts = [_content_text(content) for content in contents]
    return next((text for text in reversed(texts) if text), "")


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(part for part in parts if isinstance(part, str))


def _gold(step_labels: Any) -> dict[int, StepLabel | None]:
    """The labels by message index; the indices' order is the steps' order."""
    try:
        labels = json.loads(step_labels) if isinstance(step_labels, str) else step_labels
        by_index = sorted((int(index), label) for index, label in labels.items())
    except (ValueError, AttributeError, TypeError):
        rule = "must be JSON text of message index → label"
        raise RecordError.at("step_labels", rule, step_labels, "build the data set with prm") from None
    bad = next((label for _, label in by_index if label is not None and label not in LABELS), None)
    if bad is not None:
        raise RecordError.at("step_labels", "a label must be -1, 0, 1 or null", bad, "check the data")
    return dict(by_index)


def _weighted_accuracy(answer: ParsedAnswer, gold: Gold, weigh: Callable[[Gold], dict[int, float]]) -> float | None:
    weights = weigh(gold)
    total = sum(weights.values())
    hits = sum(weight for number, weight in weights.items() if answer.step_labels.get(number) == gold[number])
    return hits / total if total else None


def _equal(gold: Gold) -> dict[int, float]:
    return {number: 1.0 for number, label in gold.items() if label is not None}


def _within_run(gold: Gold) -> dict[int, float]:
    counts = Counter(label for label in gold.values() if label is not None)
    return {number: 1.0 / counts[label] for number, label in gold.items() if label is not None}


def _by_class(gold: Gold, factors: ClassFactors) -> dict[int, float]:
    return {number: factors[LABELS.index(label)] for number, label in gold.items() if label is not None}


def _first_error_found(answer: ParsedAnswer, gold: Gold) -> float | None:
    error = next((index for index, label in gold.items() if label == -1), None)
    up_to_error = [index for index in gold if error is None or index <= error]
    if not gold or any(gold[index] is None for index in up_to_error):
        return None
    said = [answer.step_labels.get(index) for index in up_to_error]
    return float(None not in said and [label == -1 for label in said] == [index == error for index in up_to_error])
