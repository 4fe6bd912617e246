"""Step metrics as short functions, for trainers and for people who want one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from prm.evaluation.arrays import MISSING, GoldArrays, JudgeArrays, encode_gold, encode_judge
from prm.evaluation.matching import match
from prm.evaluation.tallies import as_number, rates, trajectory_tallies
from prm.types import LABELS, Prediction, StepLabel, Trajectory


def step_accuracy(
    gold: Sequence[Mapping[int, StepLabel | None]], predicted: Sequence[Mapping[int, StepLabel] | None]
) -> float | None:
    """StepAcc = matching labels / labelled steps, pooled over trajectories (arXiv 2603.14465).

    Args:
        gold: [N] message index → label; None = unknown, left out.
        predicted: [N] message index → predicted label; what is absent (or a whole None) is wrong.

    Returns:
        The share in [0, 1]; None where no step is labelled.
    """
    hits = steps = 0
    for truth, guess in zip(gold, predicted, strict=True):
        known = {index: label for index, label in truth.items() if label is not None}
        hits += sum((guess or {}).get(index) == label for index, label in known.items())
        steps += len(known)
    return hits / steps if steps else None


def confusion(gold: GoldArrays, judge: JudgeArrays) -> list[list[int]]:
    """3×3 counts, rows gold −1, 0, +1, columns predicted; without missing predictions and unknown gold."""
    both = (gold.labels != MISSING) & (judge.labels != MISSING)
    cells = 3 * (gold.labels[both].astype(np.int64) + 1) + judge.labels[both] + 1
    table: list[list[int]] = np.bincount(cells, minlength=9).reshape(3, 3).tolist()
    return table


def label_share(judge: JudgeArrays) -> dict[str, float | None]:
    """Share of each label among the predictions for steps, by "-1", "0", "1"; None if there are none."""
    given = judge.labels[judge.labels != MISSING]
    return {str(label): float(np.mean(given == label)) if len(given) else None for label in LABELS}


def summary(gold: Sequence[Trajectory], predictions: Sequence[Prediction]) -> dict[str, float | None]:
    """The numbers a training log wants, in one pass and without intervals.

    Returns:
        step_acc, first_err_acc, first_err_acc_strict, error_f1, macro_recall, recall_neg, recall_zero,
        recall_pos, final_acc, final_acc_strict, final_coverage, coverage, n_steps, and the share of each
        predicted label (share_neg, share_zero, share_pos); None = undefined. See
        `prm.evaluation.tallies.rates`.

    Raises:
        InputError: No prediction is for a gold trajectory.
    """
    arrays, _, _ = encode_gold(gold)
    judge = encode_judge(arrays, match(gold, predictions, "predictions").predictions)
    values = {name: as_number(float(v)) for name, v in rates(trajectory_tallies(arrays, judge).sum(axis=0)).items()}
    share = label_share(judge)
    kept = (
        *("step_acc", "first_err_acc", "first_err_acc_strict", "error_f1", "macro_recall"),
        *("final_acc", "final_acc_strict", "final_coverage", "coverage"),
    )
    return {
        **{name: values[name] for name in kept},
        **{f"recall_{word}": values[f"recall_{label}"] for label, word in LABEL_WORDS.items()},
        **{f"share_{word}": share[str(label)] for label, word in LABEL_WORDS.items()},
        "n_steps": float(np.sum(arrays.labels != MISSING)),
    }


LABEL_WORDS: dict[StepLabel, str] = {-1: "neg", 0: "zero", 1: "pos"}
"""The labels as they stand in the names of metrics."""
