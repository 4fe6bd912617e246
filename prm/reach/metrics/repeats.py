"""What repeated runs of one scenario say: c of R runs succeed.

Runs are drawn without replacement, so that the numbers are unbiased whatever R is (Chen et al. 2021, arXiv
2107.03374, for any of k; Yao et al. 2024, arXiv 2406.12045, for all of k).
"""

from __future__ import annotations

import numpy as np

from prm.reach.metrics.node_values import Ability
from prm.reach.metrics.verdict_arrays import Floats

MIN_RUNS = 2
"""Fewer say nothing of stability."""


def all_of(successes: Floats, runs: Floats, max_k: int) -> Floats:
    """How likely k of the runs all succeed: C(c, k) / C(R, k).

    Args:
        successes, runs: [S] c and R.
        max_k: K.

    Returns:
        [K, S] for k = 1 … K; NaN where k > R.
    """
    k = np.arange(max_k)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(runs > k, np.maximum(successes - k, 0) / (runs - k), np.nan)
    return np.asarray(np.cumprod(factors, axis=0))


def any_of(successes: Floats, runs: Floats, max_k: int) -> Floats:
    """How likely at least one of k runs succeeds: 1 − C(R − c, k) / C(R, k); shapes as in `all_of`."""
    return np.asarray(1 - all_of(runs - successes, runs, max_k))


def flip_rate(successes: Floats, runs: Floats) -> Floats:
    """How likely two of the runs differ: 2 c (R − c) / (R (R − 1)), [S]; NaN where R < 2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = 2 * successes * (runs - successes) / (runs * (runs - 1))
    return np.where(runs >= MIN_RUNS, rate, np.nan)


def ability(successes: int, runs: int) -> Ability | None:
    """How sure the runs are of it; None for fewer than two runs.

    None of them: a bottleneck. All: stable. More than half: able but unstable. Fewer: undetermined, since one or two
    may be luck. So of three runs 0, 1, 2, 3 are bottleneck, undetermined, unstable, stable.
    """
    if runs < MIN_RUNS:
        return None
    if successes in (0, runs):
        return "stable" if successes else "bottleneck"
    return "unstable" if 2 * successes > runs else "undetermined"
