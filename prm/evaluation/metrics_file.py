"""Everything that is measured, put together as metrics.json (schema ``prm.metrics/1``).

Fractions lie in [0, 1]; what is undefined is None with its reason under ``undefined``, never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prm.errors import ConfigError, InputError
from prm.evaluation.arrays import (
    ABSENT,
    FAILED,
    MISSING,
    NO_ERROR,
    PARTIAL,
    Floats,
    GoldArrays,
    JudgeArrays,
    encode_gold,
    encode_judge,
)
from prm.evaluation.baselines import ALWAYS_POSITIVE, always_positive
from prm.evaluation.best_of_n import Choices, best_of_n, choose
from prm.evaluation.calibration import calibration
from prm.evaluation.comparison import correlation, pairs
from prm.evaluation.intervals import bootstrap_sums, interval95
from prm.evaluation.matching import Matched, check_distinct, check_protocols, match
from prm.evaluation.step_metrics import confusion, label_share
from prm.evaluation.tallies import (
    COLUMNS,
    as_number,
    per_query,
    rates,
    reasons,
    trajectory_tallies,
)
from prm.types import LABELS, Prediction, Trajectory
from prm.version import __version__

SCHEMA = "prm.metrics/1"

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


def evaluate(
    gold: Sequence[Trajectory],
    judges: Mapping[str, Sequence[Prediction]],
    *,
    baselines: Mapping[str, Sequence[Prediction]] | None = None,
    bootstrap: int = 2000,
    seed: int = 0,
) -> dict[str, Any]:
    """Measures judges against gold.

    Args:
        gold: The truth; label-only records are fine.
        judges: Name → its predictions, matched by key.
        baselines: Further baselines beside always_positive, e.g. from `fitted_baselines`.
        bootstrap: Resamplings of the queries for intervals and p-values; 0 = none.
        seed: Of the resampling.

    Returns:
        The content of metrics.json.

    Raises:
        InputError: There is no gold, two gold records share a key, or none of a judge's predictions is for
        the gold.
        ProtocolError: Gold and predictions follow different label protocols.
        ConfigError: An option is out of range, or two judges or baselines share a name.
    """
    baselines = {ALWAYS_POSITIVE: always_positive(gold), **(baselines or {})}
    _check(gold, judges, baselines, bootstrap)
    protocol = check_protocols(gold, judges)
    matched = {name: match(gold, p, name) for name, p in {**judges, **baselines}.items()}
    arrays, sources, generators = encode_gold(gold)
    encoded = {name: encode_judge(arrays, m.predictions) for name, m in matched.items()}
    overall = _measure(arrays, encoded, bootstrap, seed)
    by_source = _by_source(arrays, encoded, sources, overall, bootstrap, seed)
    by_generator = _best_of_n_by_generator(arrays, encoded, generators, bootstrap, seed)
    blocks = {
        name: _judge_block(m, matched[name], arrays, encoded[name], by_source[name], by_generator[name])
        for name, m in overall.items()
    }
    points = {name: m.point for name, m in overall.items()}
    draws = {name: m.draws for name, m in overall.items() if m.draws is not None}
    return {
        "schema": SCHEMA,
        "prm_version": __version__,
        "settings": {"bootstrap": bootstrap, "seed": seed, "resampled": "queries", "protocol": protocol},
        "gold": _gold_block(arrays, sources),
        "judges": {name: blocks[name] for name in judges},
        "baselines": {name: blocks[name] for name in baselines},
        "pairs": pairs(judges, baselines, points, draws or None),
        "correlation": correlation({name: blocks[name]["overall"] for name in judges}),
    }


def _check(
    gold: Sequence[Trajectory], judges: Mapping[str, Any], baselines: Mapping[str, Any], bootstrap: int
) -> None:
    if not gold:
        raise InputError.at("gold", "must hold at least one record", 0, "give a file with labels")
    if bootstrap < 0:
        raise ConfigError.at("--bootstrap", "must be 0 or more", bootstrap, "give the number of resamplings")
    for name in judges:
        if name in baselines:
            raise ConfigError.at(
                "--predictions", "a judge must not have a baseline's name", name, "rename it"
            )
    check_distinct(gold)


def _measure(
    gold: GoldArrays, judges: Mapping[str, JudgeArrays], bootstrap: int, seed: int
) -> dict[str, Measured]:
    """All judges on one set of trajectories, under the same draws."""
    tallies = {name: per_query(gold, trajectory_tallies(gold, judge)) for name, judge in judges.items()}
    choices = {name: choose(gold, judge) for name, judge in judges.items()}
    statistics = {name: np.hstack([tallies[name], choices[name].statistics]) for name in judges}
    drawn = _draws(statistics, gold.n_queries, bootstrap, seed)
    return {
        name: _measured(gold, judge, tallies[name], choices[name], None if drawn is None else drawn[name])
        for name, judge in judges.items()
    }


def _draws(
    statistics: Mapping[str, Floats], n_queries: int, bootstrap: int, seed: int
) -> dict[str, Floats] | None:
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


def _by_source(
    gold: GoldArrays,
    judges: Mapping[str, JudgeArrays],
    sources: Sequence[str],
    overall: Mapping[str, Measured],
    bootstrap: int,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Judge → source → block."""
    if len(sources) == 1:  # the same trajectories and the same draws as overall
        return {name: {sources[0]: _source_block(measured)} for name, measured in overall.items()}
    blocks: dict[str, dict[str, Any]] = {name: {} for name in judges}
    for number, source in enumerate(sources):
        for name, measured in _measure(*_only(gold, judges, gold.source == number), bootstrap, seed).items():
            blocks[name][source] = _source_block(measured)
    return blocks


def _source_block(measured: Measured) -> dict[str, Any]:
    return {**measured.block, "best_of_n": measured.best_of_n}


def _only(
    gold: GoldArrays, judges: Mapping[str, JudgeArrays], keep: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[GoldArrays, dict[str, JudgeArrays]]:
    return gold.subset(keep), {name: judge.subset(gold, keep) for name, judge in judges.items()}


def _best_of_n_by_generator(
    gold: GoldArrays, judges: Mapping[str, JudgeArrays], generators: Sequence[str], bootstrap: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Judge → {"by_generator": agent → Best-of-N among its own runs; None with a reason beside it}."""
    found: dict[str, dict[str, Any]] = {name: {} for name in judges}
    for number, generator in enumerate(generators):
        own, heard = _only(gold, judges, gold.generator == number)
        if own.n_queries < own.n_trajectories:
            for name, measured in _measure(own, heard, bootstrap, seed).items():
                found[name][generator] = measured.best_of_n
    if generators and any(found.values()):
        return {name: {"by_generator": blocks} for name, blocks in found.items()}
    reason = "every agent has one run per query" if generators else "no gold record names its generator"
    return {name: {"by_generator": None, "by_generator_undefined": reason} for name in judges}


def _judge_block(
    measured: Measured,
    matched: Matched,
    gold: GoldArrays,
    judge: JudgeArrays,
    by_source: Mapping[str, Any],
    by_generator: Mapping[str, Any],
) -> dict[str, Any]:
    block = {
        "overall": {
            **measured.block,
            "unmatched_predictions": matched.unmatched,
            "superseded_predictions": matched.superseded,
        },
        "by_source": by_source,
        "best_of_n": {**measured.best_of_n, **by_generator},
    }
    calibrated = calibration(gold, judge)
    return block if calibrated is None else {**block, "calibration": calibrated}


def _gold_block(gold: GoldArrays, sources: Sequence[str]) -> dict[str, Any]:
    return {
        **_gold_counts(gold),
        "by_source": {s: _gold_counts(gold.subset(gold.source == i)) for i, s in enumerate(sources)},
    }


def _gold_counts(gold: GoldArrays) -> dict[str, Any]:
    return {
        "trajectories": gold.n_trajectories,
        "queries": gold.n_queries,
        "steps": int(np.sum(gold.labels != MISSING)),
        "unknown_steps": int(np.sum(gold.labels == MISSING)),
        "label_counts": {str(label): int(np.sum(gold.labels == label)) for label in LABELS},
        "outcome_counts": {str(label): int(np.sum(gold.outcome == label)) for label in LABELS},
        "unknown_outcomes": int(np.sum(gold.outcome == MISSING)),
        "with_errors": int(np.sum(gold.first_position(gold.labels == -1) != NO_ERROR)),
    }
