"""All judges on one set of trajectories: the whole gold, a source, or the runs of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prm.evaluation.arrays import ABSENT, FAILED, MISSING, PARTIAL, Floats, GoldArrays, JudgeArrays
from prm.evaluation.best_of_n import Choices, best_of_n, choose
from prm.evaluation.intervals import bootstrap_sums, interval95
from prm.evaluation.step_metrics import confusion, label_share
from prm.evaluation.tallies import COLUMNS, as_number, per_query, rates, reasons, trajectory_tallies
from prm.types import LABELS

_INTERVALS = (
    *(
        "step_acc",
        "first_err_acc",
        "first_err_acc_strict",
        "error_acc",
        "clean_acc",
        "error_f1",
        "step_exact",
    ),
    *("macro_recall", "final_acc", "final_acc_strict"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One judge on one set of trajectories.

    Attributes:
        block: Its metrics as in metrics.json.
        best_of_n: Its Best-of-N block.
        point: Rate → value.
        draws: Rate → [B] bootstrap values; None without a bootstrap.
    """

    block: dict[str, Any]
    best_of_n: dict[str, Any]
    point: Mapping[str, Floats]
    draws: Mapping[str, Floats] | None


def measure(gold: GoldArrays, judges: Mapping[str, JudgeArrays], bootstrap: int, seed: int) -> dict[str, Measured]:
    """All judges on one set of trajectories, under the same draws.

    Args:
        gold: The set.
        judges: Name → arrays aligned with it.
        bootstrap: Draws B; 0 = no intervals.
        seed: Of the draws; sets of equally many queries share them.
    """
    tallies = {name: per_query(gold, trajectory_tallies(gold, judge)) for name, judge in judges.items()}
    choices = {name: choose(gold, judge) for name, judge in judges.items()}
    statistics = {name: np.hstack([tallies[name], choices[name].statistics]) for name in judges}
    drawn = _draws(statistics, gold.n_queries, bootstrap, seed)
    return {
        name: _measured(gold, judge, tallies[name], choices[name], None if drawn is None else drawn[name])
        for name, judge in judges.items()
    }


def _draws(statistics: Mapping[str, Floats], n_queries: int, bootstrap: int, seed: int) -> dict[str, Floats] | None:
    """[B, K] sums by judge; None where no draws are asked or fewer than two queries are there."""
    if bootstrap == 0 or n_queries < 2:
        return None
    sums = bootstrap_sums(np.hstack(list(statistics.values())), bootstrap, seed)
    ends = np.cumsum([block.shape[1] for block in statistics.values()])
    return dict(zip(statistics, np.split(sums, ends[:-1], axis=1), strict=True))


def _measured(
    gold: GoldArrays, judge: JudgeArrays, tallies: Floats, choices: Choices, drawn: Floats | None
) -> Measured:
    sums = tallies.sum(axis=0)
    point = rates(sums)
    draws = None if drawn is None else rates(drawn[:, : len(COLUMNS)])
    values = {name: as_number(float(value)) for name, value in point.items()}
    counts = dict(zip(COLUMNS, sums.astype(np.int64).tolist(), strict=True))
    missing_reasons = reasons(values)
    recall = {str(label): values.pop(f"recall_{label}") for label in LABELS}
    block = {
        **values,
        "recall": recall,
        "confusion": confusion(gold, judge),
        "label_share": label_share(judge),
        "trajectories": gold.n_trajectories,
        "steps": counts["steps"],
        **_status_counts(gold, judge),
        "first_err_left_out": gold.n_trajectories - counts["first"],
        "ignored_labels": _ignored_labels(gold, judge),
        "ci95": {name: None if draws is None else interval95(draws[name]) for name in _INTERVALS},
    }
    if draws is None:
        missing_reasons["ci95"] = "no bootstrap was asked for, or there are fewer than 2 queries to resample"
    if missing_reasons:
        block["undefined"] = missing_reasons
    chosen = None if drawn is None else drawn[:, len(COLUMNS) :]
    return Measured(block, best_of_n(choices, chosen), point, draws)


def _status_counts(gold: GoldArrays, judge: JudgeArrays) -> dict[str, int]:
    """Failed records, records that miss some labelled step, and trajectories without a record."""
    unpredicted = gold.per_trajectory((gold.labels != MISSING) & (judge.labels == MISSING)) > 0
    return {
        "failed": int(np.sum(judge.status == FAILED)),
        "partial": int(np.sum(judge.judged & (unpredicted | (judge.status == PARTIAL)))),
        "missing": int(np.sum(judge.status == ABSENT)),
    }


def _ignored_labels(gold: GoldArrays, judge: JudgeArrays) -> int:
    """Predicted labels on messages that are not labelled steps."""
    return int(judge.foreign_labels.sum() + np.sum((gold.labels == MISSING) & (judge.labels != MISSING)))
