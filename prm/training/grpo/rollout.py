"""Draws the answers of a generation batch inside their forced frames, as TRL's `rollout_func` is to return them.

A random generator of its own is seeded by run, update and process, so that a resumed run draws what an uninterrupted
one would have drawn. Knows nothing of losses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from prm.models.batching import batch_by_tokens
from prm.models.judge.forced_decoding import Rollout, draw_verdicts_batch
from prm.training.grpo.examples import GrpoExample
from prm.types import LABELS

_TOKENS_PER_BATCH = 16384
"""Padded tokens of the prompts and answers that are drawn together."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows that follow each other and ask for answers to one example."""

    example: GrpoExample
    answers: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """How answers are drawn.

    Attributes:
        temperature: Divides the three logits.
        pad_token_id: Any token.
        redraws: How often a group without differences is drawn again.
        whole_answers: Whether an answer is rewarded as a whole only: then groups with equal sums are dead too.
    """

    temperature: float
    pad_token_id: int
    redraws: int = 0
    whole_answers: bool = False


@dataclass(frozen=True, slots=True)
class Draw:
    """The drawn answers.

    Attributes:
        rollouts: One for each stretch.
        redrawn: How many of them were drawn again.
    """

    rollouts: list[Rollout]
    redrawn: int


def stretches(examples: Sequence[GrpoExample]) -> Iterator[Stretch]:
    """The stretches of one example in the rows of a generation batch, in order."""
    start = 0
    for end in range(1, len(examples) + 1):
        if end == len(examples) or examples[end] is not examples[start]:
            yield Stretch(examples[start], end - start)
            start = end


def draw_answers(model: Any, groups: Sequence[Stretch], how: Drawing, generator: torch.Generator) -> Draw:
    """Draws the answers of each stretch; those that all earn the same are drawn again, up to `redraws` times."""
    rollouts = _draw(model, groups, how, generator)
    dead = _dead(groups, rollouts, how)
    redrawn = len(dead) if how.redraws else 0
    for _ in range(how.redraws):
        again = _draw(model, [groups[i] for i in dead], how, generator)
        for i, rollout in zip(dead, again, strict=True):
            rollouts[i] = rollout
        dead = _dead(groups, rollouts, how)
    return Draw(rollouts, redrawn)


def _draw(model: Any, groups: Sequence[Stretch], how: Drawing, generator: torch.Generator) -> list[Rollout]:
    found: dict[int, Rollout] = {}
    for answers in sorted({group.answers for group in groups}):
        numbers = [i for i, group in enumerate(groups) if group.answers == answers]
        for batch in batch_by_tokens([_tokens(groups[i]) for i in numbers], _TOKENS_PER_BATCH):
            chosen = [numbers[place] for place in batch]
            drawn = draw_verdicts_batch(
                model,
                [torch.tensor(groups[i].example.prompt.input_ids) for i in chosen],
                [_frame(groups[i].example) for i in chosen],
                how.pad_token_id,
                n=answers,
                temperature=how.temperature,
                generator=generator,
            )
            found.update(zip(chosen, drawn, strict=True))
    return [found[i] for i in range(len(groups))]


def _tokens(group: Stretch) -> int:
    answer = sum(len(block) + 1 for block in _frame(group.example).forced)
    return len(group.example.prompt.input_ids) + group.answers * answer


def _frame(example: GrpoExample) -> Any:
    return example.frame


def _dead(groups: Sequence[Stretch], rollouts: Sequence[Rollout], how: Drawing) -> list[int]:
    """Which groups have answers that earn all the same, so that nothing would be learnt from them."""
    return [
        i
        for i, (group, rollout) in enumerate(zip(groups, rollouts, strict=True))
        if _earn_the_same(group.example, rollout, how.whole_answers)
    ]


def _earn_the_same(example: GrpoExample, rollout: Rollout, whole_answers: bool) -> bool:
    rewarded = np.array(example.rewarded)
    if not any(example.worth):
        # Whole answers alone are rewarded: of those only equal ones surely earn the same.
        return bool((rollout.labels == rollout.labels[:1])[:, rewarded].all())
    earned = (rollout.labels == np.array(example.gold)) * np.array(example.worth) * rewarded
    if whole_answers:
        earned = earned.sum(1, keepdims=True)
    return bool(np.allclose(earned, earned[:1]))


def as_trl_rollout(groups: Sequence[Stretch], draw: Draw) -> dict[str, list[Any]]:
    """What TRL's `rollout_func` returns, and for each answer the verdicts with the distributions they come from.

    `env_mask` is 1 at verdicts that are rewarded and 0 elsewhere: forced tokens, and verdicts without a label, carry
    no loss.
    """
    found: dict[str, list[Any]] = {
        name: []
        for name in ("prompt_ids", "completion_ids", "logprobs", "env_mask", "verdict_classes", "verdict_probs")
    }
    for group, rollout in zip(groups, draw.rollouts, strict=True):
        frame, rewarded = _frame(group.example), group.example.rewarded
        places = frame.verdict_positions()
        for classes, logprobs, probs in zip(rollout.labels, rollout.logprobs, rollout.probs, strict=True):
            ids = frame.ids([LABELS[i] for i in classes])
            found["prompt_ids"].append(list(group.example.prompt.input_ids))
            found["completion_ids"].append(ids)
            found["logprobs"].append(_spread(len(ids), places, logprobs.tolist(), 0.0))
            found["env_mask"].append(_spread(len(ids), places, [int(known) for known in rewarded], 0))
            found["verdict_classes"].append(classes.tolist())
            found["verdict_probs"].append(probs.tolist())
    return found


def _spread(width: int, places: Sequence[int], values: Sequence[Any], empty: Any) -> list[Any]:
    spread = [empty] * width
    for place, value in zip(places, values, strict=True):
        spread[place] = value
    return spread


def seeded_generator(*parts: int) -> torch.Generator:
    """A generator on the CPU whose seed is made from all `parts`, such as seed, update and process."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
