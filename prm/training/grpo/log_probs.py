"""Log-probabilities of the verdicts of a micro-batch, with each prompt read once for all its answers.

TRL asks with left-padded prompts and right-padded answers, one row an answer. Rows that follow each other and have the
same prompt are one group here. Knows nothing of rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from prm.models.judge.calibration import UNCALIBRATED, Calibration

AnswerLogits: TypeAlias = Callable[
    [Any, torch.Tensor, Sequence[torch.Tensor], Sequence[Sequence[int]]], list[torch.Tensor]
]
"""(model, prompt `[P]`, answers `[G][C_i]`, positions `[G][M_i]`) → `[G][M_i, V]`; see `prm.models.shared_prefix`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows as TRL makes them.

    Attributes:
        input_ids: `[B, P + T] int64`, prompts padded on the left, answers on the right.
        attention_mask: `[B, P + T]`, 1 where there is a token.
        answer_width: T.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    answer_width: int

    def prompt(self, row: int) -> torch.Tensor:
        """`[P_row]`: the prompt without padding."""
        return self._part(row, slice(None, -self.answer_width))

    def answer(self, row: int) -> torch.Tensor:
        """`[C_row]`: the answer without padding."""
        return self._part(row, slice(-self.answer_width, None))

    def _part(self, row: int, columns: slice) -> torch.Tensor:
        return self.input_ids[row, columns][self.attention_mask[row, columns].bool()]

    def groups(self) -> Iterator[tuple[torch.Tensor, range]]:
        """(prompt, rows) of every stretch of rows with one prompt."""
        start, count = 0, len(self.input_ids)
        while start < count:
            prompt = self.prompt(start)
            end = start + 1
            while end < count and torch.equal(self.prompt(end), prompt):
                end += 1
            yield prompt, range(start, end)
            start = end


@dataclass(frozen=True, slots=True)
class Choice:
    """How a verdict is chosen.

    Attributes:
        verdict_ids: The tokens of −1, 0, +1.
        calibration: The judge's own.
        temperature: Divides the calibrated logits.
    """

    verdict_ids: Sequence[int]
    calibration: Calibration = UNCALIBRATED
    temperature: float = 1.0

    def logits(self, logits: torch.Tensor) -> torch.Tensor:
        """`[…, V]` → `[…, 3] float32`: log-probabilities up to a constant."""
        return self.calibration.of(logits[..., list(self.verdict_ids)]) / self.temperature


def verdict_log_probs(
    model: Any,
    batch: Batch,
    slots: torch.Tensor,
    choice: Choice,
    read: AnswerLogits,
) -> torch.Tensor:
    """log softmax over the three verdict tokens wherever a verdict stands; differentiable.

    Args:
        model: A causal language model, wrapped or not.
        batch: The rows.
        slots: `[B, T] bool`, where verdicts stand; each row has one at least.
        choice: What is chosen from.
        read: How a group's logits are computed.

    Returns:
        `[B, T, 3] float32`, 0 elsewhere.
    """
    found: list[torch.Tensor] = []
    for prompt, rows in batch.groups():
        answers = [batch.answer(row) for row in rows]
        positions = [slots[row].nonzero()[:, 0].tolist() for row in rows]
        found += read(model, prompt, answers, positions)
    three = torch.cat([choice.logits(logits) for logits in found])
    spread = three.new_zeros(*slots.shape, 3)
    spread[slots] = three.log_softmax(-1)
    return spread


def drawn_class(batch: Batch, verdict_ids: Sequence[int]) -> torch.Tensor:
    """`[B, T] int64`: the class id (0, 1, 2) of each answer token that is a verdict, 0 elsewhere."""
    answers = batch.input_ids[:, -batch.answer_width :]
    ids = torch.tensor(list(verdict_ids), device=answers.device)
    return (answers[..., None] == ids).int().argmax(-1)


def of_class(log_probs: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """`[B, T]`: of `[B, T, 3]` log-probabilities those of the given classes."""
    return log_probs.gather(-1, classes.clamp(min=0)[..., None])[..., 0]


def entropy_of(log_probs: torch.Tensor) -> torch.Tensor:
    """`[B, T]`: −Σ p log p over the three verdicts, in nats."""
    return -(log_probs.exp() * log_probs).sum(-1)
