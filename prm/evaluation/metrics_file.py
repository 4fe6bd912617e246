"""Everything that is measured, put together as metrics.json (schema ``prm.metrics/1``).

Fractions lie in [0, 1]; what is undefined is None with its reason under ``undefined``, never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prm.errors import ConfigError, InputError
from prm.evaluation.arrays import MISSING, NO_ERROR, GoldArrays, JudgeArrays, Mask, encode_gold, encode_judge
from prm.evaluation.baselines import ALWAYS_POSITIVE, always_positive
from prm.evaluation.calibration import calibration
from prm.evaluation.comparison import correlation, pairs
from prm.evaluation.matching import Matched, check_distinct, check_protocols, match
from prm.evaluation.measure import Measured, measure
from prm.types import LABELS, Prediction, Trajectory
from prm.version import __version__

SCHEMA = "prm.metrics/1"


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
    overall = measure(arrays, encoded, bootstrap, seed)
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


def _check(gold: Sequence[Trajectory], judges: Mapping[str, Any], baselines: Mapping[str, Any], bootstrap: int) -> None:
    if not gold:
        raise InputError.at("gold", "must hold at least one record", 0, "give a file with labels")
    if bootstrap < 0:
        raise ConfigError.at("--bootstrap", "must be 0 or more", bootstrap, "give the number of resamplings")
    for name in judges:
        if name in baselines:
            raise ConfigError.at("--predictions", "a judge must not have a baseline's name", name, "rename it")
    check_distinct(gold)


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
        for name, measured in measure(*_only(gold, judges, gold.source == number), bootstrap, seed).items():
            blocks[name][source] = _source_block(measured)
    return blocks


def _source_block(measured: Measured) -> dict[str, Any]:
    return {**measured.block, "best_of_n": measured.best_of_n}


def _only(gold: GoldArrays, judges: Mapping[str, JudgeArrays], keep: Mask) -> tuple[GoldArrays, dict[str, JudgeArrays]]:
    return gold.subset(keep), {name: judge.subset(gold, keep) for name, judge in judges.items()}


def _best_of_n_by_generator(
    gold: GoldArrays, judges: Mapping[str, JudgeArrays], generators: Sequence[str], bootstrap: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Judge → {"by_generator": agent → Best-of-N among its own runs; None with a reason beside it}."""
    found: dict[str, dict[str, Any]] = {name: {} for name in judges}
    for number, generator in enumerate(generators):
        own, heard = _only(gold, judges, gold.generator == number)
        if own.n_queries < own.n_trajectories:
            for name, measured in measure(own, heard, bootstrap, seed).items():
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
