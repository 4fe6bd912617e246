"""Reach@K: the share of a run's required milestones that are reached within K calls."""

from __future__ import annotations

import numpy as np

from prm.reach.metrics.estimate import OUTCOMES
from prm.reach.metrics.report_values import CurvePoint
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays, ratio

MAX_K = 100
"""How far a curve goes beyond the cap at most; what is reached later still counts in the rates."""

NOTHING_REQUIRED = "no run has a required milestone that can be scored"
UNKNOWN = "the outcome of every run is unknown"


def reach_within(arrays: VerdictArrays, k: float) -> Floats:
    """[N] the share of required milestones that are reached within k calls; NaN where none can be scored."""
    counted = arrays.required & ~np.isnan(arrays.reached)
    within = counted & (arrays.calls <= k)
    return ratio(within.sum(axis=1), counted.sum(axis=1))


def all_reached_within(arrays: VerdictArrays, k: float) -> Floats:
    """[N] 1 where all required milestones are reached within k calls; NaN where `all_reached` is unknown.

    The runs that count are the same for every k, so the curve never falls.
    """
    in_time = (~arrays.required | (arrays.calls <= k)).all(axis=1)
    ever = arrays.outcomes[:, OUTCOMES.index("all_reached")]
    return np.where(np.isnan(ever), np.nan, ever * in_time)


def longest_curve(arrays: VerdictArrays, cap: int) -> int:
    """K of the last point: the cap, or the last reach of any run where that is later (up to `MAX_K`)."""
    reached = arrays.calls[np.isfinite(arrays.calls)]
    return max(cap, int(min(MAX_K, reached.max(initial=1))))


def reach_curve(arrays: VerdictArrays, cap: int, means: ScenarioMeans) -> Later[tuple[CurvePoint, ...]]:
    """The points K = 1 … `longest_curve`."""
    points = [
        (
            k,
            means.of_runs(reach_within(arrays, k), NOTHING_REQUIRED),
            means.of_runs(all_reached_within(arrays, k), UNKNOWN),
        )
        for k in range(1, longest_curve(arrays, cap) + 1)
    ]
    return lambda: tuple(CurvePoint(k, reach(), every()) for k, reach, every in points)
