"""Counts from which every rate follows, so that a point value, a source and a bootstrap draw are one formula.

A tally is a column of counts that may be summed over trajectories and queries; a rate is a ratio of such
sums.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from prm.evaluation.arrays import MISSING, Floats, GoldArrays, JudgeArrays
from prm.evaluation.first_error import first_errors
from prm.types import LABELS

COLUMNS = (
    *("steps", "hits", "predicted"),
    *("gold_-1", "gold_0", "gold_1", "hit_-1", "hit_0", "hit_1"),
    *("first", "first_published", "first_strict", "error", "error_hits", "clean", "clean_hits"),
    *("runs", "exact", "outcomes", "outcome_hits", "outcome_strict", "outcome_given"),
)

UNDEFINED = {
    "step_acc": "no gold step is labelled",
    "coverage": "no gold step is labelled",
    "step_exact": "no gold trajectory has a labelled step",
    "first_err_acc": "no gold trajectory's first error is known",
    "first_err_acc_strict": "no gold trajectory's first error is known",
    "error_acc": "no gold trajectory has a -1 step",
    "clean_acc": "no gold trajectory is free of -1 steps",
    "error_f1": "gold has no erroneous or no clean trajectory",
    "recall_-1": "no gold step is -1",
    "recall_0": "no gold step is 0",
    "recall_1": "no gold step is 1",
    "macro_recall": "no gold step is labelled",
    "final_acc": "no gold outcome is known",
    "final_acc_strict": "no gold outcome is known",
    "final_coverage": "no gold outcome is known",
}
"""Why a rate has no value, by rate."""


def trajectory_tallies(gold: GoldArrays, judge: JudgeArrays) -> Floats:
    """[N, K] the counts of each trajectory, in the order of `COLUMNS`."""
    labelled = gold.labels != MISSING
    hit = labelled & (gold.labels == judge.labels)
    steps, hits = gold.per_trajectory(labelled), gold.per_trajectory(hit)
    found = first_errors(gold, judge)
    error, clean = found.known & found.erroneous, found.known & ~found.erroneous
    outcome_known = gold.outcome != MISSING
    outcome_given = judge.judged & (judge.final != MISSING)
    outcome_hit = outcome_known & ((gold.outcome == 1) == (judge.final == 1))
    columns = (
        steps,
        hits,
        gold.per_trajectory(labelled & (judge.labels != MISSING)),
        *(gold.per_trajectory(gold.labels == label) for label in LABELS),
        *(gold.per_trajectory(hit & (gold.labels == label)) for label in LABELS),
        *(found.known, found.known & found.published, found.known & found.strict),
        *(error, error & found.strict, clean, clean & found.strict),
        *(steps > 0, (steps > 0) & (hits == steps)),
        *(outcome_known, outcome_hit, outcome_hit & outcome_given, outcome_known & outcome_given),
    )
    return np.stack([column.astype(np.float64) for column in columns], axis=1)


def rates(sums: Floats) -> dict[str, Floats]:
    """Every rate from summed tallies; NaN where a denominator is 0.

    Args:
        sums: [..., K] sums over any set of trajectories, draws along the leading axes.

    Returns:
        Name → [...]:
        step_acc = matching / labelled steps (a missing prediction is wrong);
        coverage = predicted / labelled steps;
        step_exact = share of trajectories with every labelled step right;
        recall_ℓ = steps rightly predicted ℓ / steps labelled ℓ; macro_recall = mean over the classes that
        occur;
        first_err_acc, first_err_acc_strict: see `prm.evaluation.first_error`;
        error_acc, clean_acc = the strict rule on trajectories with / without a gold −1;
        error_f1 = their harmonic mean (ProcessBench, arXiv 2412.06559);
        final_acc = share with (predicted outcome == +1) == (gold outcome == +1), as published: a missing
        prediction counts as "no success"; final_acc_strict = the same, missing is wrong; final_coverage =
        outcomes predicted.
    """
    of = {name: sums[..., number] for number, name in enumerate(COLUMNS)}
    recall = {f"recall_{label}": ratio(of[f"hit_{label}"], of[f"gold_{label}"]) for label in LABELS}
    error, clean = ratio(of["error_hits"], of["error"]), ratio(of["clean_hits"], of["clean"])
    return {
        "step_acc": ratio(of["hits"], of["steps"]),
        "first_err_acc": ratio(of["first_published"], of["first"]),
        "first_err_acc_strict": ratio(of["first_strict"], of["first"]),
        "error_acc": error,
        "clean_acc": clean,
        "error_f1": harmonic_mean(error, clean),
        "step_exact": ratio(of["exact"], of["runs"]),
        **recall,
        "macro_recall": mean_of_defined(np.stack(list(recall.values()))),
        "final_acc": ratio(of["outcome_hits"], of["outcomes"]),
        "final_acc_strict": ratio(of["outcome_strict"], of["outcomes"]),
        "final_coverage": ratio(of["outcome_given"], of["outcomes"]),
        "coverage": ratio(of["predicted"], of["steps"]),
    }


def ratio(numerator: npt.NDArray[np.float64], denominator: npt.NDArray[np.float64]) -> Floats:
    """numerator / denominator, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(denominator == 0, np.nan, np.divide(numerator, denominator)))


def harmonic_mean(a: Floats, b: Floats) -> Floats:
    """2ab / (a + b); 0 where both are 0, NaN where one is NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(a + b == 0, 0.0, 2 * a * b / (a + b)))


def mean_of_defined(values: Floats) -> Floats:
    """Mean over the first axis without NaN; NaN where all are."""
    return ratio(np.nansum(values, axis=0), np.sum(~np.isnan(values), axis=0).astype(np.float64))


def per_query(gold: GoldArrays, values: Floats) -> Floats:
    """[N, K] → [Q, K] summed over the trajectories of each query."""
    columns = [np.bincount(gold.query, weights=column, minlength=gold.n_queries) for column in values.T]
    return np.stack(columns, axis=1)


def as_number(value: float | np.floating[npt.NBitBase]) -> float | None:
    """A float, None for NaN."""
    return None if np.isnan(value) else float(value)


def reasons(values: Mapping[str, float | None]) -> dict[str, str]:
    """The reason of every rate that is None."""
    return {name: UNDEFINED[name] for name, value in values.items() if value is None and name in UNDEFINED}
