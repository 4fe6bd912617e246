"""Runs → what GRPO draws answers for: a prompt, the frame of its answer, and what each verdict is worth.

The rows of the data set hold what a reward reads: `prompt`, `answer_prefix`, `step_labels` as JSON text, `final_label`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prm.errors import ConfigError, RecordError
from prm.models.judge.answer import CompactForm, VerdictFrame
from prm.models.judge.prompt import JudgePrompt
from prm.training.grpo.options import RewardOptions
from prm.training.judge.prompts import PromptedRuns
from prm.types import LABELS, StepLabel, Trajectory

UNKNOWN = -1
"""The class id of a slot whose label is not known."""


@dataclass(frozen=True, slots=True)
class SlotWorth:
    """What a right verdict is worth: plain and balanced StepAcc by their weights, and the outcome.

    Attributes:
        step: Weight of StepAcc.
        balanced: Weight of the class-balanced StepAcc of the run.
        outcome: Weight of the outcome's verdict.
        by_class: Factor of each class id in StepAcc; None = balanced within the run.
        whole_answer: Whether rewards look at whole answers, too: then each labelled step counts, whatever it is worth.
    """

    step: float
    balanced: float
    outcome: float
    by_class: tuple[float, float, float] | None
    whole_answer: bool = False

    def of(self, gold: Sequence[int], slots: Sequence[int | None]) -> tuple[float, ...]:
        """The worth of each slot; those of the known steps average to `step` + `balanced` where classes are equal."""
        counts = Counter(label for label, slot in zip(gold, slots, strict=True) if slot is not None and label >= 0)
        known = sum(counts.values())
        return tuple(
            self.outcome if slot is None else self._of_step(label, counts, known)
            for label, slot in zip(gold, slots, strict=True)
        )

    def _of_step(self, label: int, counts: Mapping[int, int], known: int) -> float:
        if label < 0:
            return 0.0
        within = known / (len(counts) * counts[label])
        return self.step * (within if self.by_class is None else self.by_class[label]) + self.balanced * within


@dataclass(frozen=True, slots=True)
class GrpoExample:
    """One run.

    Attributes:
        prompt: What the judge reads.
        frame: Its answer's frame; None where the answer is free.
        gold: [K] class id (0, 1, 2) of each slot, `UNKNOWN` where there is no label.
        worth: [K] what a right verdict is worth.
        row: The columns of the data set.
        whole_answer: Whether rewards look at whole answers, too.
    """

    prompt: JudgePrompt
    frame: VerdictFrame | None
    gold: tuple[int, ...]
    worth: tuple[float, ...]
    row: Mapping[str, Any]
    whole_answer: bool = False

    @property
    def rewarded(self) -> tuple[bool, ...]:
        """[K] whether a slot's verdict is rewarded: its label is known and counts, by itself or in the whole answer."""
        steps = len(self.prompt.message_indices)
        return tuple(
            label >= 0 and (worth != 0 or (self.whole_answer and slot < steps))
            for slot, (label, worth) in enumerate(zip(self.gold, self.worth, strict=True))
        )


def build_examples(
    prompted: PromptedRuns, outcome: bool, form: CompactForm | None, worth: SlotWorth
) -> list[GrpoExample]:
    """One example for each run.

    Args:
        prompted: Labelled runs with their prompts.
        outcome: Whether the prompts ask for a verdict on the whole run.
        form: How compact answers are written; None = answers are free.
        worth: What a verdict is worth.

    Raises:
        RecordError: A run without any known step label, or without any label that is rewarded.
    """
    return [
        _example(number, run, prompt, outcome, form, worth)
        for number, (run, prompt) in enumerate(zip(prompted.runs, prompted.prompts, strict=True))
    ]


def _example(
    number: int, run: Trajectory, prompt: JudgePrompt, outcome: bool, form: CompactForm | None, worth: SlotWorth
) -> GrpoExample:
    if not any(label is not None for label in run.step_labels.values()):
        raise RecordError.at(_name(run), "a run must have a step label to be rewarded by", None, "leave it out")
    frame = None if form is None else form.frame(prompt.message_indices, outcome=outcome)
    slots: list[int | None] = [*prompt.message_indices, *([None] if outcome else [])]
    gold = tuple(_class_of(run.final_label if slot is None else run.step_labels.get(slot)) for slot in slots)
    # A forced answer begins at once, whatever the template opens.
    prefix = prompt.answer_prefix if form is None else ""
    row = {**reward_columns(run), "prompt": prompt.messages, "answer_prefix": prefix, "example": number}
    example = GrpoExample(prompt, frame, gold, worth.of(gold, slots), row, worth.whole_answer)
    if not any(example.rewarded):
        raise RecordError.at(_name(run), "a run must have a label that is rewarded", None, "leave it out")
    return example


def _name(run: Trajectory) -> str:
    return " ".join(run.key)


def reward_columns(run: Trajectory) -> dict[str, Any]:
    """`step_labels` as JSON text (a plain mapping would get other runs' keys in Arrow), and `final_label`."""
    labels = {str(index): run.step_labels[index] for index in sorted(run.step_labels)}
    return {"step_labels": json.dumps(labels), "final_label": run.final_label}


def slot_worth(rewards: RewardOptions, runs: Iterable[Trajectory]) -> SlotWorth:
    """What the options make a verdict worth; `global` balance counts the labels of `runs`."""
    by_class: tuple[float, float, float] | None = (1.0, 1.0, 1.0)
    if rewards.reward_class_balance == "group":
        by_class = None
    elif rewards.reward_class_balance == "global":
        by_class = class_factors(runs)
    whole_answer = bool(rewards.first_error_weight or rewards.format_weight or rewards.reward)
    return SlotWorth(
        rewards.step_weight, rewards.balanced_weight, rewards.outcome_reward_weight, by_class, whole_answer
    )


def class_factors(runs: Iterable[Trajectory]) -> tuple[float, float, float]:
    """n / (number of classes · n_class) for −1, 0, +1, so that the mean over all labels is 1; 0 where there is none.

    Raises:
        ConfigError: No step is labelled.
    """
    counts: Counter[StepLabel] = Counter(v for run in runs for v in run.step_labels.values() if v is not None)
    if not counts:
        raise ConfigError.at("train_data", "must have labelled steps", 0, "check the files")
    below, neutral, above = (
        counts.total() / (len(counts) * counts[label]) if counts[label] else 0.0 for label in LABELS
    )
    return below, neutral, above


def _class_of(label: StepLabel | None) -> int:
    return UNKNOWN if label is None else LABELS.index(label)
