"""The sign-flip test of paired differences: if nothing changed, each difference is as likely the other way round.

Fisher's randomisation test for pairs (1935, §21), two-sided on the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from prm.reach.metrics.verdict_arrays import Floats

MAX_EXACT = 20
"""Up to so many pairs every pattern of signs is tried."""

DRAWS = 10_000

_CELLS_AT_ONCE = 4_000_000  # signs held in memory at a time


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A p-value, and whether it is from every pattern of signs or from `DRAWS` of them."""

    p_value: float
    test: Literal["exact", "drawn"]


def sign_flip_tests(differences: Floats, seed: int) -> list[SignFlip | None]:
    """The test of "the mean difference is 0" for each of several columns.

    A pair without a difference changes no sum, so the exact test leaves it out, and serves up to `MAX_EXACT` pairs
    that differ. The drawn one takes the same signs for all columns, and counts the pattern that was seen as one more
    draw, so that p is never 0.

    Args:
        differences: [P, C]; NaN = no pair in this column.
        seed: Of the draws.

    Returns:
        [C]; None where there is no pair.
    """
    values = np.nan_to_num(differences)
    pairs = np.count_nonzero(~np.isnan(differences), axis=0)
    changed = np.count_nonzero(values, axis=0)
    drawn = np.flatnonzero(changed > MAX_EXACT)
    p_drawn = dict(zip(drawn.tolist(), _p_drawn(values[:, drawn], seed), strict=True))
    return [
        _tested(values[:, column], p_drawn.get(column)) if pairs[column] else None for column in range(len(changed))
    ]


def _tested(differences: Floats, drawn: float | None) -> SignFlip:
    return SignFlip(p_exact(differences), "exact") if drawn is None else SignFlip(drawn, "drawn")


def p_exact(differences: Floats) -> float:
    """The share of all patterns of signs whose sum is at least as far from 0 as what was seen; [P] → p.

    Each pattern is one of a first half and one of a second, so the second halves that bring a first one so far are
    looked up among the sorted: 2 · 2^(P/2) sums in place of 2^P.
    """
    threshold = _threshold(differences)
    if threshold <= 0:
        return 1.0
    changed = differences[differences != 0]
    first, second = (_all_sums(half) for half in np.array_split(changed, 2))
    second.sort()
    above = len(second) - np.searchsorted(second, threshold - first, side="left")
    below = np.searchsorted(second, -threshold - first, side="right")
    return float((above.sum() + below.sum()) / (len(first) * len(second)))


def _all_sums(differences: Floats) -> Floats:
    """The sums of all 2^P patterns of signs of [P] differences."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _threshold(differences: Floats) -> float:
    """What a sum must reach, less what rounding may take away."""
    return float(abs(differences.sum()) - 1e-12 * np.abs(differences).sum())


def _p_drawn(differences: Floats, seed: int) -> list[float]:
    """[P, C] → [C]."""
    n_pairs, n_columns = differences.shape
    if not n_columns:
        return []
    thresholds = np.array([_threshold(column) for column in differences.T])
    rng = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // n_pairs)
    reached = np.zeros(n_columns)
    for start in range(0, DRAWS, at_once):
        rows = min(at_once, DRAWS - start)
        bits = np.unpackbits(rng.integers(0, 256, size=(rows, -(-n_pairs // 8)), dtype=np.uint8), axis=1, count=n_pairs)
        # Σ ±d = 2 Σ bit·d − Σ d
        sums = 2 * (bits.astype(np.float64) @ differences) - differences.sum(axis=0)
        reached += (np.abs(sums) >= thresholds).sum(axis=0)
    return [float(count) for count in (reached + 1) / (DRAWS + 1)]
