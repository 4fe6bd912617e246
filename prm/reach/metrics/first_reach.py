"""After how many calls a milestone is first reached; runs that never reach it are kept in, not forgotten."""

from __future__ import annotations

import numpy as np

from prm.reach.metrics.node_values import FirstReach
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats, Grouping


def first_reach(calls: Floats, longest: int, cap: int, means: ScenarioMeans) -> Later[FirstReach]:
    """When a milestone is reached.

    Args:
        calls: [N] calls until then; infinite = never, NaN = left out.
        longest: Up to which K the curve goes.
        cap: A run that never reaches it, or later than this, counts as this many calls in the restricted mean
            (Royston & Parmar 2013: the mean of min(T, τ)).
        means: Makes the estimate.
    """
    restricted = means.of_runs(np.minimum(calls, cap))
    quartiles = _quartiles(calls, means.grouping)
    curve = _curve(calls, longest, means.grouping)
    return lambda: FirstReach(quartiles, restricted(), cap, curve)


def _curve(calls: Floats, longest: int, grouping: Grouping) -> tuple[float | None, ...]:
    """The share that has reached it by call K = 1 … `longest`, macro over scenarios."""
    known = ~np.isnan(calls)
    if not known.any():
        return (None,) * longest
    weights = run_weights(known, grouping)
    reached_at = np.clip(np.where(np.isfinite(calls), calls, longest + 1), 1, longest + 1).astype(np.int64)
    by_call = np.bincount(reached_at, weights, minlength=longest + 2)[1 : longest + 1]
    return tuple(float(share) for share in np.minimum(np.cumsum(by_call), 1.0))


def run_weights(counted: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], grouping: Grouping) -> Floats:
    """[N] weights that sum to 1: every scenario with a counted run the same, shared among its counted runs."""
    counts = grouping.run_counts(counted)
    weights = np.where(counted, 1 / np.maximum(counts, 1)[grouping.scenario], 0.0)
    return np.asarray(weights / max(1, np.count_nonzero(counts)))


def _quartiles(calls: Floats, grouping: Grouping) -> tuple[float, float, float] | None:
    """The quartiles of the runs that reach it, weighted so that every scenario counts the same."""
    reached = np.isfinite(calls)
    if not reached.any():
        return None
    values, weights = calls[reached], run_weights(reached, grouping)[reached]
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order])
    low, middle, high = (weighted_quantile(values[order], shares, q) for q in (0.25, 0.5, 0.75))
    return low, middle, high


def weighted_quantile(values: Floats, shares: Floats, q: float) -> float:
    """The q-quantile of ascending values with cumulated weights `shares`: the mean of two where q falls between."""
    at = int(np.searchsorted(shares, q - 1e-9))
    here = min(at, len(values) - 1)
    after = min(here + 1, len(values) - 1)
    between = abs(shares[here] - q) < 1e-9
    return float((values[here] + values[after]) / 2 if between else values[here])
