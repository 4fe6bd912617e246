"""What is logged of the labels that a policy gives its training steps, as sums that add up over processes."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from prm.data.encode import IGNORED
from prm.evaluation.step_metrics import LABEL_WORDS
from prm.training.classifier_grpo.sites import NO_MATTER, SiteBatch

_WORDS = tuple(LABEL_WORDS.values())
_POSITIVE = 2

NAMES = (
    "sampled/step_acc",
    "sampled/always_positive",
    *(f"sampled/share_{word}" for word in _WORDS),
    *(f"sampled/recall_{word}" for word in _WORDS),
    "reward/balanced_step_acc",
    "reward/first_error",
    "dead_groups",
    "clipped",
    "entropy",
    "kl",
)


class RunningMeans:
    """Sums and counts of `NAMES` since they were last asked for."""

    def __init__(self) -> None:
        self._sums: dict[str, torch.Tensor] = {}

    def add(self, name: str, values: torch.Tensor) -> None:
        """Adds values of any shape."""
        found = torch.stack([values.detach().double().sum(), torch.tensor(float(values.numel()), device=values.device)])
        self._sums[name] = self._sums[name] + found if name in self._sums else found

    def drain(self, device: torch.device) -> torch.Tensor:
        """`[names, 2] float64`: (sum, count) of each name; the counting begins anew."""
        empty = torch.zeros(2, dtype=torch.float64, device=device)
        found = torch.stack([self._sums.get(name, empty).to(device).double() for name in NAMES])
        self._sums = {}
        return found


def means(sums: torch.Tensor) -> Mapping[str, float]:
    """The mean of each name that has a count. `sums`: see `RunningMeans.drain`."""
    return {name: total / count for name, (total, count) in zip(NAMES, sums.tolist(), strict=True) if count}


def add_labels(into: RunningMeans, batch: SiteBatch, shares: torch.Tensor, found: torch.Tensor) -> None:
    """StepAcc, shares and recall of the labels at the steps with a hard label, and the further reward terms.

    Args:
        into: Where they are added.
        batch: The sites.
        shares: `[M, 3]`, how often each label was drawn, or its probability where none are drawn.
        found: `[B]`, how often the first error was found.
    """
    steps = batch.gold != IGNORED
    shares, gold = shares[steps], batch.gold[steps]
    hits = shares.gather(-1, gold[:, None])[:, 0]
    into.add("sampled/step_acc", hits)
    into.add("sampled/always_positive", (gold == _POSITIVE).float())
    for class_id, word in enumerate(_WORDS):
        into.add(f"sampled/share_{word}", shares[:, class_id])
        into.add(f"sampled/recall_{word}", hits[gold == class_id])
    balance = batch.balance[steps]
    of_row = torch.zeros(batch.rows, dtype=hits.dtype, device=hits.device)
    of_row = of_row.index_add(0, batch.owners[steps], hits * balance)
    into.add("reward/balanced_step_acc", of_row[batch.row_sums(steps.float()) > 0])
    decided = batch.row_sums((batch.first_error != NO_MATTER).float()) > 0
    into.add("reward/first_error", found[decided])
