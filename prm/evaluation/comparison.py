"""Judges against each other: paired differences, and how step and outcome accuracy correlate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import pearsonr

from prm.evaluation.arrays import Floats
from prm.evaluation.intervals import interval95, two_sided_p_value
from prm.evaluation.tallies import as_number

PAIRED_METRICS = (
    "step_acc",
    "first_err_acc",
    "first_err_acc_strict",
    "error_f1",
    "macro_recall",
    "final_acc",
)


def pairs(
    judges: Iterable[str],
    baselines: Iterable[str],
    points: Mapping[str, Mapping[str, Floats]],
    draws: Mapping[str, Mapping[str, Floats]] | None,
) -> list[dict[str, Any]]:
    """The ``pairs`` block of metrics.json: every two judges, and every judge against every baseline.

    Args:
        judges, baselines: Names.
        points: Name → metric → value.
        draws: Name → metric → [B] values, the same draws for all; None = no intervals.

    Returns:
        a, b, metric, difference (a − b), ci95, p_value (see `two_sided_p_value`); null where undefined.
    """
    names = list(judges)
    both = [*combinations(names, 2), *((judge, baseline) for judge in names for baseline in baselines)]
    return [_difference(a, b, metric, points, draws) for a, b in both for metric in PAIRED_METRICS]


def _difference(
    a: str,
    b: str,
    metric: str,
    points: Mapping[str, Mapping[str, Floats]],
    draws: Mapping[str, Mapping[str, Floats]] | None,
) -> dict[str, Any]:
    drawn = None if draws is None else draws[a][metric] - draws[b][metric]
    return {
        "a": a,
        "b": b,
        "metric": metric,
        "difference": as_number(float(points[a][metric] - points[b][metric])),
        "ci95": None if drawn is None else interval95(drawn),
        "p_value": None if drawn is None else two_sided_p_value(drawn),
    }


def correlation(judges: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The ``correlation`` block: Pearson r over judges of StepAcc against final_acc.

    Args:
        judges: Name → its ``overall`` block. A judge that predicts no outcome at all is left out.

    Returns:
        pearson_r, p_value, n; with ``undefined`` (the reason) where r has no value.
    """
    told = [j for j in judges.values() if j["final_coverage"] and j["step_acc"] is not None]
    x, y = np.array([j["step_acc"] for j in told]), np.array([j["final_acc"] for j in told])
    reason = None
    if len(told) < 3:
        reason = "fewer than 3 judges predict outcomes"
    elif np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = "all judges have the same accuracy"
    if reason is not None:
        return {"pearson_r": None, "p_value": None, "n": len(told), "undefined": reason}
    result = pearsonr(x, y)
    return {"pearson_r": float(result.statistic), "p_value": float(result.pvalue), "n": len(told)}
