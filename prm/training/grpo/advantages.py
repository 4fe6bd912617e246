"""Credit for verdicts: how much better a drawn verdict was than what was to be expected at its step.

TRL gives a whole answer one advantage. Here each verdict gets that of its own step: its reward minus a baseline. The
baseline is the mean over the group's answers, or the expectation under the policy, which is exact since there are only
three verdicts. All functions take the answers of whole groups, one after the other. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

_EPSILON = 1e-4
"""As in TRL: keeps a group without differences at advantage 0."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Verdicts of N answers, padded to K slots.

    Attributes:
        classes: `[N, K] int64`, class ids (0, 1, 2) of the drawn verdicts.
        gold: `[N, K] int64`, class ids of the labels; −1 = unknown, without a reward, or padding.
        weights: `[N, K] float32`, what a right verdict is worth.
        probs: `[N, K, 3] float32`, the distribution that each was drawn from.
    """

    classes: torch.Tensor
    gold: torch.Tensor
    weights: torch.Tensor
    probs: torch.Tensor

    @property
    def known(self) -> torch.Tensor:
        """`[N, K] bool`: where there is a label that is rewarded."""
        return self.gold >= 0

    @property
    def rewards(self) -> torch.Tensor:
        """`[N, K]`: the weight of a verdict that is right, else 0."""
        return self.weights * ((self.classes == self.gold) & self.known)

    @property
    def expected(self) -> torch.Tensor:
        """`[N, K]`: the reward that the policy expected at each slot, over its three verdicts."""
        of_gold = self.probs.gather(-1, self.gold.clamp(min=0)[..., None])[..., 0]
        return self.weights * of_gold * self.known


def against_group(drawn: Drawn, group: int) -> torch.Tensor:
    """`[N, K]`: reward − mean reward of the group's answers at the same slot; 0 where the label is unknown."""
    rewards = drawn.rewards
    return (rewards - group_mean(rewards, group)) * drawn.known


def against_policy(drawn: Drawn) -> torch.Tensor:
    """`[N, K]`: reward − expected reward under the policy, given the verdicts before; 0 where unknown."""
    return (drawn.rewards - drawn.expected) * drawn.known


def of_runs(rewards: torch.Tensor, group: int) -> torch.Tensor:
    """Reward − mean of its group.

    Args:
        rewards: `[N]`, NaN where there is none.

    Returns:
        `[N]`, 0 where there is no reward.
    """
    grouped = rewards.view(-1, group)
    return (grouped - grouped.nanmean(1, keepdim=True)).nan_to_num(0.0).view(-1)


def scaled(values: torch.Tensor, known: torch.Tensor, group: int, scale: str) -> torch.Tensor:
    """Advantages divided by their root mean square: over each group, over the batch, or not at all.

    The scale is one for all slots of a group, so that class weights keep their meaning.

    Args:
        values: `[N, K]`, centred.
        known: `[N, K] bool`, what counts.
        group: Answers of one prompt.
        scale: "group", "batch" or "none", as TRL's `scale_rewards`.
    """
    if scale == "none":
        return values
    rows = group if scale == "group" else len(values)
    squares = (values.square() * known).view(-1, rows * values.shape[1]).sum(1)
    counts = known.float().view(-1, rows * values.shape[1]).sum(1).clamp(min=1)
    deviation = (squares / counts).sqrt().repeat_interleave(rows)
    return values / (deviation[:, None] + _EPSILON)


def dead_groups(advantages: torch.Tensor, group: int) -> float:
    """The share of groups in which no answer has an advantage, so that nothing is learnt from them.

    Args:
        advantages: `[N]` or `[N, T]`.
    """
    alive = (advantages.reshape(len(advantages), -1).abs() > 1e-6).any(1).view(-1, group).any(1)
    return 1.0 - float(alive.float().mean())


def group_mean(values: torch.Tensor, group: int) -> torch.Tensor:
    """`[N, K]`: the mean over the answers of each group, repeated for each of them."""
    grouped = values.view(-1, group, values.shape[1])
    return grouped.mean(1, keepdim=True).expand_as(grouped).reshape(values.shape)


def at_positions(values: torch.Tensor, positions: Sequence[Sequence[int]], width: int) -> torch.Tensor:
    """`[N, K]` values of slots → `[N, T]` values of tokens, 0 between the verdicts.

    Args:
        values: `[N, K]`.
        positions: `[N][K_i]`, where each answer's verdicts stand.
        width: T.
    """
    spread = values.new_zeros(len(values), width)
    for row, places in enumerate(positions):
        spread[row, list(places)] = values[row, : len(places)]
    return spread
