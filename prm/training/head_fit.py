"""Fits the head alone, on the states of a frozen backbone: L-BFGS to the optimum, settings chosen by inner folds.

The objective is convex, so there is nothing to tune but the penalty and what is read; both are chosen by
cross-validation over the training queries and never see the data that is reported on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import GroupKFold

from prm.errors import ConfigError
from prm.training.losses import site_cross_entropy
from prm.training.targets import TrainingRow

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites of all training rows.

    Attributes:
        features: `[M, F] float32`, raw.
        targets: `[M, 3] float32`; zeros where nothing is known.
        labels: `[M]` class ids of labelled steps, −1 elsewhere (the outcome, unknown steps).
        groups: `[M]` number of each site's query.
        runs: `[M]` number of each site's trajectory; the sites of a run stand in their order.
    """

    features: torch.Tensor
    targets: torch.Tensor
    labels: torch.Tensor
    groups: torch.Tensor
    runs: torch.Tensor


def sites_of(rows: Sequence[TrainingRow], states: Sequence[torch.Tensor], queries: Sequence[tuple[str, str]]) -> Sites:
    """Gathers the sites of all rows.

    Args:
        rows: The training rows; states: `[rows][S, F]`; queries: the query of each trajectory.
    """
    numbers = {query: i for i, query in enumerate(sorted(set(queries)))}
    labels = [
        site.class_id if site.message_index is not None and site.class_id >= 0 else -1
        for row in rows
        for site in row.row.sites
    ]
    groups = [numbers[queries[row.trajectory]] for row in rows for _ in row.row.sites]
    targets = torch.from_numpy(np.concatenate([row.targets for row in rows]))
    runs = [row.trajectory for row in rows for _ in row.row.sites]
    return Sites(torch.cat(list(states)), targets, *(torch.tensor(values) for values in (labels, groups, runs)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One setting.

    Attributes:
        reads: As written in the recipe, e.g. "site:18+text:12".
        columns: Which features these are.
        l2: Penalty on the weights.
    """

    reads: str
    columns: tuple[int, ...]
    l2: float


@dataclass(frozen=True, slots=True)
class LinearHead:
    """Weights `[3, F]`, bias `[3]`, and the standardisation they were fitted under, `[F]`."""

    weight: torch.Tensor
    bias: torch.Tensor
    center: torch.Tensor
    scale: torch.Tensor

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """`[M, F]` raw features → `[M, 3]`."""
        return (features - self.center) / self.scale @ self.weight.T + self.bias


def fit_linear_head(features: torch.Tensor, targets: torch.Tensor, l2: float, widths: torch.Tensor) -> LinearHead:
    """Minimises  CE(features, targets) + l2 / 2 · ‖W‖²  over the labelled sites by L-BFGS; the bias is free.

    Args:
        features: `[M, F]` raw; standardised here to mean 0 and variance 1 / width of their read.
        targets: `[M, 3]`, weighted distributions.
        l2: The penalty.
        widths: `[F]`, the width of the read that each feature belongs to.
    """
    known = targets.sum(-1) > 0
    center = features[known].mean(0)
    scale = features[known].std(0).clamp_min(1e-4) * widths.sqrt()
    inputs, wanted = ((features - center) / scale)[known], targets[known]
    weight = torch.zeros(targets.shape[1], features.shape[1], requires_grad=True)
    bias = torch.zeros(targets.shape[1], requires_grad=True)
    solver = torch.optim.LBFGS(
        [weight, bias], max_iter=300, history_size=20, line_search_fn="strong_wolfe", tolerance_change=1e-9
    )

    def closure() -> torch.Tensor:
        solver.zero_grad()
        loss = site_cross_entropy(inputs @ weight.T + bias, wanted, len(inputs)) + l2 / 2 * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    solver.step(closure)  # type: ignore[no-untyped-call]
    return LinearHead(weight.detach(), bias.detach(), center, scale)


def choose_candidate(sites: Sites, candidates: Sequence[Candidate], widths: torch.Tensor, folds: int) -> Candidate:
    """The candidate with the highest mean of StepAcc and FirstErrAcc over inner folds by query.

    Raises:
        ConfigError: Fewer queries than folds.
    """
    if len(candidates) == 1:
        return candidates[0]
    queries = len(torch.unique(sites.groups))
    if queries < folds:
        raise ConfigError.at("head_folds", f"must be at most the {queries} training queries", folds, "lower it")
    scores = []
    for candidate in candidates:
        step, first = _inner_scores(sites, candidate, widths, folds)
        scores.append(step + first)
        _log.info("inner folds: %s, l2 %g: StepAcc %.1f, FirstErrAcc %.1f", candidate.reads, candidate.l2, step, first)
    return candidates[int(np.argmax(scores))]


def _inner_scores(sites: Sites, candidate: Candidate, widths: torch.Tensor, folds: int) -> tuple[float, float]:
    """StepAcc and FirstErrAcc in per cent, each site predicted by a head that never saw its query."""
    columns = torch.tensor(candidate.columns)
    features = sites.features[:, columns]
    predicted = torch.zeros(len(features), dtype=torch.int64)
    splitter = GroupKFold(folds, shuffle=True, random_state=0)
    for train, test in splitter.split(np.zeros(len(features)), groups=sites.groups.numpy()):
        head = fit_linear_head(features[train], sites.targets[train], candidate.l2, widths[columns])
        predicted[test] = head.logits(features[test]).argmax(-1)
    steps = sites.labels >= 0
    right = (predicted == sites.labels)[steps].float().mean().item()
    truth, guess = (_first_errors(sites.runs[steps], labels[steps]) for labels in (sites.labels, predicted))
    return 100 * right, 100 * (truth == guess).float().mean().item()


def _first_errors(runs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """For each run the position of its first −1 among all sites; their number where there is none."""
    positions = torch.where(labels == 0, torch.arange(len(labels)), len(labels))
    firsts = torch.full((int(runs.max()) + 1,), len(labels))
    return firsts.scatter_reduce(0, runs, positions, "amin")


def candidates_of(reads: Sequence[str], columns: Sequence[tuple[int, ...]], l2: Sequence[float]) -> list[Candidate]:
    """Every combination, in the order given."""
    return [Candidate(text, own, penalty) for (text, own), penalty in product(zip(reads, columns, strict=True), l2)]


def install(model: Any, head: LinearHead) -> None:
    """Puts a fitted head into a `StepReader` that keeps just the head's reads."""
    with torch.no_grad():
        model.score.weight.copy_(head.weight)
        model.score.bias.copy_(head.bias)
        model.center.copy_(head.center)
        model.scale.copy_(head.scale)
