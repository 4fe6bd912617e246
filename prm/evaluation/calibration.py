"""Are a judge's probabilities true? Brier score and expected calibration error."""

from __future__ import annotations

from typing import Any

import numpy as np

from prm.evaluation.arrays import MISSING, Floats, GoldArrays, JudgeArrays, Mask
from prm.types import LABELS

N_BINS = 10


def calibration(gold: GoldArrays, judge: JudgeArrays) -> dict[str, Any] | None:
    """The ``calibration`` block of metrics.json; None for a judge without probabilities.

    Returns:
        steps: over labelled steps with probabilities: n, brier (Σ_ℓ (p_ℓ − 1[gold = ℓ])², 0 … 2), ece and
        bins of the most probable label; final: over known outcomes with a probability: n, brier ((p −
        success)², 0 … 1), ece, bins.
    """
    blocks: dict[str, Any] = {}
    if judge.probs is not None:
        blocks["steps"] = _of_steps(gold, judge.probs)
    known = (gold.outcome != MISSING) & ~np.isnan(judge.final_prob) & judge.judged
    if np.any(known):
        p, success = judge.final_prob[known], gold.outcome[known] == 1
        blocks["final"] = {
            "n": len(p),
            "brier": brier_score(p[:, None], success[:, None]),
            **_reliability(p, success),
        }
    return blocks or None


def _of_steps(gold: GoldArrays, probs: Floats) -> dict[str, Any]:
    known = (gold.labels != MISSING) & ~np.isnan(probs).any(axis=1)
    p, truth = probs[known], gold.labels[known][:, None] == np.array(LABELS)
    right = truth[np.arange(len(p)), p.argmax(axis=1)] if len(p) else np.zeros(0, bool)
    confidence = p.max(axis=1) if len(p) else np.zeros(0)
    return {"n": len(p), "brier": brier_score(p, truth), **_reliability(confidence, right)}


def brier_score(probabilities: Floats, truth: Mask) -> float | None:
    """Mean over rows of Σ_c (p_c − truth_c)² (Brier 1950); both are [n, C]. None where n = 0."""
    return float(np.mean(np.sum((probabilities - truth) ** 2, axis=1))) if len(truth) else None


def expected_calibration_error(confidence: Floats, right: Mask, n_bins: int = N_BINS) -> float | None:
    """Σ_bins (n_bin / n) · |mean right − mean confidence|, bins of equal width (Guo et al. 2017).

    None where n = 0.
    """
    bins = reliability_bins(confidence, right, n_bins)
    if not bins:
        return None
    return float(sum(b["n"] * abs(b["accuracy"] - b["confidence"]) for b in bins) / len(confidence))


def reliability_bins(confidence: Floats, right: Mask, n_bins: int = N_BINS) -> list[dict[str, Any]]:
    """The bins that hold anything: lower, upper, n, mean confidence, accuracy. A bin holds (lower, upper]."""
    bin_of = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    counts = np.bincount(bin_of, minlength=n_bins)
    sums = np.bincount(bin_of, weights=confidence, minlength=n_bins)
    hits = np.bincount(bin_of, weights=right.astype(np.float64), minlength=n_bins)
    return [
        {
            "lower": number / n_bins,
            "upper": (number + 1) / n_bins,
            "n": int(counts[number]),
            "confidence": float(sums[number] / counts[number]),
            "accuracy": float(hits[number] / counts[number]),
        }
        for number in np.flatnonzero(counts).tolist()
    ]


def _reliability(confidence: Floats, right: Mask) -> dict[str, Any]:
    return {"ece": expected_calibration_error(confidence, right), "bins": reliability_bins(confidence, right)}
