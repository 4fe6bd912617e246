"""What a judge is trained on: prompts, and the answers that they should get.

An answer's ids and the places of its verdicts are known by construction, so every token of it has a weight of its own:
a class weight where a labelled step's verdict stands, 1 between the verdicts (or 0), and 0 where nothing is known. A
verdict must stand there all the same; a 0 (neutral) is put, and no loss is taken on it.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from prm.data.label_account import LabelAccount
from prm.data.plain_text import PlainTextTokenizer
from prm.errors import InputError
from prm.models.judge.answer import CompactForm, VerdictFrame, compact_form, json_text
from prm.models.judge.chat import end_of_turn_ids
from prm.models.judge.prompt import JudgePrompt, JudgePromptBuilder, JudgePromptConfig
from prm.training.judge.prompts import PromptedRuns
from prm.training.targets import class_weights
from prm.types import LABELS, StepLabel, Trajectory

LossOn: TypeAlias = Literal["answer", "verdicts"]
"""``answer``: every token of the answer. ``verdicts``: only the verdicts of a compact answer, in its forced frame, each
a choice among the three."""

_PLACEHOLDER: StepLabel = 0


@dataclass(frozen=True, slots=True)
class AnswerTargets:
    """How labels become an answer's weights.

    Attributes:
        class_weights: Weight of a step's verdict by its label (−1, 0, +1); compact answers only.
        outcome_weight: Weight of the outcome's verdict; 0 leaves it untrained.
        loss_on: See `LossOn`.
        closing_weight: Weight of the same choice where the prompt closes each step, and the run; times that of the
            verdict in the answer.
        verdict_noise: Chance that a verdict is shown to what follows it as one drawn at random; what it is trained to
            be stays. A judge never sees true verdicts before its own, but labels of a run resemble each other.
        seed: Of these draws.
    """

    class_weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    outcome_weight: float = 1.0
    loss_on: LossOn = "answer"
    closing_weight: float = 0.0
    verdict_noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One run as ids.

    Attributes:
        prompt_ids: [P] the prompt, up to the opening of the answer.
        answer_ids: [C] the answer, to the end of its turn, as it is trained.
        weights: [C] what the loss of each answer token is multiplied by.
        closings: (position in the prompt, verdict token, weight) where a verdict is trained that is not said: that of a
            step or of the run, at the end of its closing line. All other tokens of the prompt have no loss.
        shown_ids: [C] the answer as later tokens see it; None = as it is trained.
    """

    prompt_ids: tuple[int, ...]
    answer_ids: tuple[int, ...]
    weights: tuple[float, ...]
    closings: tuple[tuple[int, int, float], ...] = ()
    shown_ids: tuple[int, ...] | None = None

    @property
    def input_ids(self) -> list[int]:
        """`[P + C]`: what the model reads."""
        return [*self.prompt_ids, *(self.answer_ids if self.shown_ids is None else self.shown_ids)]

    @property
    def trained(self) -> int:
        """Tokens that the loss is taken on."""
        return sum(weight > 0 for weight in self.weights) + len(self.closings)

    @property
    def answer_positions(self) -> list[int]:
        """Where the tokens are predicted that the answer is trained on."""
        return [len(self.prompt_ids) + i - 1 for i, weight in enumerate(self.weights) if weight > 0]

    def columns(self) -> dict[str, Any]:
        """The row for TRL: `input_ids`, `labels` (−100 where there is no loss) and `weights`, all `[P + C]`."""
        blank = len(self.prompt_ids)
        answer = [token if w > 0 else -100 for token, w in zip(self.answer_ids, self.weights, strict=True)]
        labels, weights = [-100] * blank + answer, [0.0] * blank + list(self.weights)
        for position, token, weight in self.closings:
            # A label belongs to the position before it.
            labels[position + 1], weights[position + 1] = token, weight
        return {"input_ids": self.input_ids, "labels": labels, "weights": weights}


def judge_rows(
    prompted: PromptedRuns, config: JudgePromptConfig, tokenizer: Any, targets: AnswerTargets
) -> tuple[list[JudgeRow], LabelAccount]:
    """One row for each run, in order, and the account of all labels.

    Args:
        prompted: Runs to train on, with their prompts.
        config: How the prompts ask; says which answer format.
        tokenizer: The prompts' tokenizer.
        targets: What is trained.

    Raises:
        InputError: A run has no label that could be trained.
        ModelError: The tokenizer has no one-token verdicts for compact answers.
    """
    answers = _Answers(tokenizer, config, targets)
    rows, total = [], LabelAccount()
    for trajectory, prompt in zip(prompted.runs, prompted.prompts, strict=True):
        total.add(prompt.account)
        ids, weights = answers.of(trajectory, prompt)
        if not answers.known(trajectory):
            raise InputError(
                f"{':'.join(trajectory.key)}: a run to train on must have a label, got none; label it or leave it out"
            )
        closings, shown = answers.closings(trajectory, prompt), answers.shown(trajectory, prompt)
        rows.append(JudgeRow(prompt.input_ids, ids, weights, closings, shown))
    return rows, total


def verdict_weights(option: str | None, trajectories: Sequence[Trajectory]) -> tuple[float, float, float]:
    """The class weights that an option names: ``inverse_sqrt``, or what `prm.training.targets.class_weights` knows.

    ``inverse_sqrt`` is n_c^(−1/2), scaled so that the mean over the labelled steps is 1; a class without steps gets 1.

    Raises:
        ConfigError: None of these.
    """
    if option != "inverse_sqrt":
        return class_weights(option, trajectories)
    counts = Counter(label for run in trajectories for label in run.step_labels.values() if label is not None)
    present = {label: counts[label] for label in LABELS if counts[label]}
    scale = sum(present.values()) / sum(count**0.5 for count in present.values()) if present else 1.0
    weights = {label: scale * count**-0.5 for label, count in present.items()}
    return (weights.get(-1, 1.0), weights.get(0, 1.0), weights.get(1, 1.0))


def reasons_of(notes: Any) -> dict[int | None, str]:
    """The explanations that `label_notes` gives: message index → why; None → why the outcome.

    Read are ``{"steps": {"<message index>": text}, "final": text}`` and the same without the inner object; what says
    something else is left out.
    """
    if not isinstance(notes, Mapping):
        return {}
    steps = notes.get("steps")
    by_index = steps if isinstance(steps, Mapping) else notes
    found: dict[int | None, str] = {
        int(index): text for index, text in by_index.items() if str(index).isdecimal() and _says(text)
    }
    if _says(notes.get("final")):
        found[None] = notes["final"]
    return found


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


class _Answers:
    """Answers of one tokenizer: their ids and weights."""

    def __init__(self, tokenizer: Any, config: JudgePromptConfig, targets: AnswerTargets) -> None:
        self._targets = targets
        self._outcome = config.outcome
        self._form: CompactForm | None = None
        if config.answer_format == "compact":
            self._form = compact_form(tokenizer)
        self._text = PlainTextTokenizer(tokenizer)
        self._end = end_of_turn_ids(tokenizer)
        self._prompts = JudgePromptBuilder(tokenizer, config)

    def known(self, trajectory: Trajectory) -> bool:
        """Whether there is a label to train on."""
        outcome = self._outcome and self._targets.outcome_weight > 0 and trajectory.final_label is not None
        return outcome or any(step.label is not None for step in trajectory.steps)

    def of(self, trajectory: Trajectory, prompt: JudgePrompt) -> tuple[tuple[int, ...], tuple[float, ...]]:
        if self._form is None:
            return self._json(trajectory)
        frame = self._form.frame(prompt.message_indices, outcome=self._outcome)
        truth = _truth(trajectory, frame)
        ids = frame.ids([_PLACEHOLDER if label is None else label for label in truth])
        between = 1.0 if self._targets.loss_on == "answer" else 0.0
        weights = [between] * len(ids)
        for position, slot, label in zip(frame.verdict_positions(), frame.slots, truth, strict=True):
            weights[position] = self._weight(slot, label)
        return tuple(ids), tuple(weights)

    def shown(self, trajectory: Trajectory, prompt: JudgePrompt) -> tuple[int, ...] | None:
        """See `JudgeRow.shown_ids`."""
        noise = self._targets.verdict_noise
        if self._form is None or not noise:
            return None
        frame = self._form.frame(prompt.message_indices, outcome=self._outcome)
        draw = random.Random(f"{self._targets.seed} {trajectory.key}")
        truth = [_PLACEHOLDER if label is None else label for label in _truth(trajectory, frame)]
        return tuple(frame.ids([draw.choice(LABELS) if draw.random() < noise else label for label in truth]))

    def closings(self, trajectory: Trajectory, prompt: JudgePrompt) -> tuple[tuple[int, int, float], ...]:
        """See `JudgeRow.closings`; none where they have no weight."""
        if self._form is None or not self._targets.closing_weight:
            return ()
        frame = self._form.frame(prompt.message_indices, outcome=self._outcome)
        places = zip(self._prompts.answer_places(prompt), frame.slots, _truth(trajectory, frame), strict=True)
        return tuple(
            (place, frame.verdict_ids[LABELS.index(label)], self._targets.closing_weight * weight)
            for place, slot, label in places
            if label is not None and (weight := self._weight(slot, label)) > 0
        )

    def _weight(self, slot: int | None, label: StepLabel | None) -> float:
        if label is None:
            return 0.0
        return self._targets.outcome_weight if slot is None else self._targets.class_weights[LABELS.index(label)]

    def _json(self, trajectory: Trajectory) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The entries of what is unknown are tokenised apart, so that no token is half known."""
        labels = {step.index: step.label for step in trajectory.steps}
        filled = {index: _PLACEHOLDER if label is None else label for index, label in labels.items()}
        final = trajectory.final_label
        outcome = (_PLACEHOLDER if final is None else final) if self._outcome else None
        text = json_text(filled, outcome, self._reasons(trajectory))
        unknown = [_step_entry(number) for number, label in enumerate(labels.values(), start=1) if label is None]
        if self._outcome and (final is None or self._targets.outcome_weight == 0):
            unknown.append(text[text.rindex(_FINAL_KEY) : -1])
        pieces = list(_cut_out(text, unknown))
        encoded = self._text.encode([piece for piece, _ in pieces])
        ids = [int(token) for part in encoded for token in part]
        weights = [weight for part, (_, weight) in zip(encoded, pieces, strict=True) for _ in part]
        return (*ids, *self._end), (*weights, *([1.0] * len(self._end)))

    def _reasons(self, trajectory: Trajectory) -> dict[int | None, str]:
        """Reasons of what is known; where a label is not, neither is why."""
        known = {step.index for step in trajectory.steps if step.label is not None}
        known_outcome = trajectory.final_label is not None
        reasons = reasons_of(trajectory.label_notes)
        return {slot: why for slot, why in reasons.items() if (known_outcome if slot is None else slot in known)}


def _truth(trajectory: Trajectory, frame: VerdictFrame) -> list[StepLabel | None]:
    return [trajectory.final_label if slot is None else trajectory.step_labels.get(slot) for slot in frame.slots]


_FINAL_KEY = '"final": {"label": '


def _step_entry(number: int) -> str:
    """A step's entry with the placeholder and no reason, as `json_text` writes it."""
    return json.dumps({"step": number, "label": _PLACEHOLDER})


def _cut_out(text: str, unknown: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The pieces of a text with their weights: 0 for each unknown part, in order, 1 for what lies between.

    Quotes inside a reason are escaped, so no reason can hold an entry.
    """
    start = 0
    for part in unknown:
        place = text.index(part, start)
        yield text[start:place], 1.0
        yield part, 0.0
        start = place + len(part)
    yield text[start:], 1.0
