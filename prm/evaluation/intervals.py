"""Bootstrap over queries: resample whole groups, because runs of one query and steps of one run are not
independent.

A draw is a vector of Q multinomial weights; the sums of a draw are weights @ statistics. All judges share the
draws, so differences of two judges are paired.
"""

from __future__ import annotations

import numpy as np

from prm.evaluation.arrays import Floats

_CELLS_AT_ONCE = 4_000_000  # weights held in memory at a time: 32 MB


def bootstrap_sums(statistics: Floats, draws: int, seed: int) -> Floats:
    """Sums of per-query statistics under `draws` resamplings of the queries with replacement.

    Args:
        statistics: [Q, K] sums per query.
        draws: B.
        seed: Draws depend on it, on B and on Q only.

    Returns:
        [B, K].
    """
    n_queries = len(statistics)
    rng = np.random.default_rng(seed)
    sums = np.empty((draws, statistics.shape[1]))
    at_once = max(1, _CELLS_AT_ONCE // max(1, n_queries))
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        chosen = rng.integers(0, n_queries, size=(rows, n_queries))
        chosen += (np.arange(rows) * n_queries)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=rows * n_queries).reshape(rows, n_queries)
        sums[start : start + rows] = weights.astype(np.float64) @ statistics
    return sums


def interval95(values: Floats) -> list[float] | None:
    """The 2.5th and 97.5th percentile of the draws [B] that are defined; None where none is."""
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        return None
    low, high = np.percentile(defined, [2.5, 97.5])
    return [float(low), float(high)]


def two_sided_p_value(differences: Floats) -> float | None:
    """p of "no difference" from paired bootstrap differences [B].

    2 · min(share of draws ≤ 0, share ≥ 0), each with one draw added so that p is never 0 (Davison & Hinkley
    1997, §4.2), at most 1.
    """
    defined = differences[~np.isnan(differences)]
    if len(defined) == 0:
        return None
    fewer = min(np.sum(defined <= 0), np.sum(defined >= 0))
    return float(min(1.0, 2 * (fewer + 1) / (len(defined) + 1)))
