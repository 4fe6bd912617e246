"""FirstErrAcc: is the first wrong step found?

The published rule (AgentProcessBench, arXiv 2603.14465) is kept for comparability although it counts a
missing prediction as "no error"; the strict rule stands beside it. Both leave out a trajectory whose first
error is not known: an unknown gold label before the first −1, or an unknown label and no −1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from prm.evaluation.arrays import MISSING, NO_ERROR, GoldArrays, Ints, JudgeArrays, Labels, Mask
from prm.types import StepLabel

GoldLabels: TypeAlias = Mapping[int, StepLabel | None]
PredictedLabels: TypeAlias = Mapping[int, StepLabel]


def first_error(labels: Mapping[int, StepLabel | None]) -> int | None:
    """The smallest message index labelled −1; None where there is none."""
    return min((index for index, label in labels.items() if label == -1), default=None)


def first_error_is_known(gold: GoldLabels) -> bool:
    """Whether no unknown label stands before the first −1 (before the end, where there is no −1)."""
    unknown = min((index for index, label in gold.items() if label is None), default=None)
    error = first_error(gold)
    return unknown is None or (error is not None and error < unknown)


def first_error_accuracy(gold: Sequence[GoldLabels], predicted: Sequence[PredictedLabels | None]) -> float | None:
    """The published rule: share of trajectories whose first −1 has the same index in prediction and gold.

    Args:
        gold: [N] message index → label, None = unknown.
        predicted: [N] message index → predicted label; None = failed or missing, which counts as "no error".

    Returns:
        The share in [0, 1]; None where no trajectory's first error is known.
    """
    pairs = [(g, p or {}) for g, p in zip(gold, predicted, strict=True) if first_error_is_known(g)]
    return sum(first_error(g) == first_error(p) for g, p in pairs) / len(pairs) if pairs else None


def first_error_accuracy_strict(
    gold: Sequence[GoldLabels], predicted: Sequence[PredictedLabels | None]
) -> float | None:
    """Like `first_error_accuracy`, but a missing prediction is wrong and foreign labels are ignored.

    Right means: every labelled step before the gold's first −1 is predicted, as 0 or +1, and that step as −1;
    in a clean trajectory every labelled step is predicted, as 0 or +1. So leaving a prediction out never
    helps.
    """
    pairs = [(g, p) for g, p in zip(gold, predicted, strict=True) if first_error_is_known(g)]
    return sum(_is_found(g, p) for g, p in pairs) / len(pairs) if pairs else None


def _is_found(gold: GoldLabels, predicted: PredictedLabels | None) -> bool:
    if predicted is None:
        return False
    error = first_error(gold)
    known = [index for index, label in gold.items() if label is not None]
    before = [index for index in known if error is None or index < error]
    unharmed = all(predicted.get(index) in (0, 1) for index in before)
    return unharmed and (error is None or predicted.get(error) == -1)


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """Both rules for N trajectories.

    Attributes:
        known: [N] whether the gold's first error is known; the others are left out.
        erroneous: [N] whether the gold has a −1.
        published: [N] right by the published rule.
        strict: [N] right by the strict rule.
    """

    known: Mask
    erroneous: Mask
    published: Mask
    strict: Mask


def first_errors(gold: GoldArrays, judge: JudgeArrays) -> FirstErrors:
    """The array form of both rules."""
    labelled = gold.labels != MISSING
    error = gold.first_position(gold.labels == -1)
    flagged = gold.first_position(labelled & ((judge.labels == -1) | (judge.labels == MISSING)))
    predicted = gold.first_position(judge.labels == -1)
    claimed = np.minimum(_message_index(gold, predicted), judge.foreign_first_error)
    # At the gold's own first error the first flag must be a predicted −1, not a missing label.
    named = (error == NO_ERROR) | (_at(judge.labels, error) == -1)
    return FirstErrors(
        known=error <= gold.first_position(~labelled),
        erroneous=error != NO_ERROR,
        published=claimed == _message_index(gold, error),
        strict=judge.judged & (flagged == error) & named,
    )


def _message_index(gold: GoldArrays, positions: Ints) -> Ints:
    return np.where(positions == NO_ERROR, NO_ERROR, _at(gold.message_index, positions))


def _at(values: Labels | Ints, positions: Ints) -> Ints:
    """The value at each position; 0 where the position is NO_ERROR."""
    padded = np.append(values.astype(np.int64), 0)
    return padded[np.minimum(positions, len(values))]
