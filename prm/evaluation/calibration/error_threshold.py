"""From which p₋₁ on is a step called wrong?

Under a threshold t a step is predicted −1 where p₋₁ ≥ t, else the likelier of 0 and +1. Only steps that have
both a label and probabilities are decided anew: nothing that a judge left out is filled in.

Every step, and every run's first error, is right for the thresholds of one span low < t ≤ high. So a metric
at all candidates is a count of spans, however many steps there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prm.errors import ConfigError
from prm.evaluation.arrays import MISSING, NO_ERROR, Floats, GoldArrays, JudgeArrays, Labels, Mask
from prm.evaluation.tallies import harmonic_mean, ratio

METRICS = ("error_f1", "step_acc", "first_err_acc_strict")
"""What a threshold may be chosen for; the first is the default."""

MAX_CANDIDATES = 200


def check_metric(metric: str) -> None:
    """Refuses a metric that no threshold can be chosen for.

    Raises:
        ConfigError: It is none of `METRICS`.
    """
    if metric not in METRICS:
        raise ConfigError.at("--metric", f"must be one of {', '.join(METRICS)}", metric, "choose one of them")


def under_threshold(probabilities: Floats, threshold: float | Floats) -> Labels:
    """−1 where p₋₁ ≥ t, else the likelier of 0 and +1 (0 where they are equal).

    Args:
        probabilities: [n, 3].
        threshold: t, or one for each row [n].

    Returns:
        [n].
    """
    return np.where(probabilities[:, 0] >= threshold, -1, _harmless(probabilities)).astype(np.int8)


def _harmless(probabilities: Floats) -> Labels:
    """The likelier of 0 and +1."""
    return (probabilities[:, 2] > probabilities[:, 1]).astype(np.int8)


def relabelled(judge: JudgeArrays, threshold: float | Floats) -> JudgeArrays:
    """The judge with the labels of its decided steps under a threshold (one, or one for each step [S])."""
    if judge.probs is None:
        return judge
    labels = np.where(_decided(judge), under_threshold(judge.probs, threshold), judge.labels)
    return replace(judge, labels=labels)


def _decided(judge: JudgeArrays) -> Mask:
    """[S] steps that a threshold applies to: labelled by the judge, with probabilities."""
    if judge.probs is None:
        return np.zeros(len(judge.labels), bool)
    return np.asarray((judge.labels != MISSING) & ~np.isnan(judge.probs).any(axis=1))


def choose_threshold(gold: GoldArrays, judge: JudgeArrays, metric: str) -> float | None:
    """The candidate with the best metric.

    Of equally good ones the one whose labels agree most with the likeliest labels, then the highest.

    Args:
        gold: Development data.
        judge: Aligned with it.
        metric: Of `METRICS`.

    Returns:
        t; None where no labelled step has a label and probabilities, or the metric is undefined.

    Raises:
        ConfigError: The metric is unknown.
    """
    candidates = candidate_thresholds(gold, judge)
    values = metric_by_threshold(gold, judge, candidates, metric)
    if not len(candidates) or np.all(np.isnan(values)):
        return None
    best = np.flatnonzero(values >= np.nanmax(values) - 1e-12)
    agreement = _agreement_with_likeliest(judge, candidates[best])
    return float(candidates[best[np.flatnonzero(agreement == agreement.max())[-1]]])


def candidate_thresholds(gold: GoldArrays, judge: JudgeArrays) -> Floats:
    """At most `MAX_CANDIDATES` thresholds, ascending, from the quantiles of p₋₁ over the decided labelled steps.

    Each lies halfway between two neighbouring values that occur, so that rounding decides no step. The lowest
    flags every step, the highest none (where no p₋₁ is 1).
    """
    if judge.probs is None:
        return np.zeros(0)
    occurring, counts = np.unique(judge.probs[_decided(judge) & (gold.labels != MISSING), 0], return_counts=True)
    if not len(occurring):
        return occurring
    halfway = (occurring[:-1] + occurring[1:]) / 2
    every = np.concatenate([occurring[:1], halfway, [(occurring[-1] + 1) / 2]])
    if len(every) <= MAX_CANDIDATES:
        return every
    levels = np.linspace(0.0, 1.0, MAX_CANDIDATES - 1) * counts.sum()
    at_quantile = np.searchsorted(np.cumsum(counts), levels)
    return np.asarray(every[np.unique(np.append(at_quantile, len(occurring)))])


def metric_by_threshold(gold: GoldArrays, judge: JudgeArrays, candidates: Floats, metric: str) -> Floats:
    """A metric of `relabelled` under each candidate, as `prm.evaluation.tallies.rates` defines it.

    Args:
        gold, judge: Aligned.
        candidates: [C], ascending.
        metric: Of `METRICS`.

    Returns:
        [C], NaN where undefined.

    Raises:
        ConfigError: The metric is unknown.
    """
    check_metric(metric)
    if metric == "step_acc":
        return _share(_step_spans(gold, judge), gold.labels != MISSING, candidates)
    spans, known, erroneous = _first_error_spans(gold, judge)
    if metric == "first_err_acc_strict":
        return _share(spans, known, candidates)
    error, clean = (_share(spans, known & part, candidates) for part in (erroneous, ~erroneous))
    return harmonic_mean(error, clean)


@dataclass(frozen=True, slots=True)
class _Spans:
    """Right for the thresholds in (low, high]; never where low ≥ high.

    Attributes:
        low, high: [n].
    """

    low: Floats
    high: Floats


def _share(spans: _Spans, counted: Mask, candidates: Floats) -> Floats:
    """[C] share of the counted spans that hold each candidate; NaN where none is counted."""
    right = counted & (spans.low < spans.high)
    enter = np.searchsorted(candidates, spans.low[right], side="right")
    leave = np.searchsorted(candidates, spans.high[right], side="right")
    size = len(candidates) + 1
    held = np.cumsum(np.bincount(enter, minlength=size) - np.bincount(leave, minlength=size))[:-1]
    return ratio(held.astype(np.float64), np.full(len(candidates), float(counted.sum())))


def _step_spans(gold: GoldArrays, judge: JudgeArrays) -> _Spans:
    """[S] where each step's label is right."""
    flagged_up_to, harmless = _labels_by_threshold(judge)
    error = gold.labels == -1
    low = np.where(error | (harmless == gold.labels), np.where(error, -np.inf, flagged_up_to), np.inf)
    return _Spans(low, np.where(error, flagged_up_to, np.inf))


def _labels_by_threshold(judge: JudgeArrays) -> tuple[Floats, Labels]:
    """[S] the highest threshold under which a step is −1, and its label under higher ones.

    A step that is not decided keeps its label under every threshold; one without a label is never −1.
    """
    decided, fixed_error = _decided(judge), judge.labels == -1
    flagged_up_to = np.where(fixed_error, np.inf, -np.inf)
    if judge.probs is None:
        return flagged_up_to, judge.labels
    harmless = np.where(decided, _harmless(judge.probs), judge.labels)
    return np.where(decided, judge.probs[:, 0], flagged_up_to), harmless


def _first_error_spans(gold: GoldArrays, judge: JudgeArrays) -> tuple[_Spans, Mask, Mask]:
    """[N] where each run is right by the strict rule, whether its first error is known, whether it has one."""
    labelled = gold.labels != MISSING
    error = gold.first_position(gold.labels == -1)
    flagged_up_to, _ = _labels_by_threshold(judge)
    missing = labelled & (judge.labels == MISSING)
    # Before the first error no step may be flagged, and a missing prediction is as bad as a flag.
    harmful_up_to = np.where(missing, np.inf, np.where(labelled, flagged_up_to, -np.inf))
    before = np.arange(len(labelled)) < error[gold.owner]
    low = _largest_by_run(gold, np.where(before, harmful_up_to, -np.inf))
    erroneous = error != NO_ERROR
    high = np.full(gold.n_trajectories, np.inf)
    high[erroneous] = flagged_up_to[error[erroneous]]
    known = error <= gold.first_position(~labelled)
    return _Spans(np.where(judge.judged, low, np.inf), high), known, erroneous


def _largest_by_run(gold: GoldArrays, values: Floats) -> Floats:
    """[S] → [N]; −∞ for a run without steps."""
    largest = np.full(gold.n_trajectories, -np.inf)
    owners, starts = np.unique(gold.owner, return_index=True)
    if len(owners):
        largest[owners] = np.maximum.reduceat(values, starts)
    return largest


def _agreement_with_likeliest(judge: JudgeArrays, candidates: Floats) -> Floats:
    """[C] share of decided steps with the same label as without a threshold."""
    decided = _decided(judge)
    probabilities = judge.probs[decided] if judge.probs is not None else np.zeros((0, 3))
    p, likeliest_is_error = probabilities[:, 0], probabilities.argmax(axis=1) == 0
    spans = _Spans(np.where(likeliest_is_error, -np.inf, p), np.where(likeliest_is_error, p, np.inf))
    return _share(spans, np.ones(len(p), bool), candidates)
