"""What each site is trained towards: a weighted distribution over the classes, zero where nothing is known.

The loss is linear in its targets, so class weights, soft labels, label smoothing, the weight of the outcome and
masked labels are all one matrix. Labels are counted here, and a run without any is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prm.data.encode import IGNORED, Encoder, Row, Site
from prm.data.label_account import LabelAccount
from prm.errors import ConfigError, InputError
from prm.types import LABELS, Trajectory

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """How labels become targets.

    Attributes:
        class_weights: Weight of each class (−1, 0, +1) at the steps.
        outcome_weight: Weight of the outcome site; 0 leaves it untrained.
        label_smoothing: Share of a hard label that is spread over all classes.
    """

    class_weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    outcome_weight: float = 1.0
    label_smoothing: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """A row and its targets.

    Attributes:
        row: The encoded row.
        targets: `[S, 3] float32`; a row of zeros where nothing is known.
        labelled: Sites with a target; the loss is normalised by their sum over the global batch.
        trajectory: Number of the trajectory it came from.
    """

    row: Row
    targets: FloatArray
    labelled: int
    trajectory: int


def site_targets(row: Row, options: TargetOptions) -> FloatArray:
    """The targets of a row's sites, `[S, 3] float32`: w · ((1 − ε) · label + ε / 3), zero where unknown."""
    return np.stack([_target(site, options) for site in row.sites]).astype(np.float32)


def _target(site: Site, options: TargetOptions) -> npt.NDArray[np.float64]:
    target = np.zeros(len(LABELS))
    if site.soft_label is not None:
        target[:] = site.soft_label
    elif site.class_id != IGNORED:
        target[site.class_id] = 1.0
        target = (1.0 - options.label_smoothing) * target + options.label_smoothing / len(LABELS)
    weights = np.asarray(options.class_weights) if site.message_index is not None else options.outcome_weight
    weighted: npt.NDArray[np.float64] = target * weights
    return weighted


def training_rows(
    trajectories: Sequence[Trajectory], encoder: Encoder, options: TargetOptions
) -> tuple[list[TrainingRow], LabelAccount]:
    """Every row that holds a label, and the account of all labels.

    A window without a label of its own is left out (nothing is lost: its steps are unknown).

    Raises:
        InputError: A trajectory has no label at all.
    """
    rows, total = [], LabelAccount()
    for number, trajectory in enumerate(trajectories):
        encoded, account = encoder.encode_with_account(trajectory)
        total.add(account)
        made = [_training_row(row, number, options) for row in encoded]
        if not any(row.labelled for row in made):
            raise InputError(
                f"{':'.join(trajectory.key)}: a run to train on must have a label, got none; label it or leave it out"
            )
        rows += [row for row in made if row.labelled]
    return rows, total


def _training_row(row: Row, trajectory: int, options: TargetOptions) -> TrainingRow:
    targets = site_targets(row, options)
    return TrainingRow(row, targets, int((targets.sum(-1) > 0).sum()), trajectory)


def class_weights(option: str | None, trajectories: Sequence[Trajectory]) -> tuple[float, float, float]:
    """The weights that the option `class_weights` names.

    "balanced" is n / (3 · n_c), as in scikit-learn, scaled so that the mean over the labelled steps is 1.

    Raises:
        ConfigError: Neither "balanced" nor three positive numbers.
    """
    if option is None:
        return (1.0, 1.0, 1.0)
    if option == "balanced":
        counts = Counter(label for t in trajectories for label in t.step_labels.values() if label is not None)
        present = [label for label in LABELS if counts[label]]
        total = sum(counts.values())
        weights = {label: total / (len(present) * counts[label]) for label in present}
        return (weights.get(-1, 1.0), weights.get(0, 1.0), weights.get(1, 1.0))
    try:
        numbers = [float(part) for part in option.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != len(LABELS) or not all(0 < number < float("inf") for number in numbers):
        raise ConfigError.at("class_weights", "must be balanced or three positive numbers", option, "write e.g. 1,2,1")
    return (numbers[0], numbers[1], numbers[2])
