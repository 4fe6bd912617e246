"""From what a judge answered to a prediction: votes, probabilities, status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from prm.models.judge.forced_decoding import Rollout
from prm.models.judge.generation import GeneratedAnswer
from prm.models.judge.parse import ParsedAnswer, parse_answer
from prm.models.judge.prompt import JudgePrompt
from prm.models.judge.voting import Slot, Vote, vote_slots
from prm.models.scoring import rounded
from prm.types import LABELS, Prediction, Probabilities, StepLabel, Trajectory

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from all answers to one prompt.

    Attributes:
        votes: The vote of each slot that any answer has.
        probabilities: Those of each slot, where they are known.
        answers: How many answers there are.
        status: "failed" where no answer could be read, "partial" where a step lacks a verdict.
        reason: Why not "ok".
        explanations: ``{"steps": {"<message index>": text}, "final": text}`` as far as reasons were given, else None.
        notes: Further keys of the record.
    """

    votes: Mapping[Slot, Vote]
    probabilities: Mapping[Slot, Probabilities]
    answers: int
    status: Literal["ok", "partial", "failed"] = "ok"
    reason: str | None = None
    explanations: dict[str, Any] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    def prediction(self, trajectory: Trajectory, about: Mapping[str, Any]) -> Prediction:
        """The prediction; `about` holds its protocol, prompt version and rendering."""
        steps = {slot: vote for slot, vote in self.votes.items() if slot is not None}
        outcome = self.votes.get(None)
        final = self.probabilities.get(None)
        return Prediction(
            identity=trajectory.identity,
            step_labels={index: vote.label for index, vote in steps.items()},
            final_label=None if outcome is None else outcome.label,
            step_probs={slot: p for slot, p in self.probabilities.items() if slot is not None},
            final_prob=None if final is None else final[2],
            explanations=self.explanations,
            status=self.status,
            reason=self.reason,
            extra={**self._vote_shares(), **self.notes},
            **about,
        )

    def _vote_shares(self) -> dict[str, Any]:
        """``vote_share``: message index or "final" → the winner's share of all answers; of one answer nothing."""
        if self.answers == 1 or not self.votes:
            return {}
        shares = {_name(slot): round(vote.share, _DECIMALS) for slot, vote in self.votes.items()}
        return {"vote_share": shares}


def failed_prediction(trajectory: Trajectory, reason: str, about: Mapping[str, Any]) -> Prediction:
    """The record of a run that was not judged."""
    return Prediction(trajectory.identity, {}, status="failed", reason=reason, **about)


def reading_of_rollout(rollout: Rollout, slots: Sequence[Slot]) -> Reading:
    """What a forced answer says: the vote of each slot, and its probabilities averaged over the answers."""
    answers = [dict(zip(slots, map(LABELS.__getitem__, row), strict=True)) for row in rollout.labels.tolist()]
    mean = rollout.probs.astype(np.float64).mean(axis=0)
    probabilities = {slot: rounded(vector) for slot, vector in zip(slots, mean, strict=True)}
    return Reading(vote_slots(answers, slots), probabilities, len(answers))


def reading_of_texts(answers: Sequence[GeneratedAnswer], prompt: JudgePrompt, *, outcome: bool) -> Reading:
    """What free answers say: the vote of each slot over those that could be read; votes' shares as probabilities.

    Args:
        answers: All answers to one prompt.
        prompt: The prompt, which may have begun the answers.
        outcome: Whether it asks for the outcome.
    """
    texts = [prompt.answer_prefix + answer.text for answer in answers]
    parsed = [parse_answer(text, prompt.message_indices, outcome=outcome) for text in texts]
    slots: list[Slot] = [*prompt.message_indices, *([None] if outcome else [])]
    votes = vote_slots([_labels(answer) for answer in parsed], slots)
    several = len(answers) > 1
    failed = sum(answer.status == "failed" for answer in parsed)
    return Reading(
        votes,
        {slot: _rounded(vote.shares) for slot, vote in votes.items()} if several else {},
        len(answers),
        "failed" if not votes else "partial" if len(votes) < len(slots) else "ok",
        _reason(parsed, answers) if len(votes) < len(slots) else None,
        _explanations(parsed, votes),
        {"failed_answers": failed} if several and failed else {},
    )


def _labels(answer: ParsedAnswer) -> dict[Slot, StepLabel]:
    labels: dict[Slot, StepLabel] = dict(answer.step_labels.items())
    if answer.final_label is not None:
        labels[None] = answer.final_label
    return labels


def _reason(parsed: Sequence[ParsedAnswer], answers: Sequence[GeneratedAnswer]) -> str:
    """Why not every slot has a vote: the first answer's reason, and whether it was cut off."""
    number = next(i for i, answer in enumerate(parsed) if answer.reason is not None)
    reason = str(parsed[number].reason)
    if not answers[number].complete:
        reason += "; it ran into max_answer_tokens"
    return reason if len(answers) == 1 else f"of {len(answers)} answers none has every verdict, such as: {reason}"


def _explanations(parsed: Sequence[ParsedAnswer], votes: Mapping[Slot, Vote]) -> dict[str, Any] | None:
    """Of each slot the reason that the first answer gave which voted as all did together."""
    steps: dict[str, str] = {}
    final: dict[str, str] = {}
    for slot, vote in votes.items():
        for answer in parsed:
            said = _said_of(answer, slot)
            if said is not None and _labels(answer).get(slot) == vote.label:
                (final if slot is None else steps)[_name(slot)] = said
                break
    return {"steps": steps, **final} if steps or final else None


def _said_of(answer: ParsedAnswer, slot: Slot) -> str | None:
    given = answer.explanations or {}
    said = given.get("final") if slot is None else given.get("steps", {}).get(str(slot))
    return said if isinstance(said, str) else None


def _name(slot: Slot) -> str:
    return "final" if slot is None else str(slot)


def _rounded(shares: Probabilities) -> Probabilities:
    return rounded(np.asarray(shares))
