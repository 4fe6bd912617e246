"""A judge before and after calibration on one set of queries, with intervals for the differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from prm.evaluation.arrays import Floats, GoldArrays, JudgeArrays
from prm.evaluation.calibration.cross_fitting import LABEL_METRICS
from prm.evaluation.calibration.reliability import Scores, measures, outcome_scores, query_sums, step_scores
from prm.evaluation.calibration.rows import Rows, outcome_rows, step_rows
from prm.evaluation.intervals import Resampling, Sums, interval95
from prm.evaluation.tallies import as_number, per_query, rates, trajectory_tallies

_RowsOf: TypeAlias = Callable[[GoldArrays, JudgeArrays], Rows]


@dataclass(frozen=True, slots=True)
class _Part:
    """What is compared: sums per query of either side, and the rates that follow from summed sums.

    Attributes:
        before, after: Of [Q, K].
        rates_of: [..., K] → name → [...].
    """

    before: Sums
    after: Sums
    rates_of: Callable[[Floats], dict[str, Floats]]


def before_and_after(
    gold: GoldArrays, before: JudgeArrays, after: JudgeArrays, bootstrap: int, seed: int
) -> dict[str, Any]:
    """What calibration changed.

    Args:
        gold: The queries that are reported on.
        before, after: The judge as it was, and with tempered probabilities and new labels.
        bootstrap: Draws B over queries; 0 = no intervals.
        seed: Of the draws.

    Returns:
        queries, trajectories; steps, final (each n, and before, after, difference = after − before, ci95 of the
        difference, of nll, ece and brier; None where nothing has probabilities) and labels (the same of
        step_acc, first_err_acc_strict, error_f1). ci95 is None without draws or with fewer than two queries.
    """
    parts = _parts(gold, before, after, Resampling(gold.n_queries, bootstrap, seed))
    blocks = {name: _compared(part) for name, part in parts.items()}
    return {
        "queries": gold.n_queries,
        "trajectories": gold.n_trajectories,
        "steps": _with_rows(blocks["steps"], parts["steps"]),
        "final": _with_rows(blocks["final"], parts["final"]),
        "labels": blocks["labels"],
    }


def _with_rows(block: dict[str, Any], part: _Part) -> dict[str, Any] | None:
    n = int(part.before.total[0])  # the first column of `query_sums`
    return {"n": n, **block} if n else None


def _parts(gold: GoldArrays, before: JudgeArrays, after: JudgeArrays, resampling: Resampling) -> dict[str, _Part]:
    def sums(judge: JudgeArrays, rows_of: _RowsOf, scores_of: Callable[[Rows], Scores]) -> Sums:
        rows = rows_of(gold, judge)
        return resampling.add(query_sums(scores_of(rows), rows.query, gold.n_queries))

    def of_steps(judge: JudgeArrays) -> Sums:
        return sums(judge, step_rows, step_scores)

    def of_outcomes(judge: JudgeArrays) -> Sums:
        return sums(judge, outcome_rows, outcome_scores)

    def of_labels(judge: JudgeArrays) -> Sums:
        return resampling.add(per_query(gold, trajectory_tallies(gold, judge)))

    return {
        "steps": _Part(of_steps(before), of_steps(after), measures),
        "final": _Part(of_outcomes(before), of_outcomes(after), measures),
        "labels": _Part(of_labels(before), of_labels(after), _label_rates),
    }


def _label_rates(sums: Floats) -> dict[str, Floats]:
    found = rates(sums)
    return {name: found[name] for name in LABEL_METRICS}


def _compared(part: _Part) -> dict[str, Any]:
    before, after = part.rates_of(part.before.total), part.rates_of(part.after.total)
    return {
        "before": {name: as_number(float(value)) for name, value in before.items()},
        "after": {name: as_number(float(value)) for name, value in after.items()},
        "difference": {name: as_number(float(after[name] - before[name])) for name in before},
        "ci95": _intervals(part),
    }


def _intervals(part: _Part) -> dict[str, Any] | None:
    if part.before.draws is None or part.after.draws is None:
        return None
    before, after = part.rates_of(part.before.draws), part.rates_of(part.after.draws)
    return {name: interval95(after[name] - before[name]) for name in before}
