"""Fits temperature and −1 threshold on development queries; reports them there and on held-out queries.

The order is that of use: first the temperature, then the threshold, which is one of the tempered p₋₁.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from prm.errors import ConfigError, InputError
from prm.evaluation.arrays import ABSENT, FAILED, GoldArrays, JudgeArrays, Mask, encode_gold, encode_judge
from prm.evaluation.calibration.before_after import before_and_after
from prm.evaluation.calibration.error_threshold import METRICS, check_metric, choose_threshold
from prm.evaluation.calibration.parameters import KEY, SCHEMA, Parameters, calibrated
from prm.evaluation.calibration.rows import outcome_rows, step_rows
from prm.evaluation.calibration.temperature import COLDEST, HOTTEST, fit_temperature
from prm.evaluation.intervals import check_resampling
from prm.evaluation.matching import Matched, check_distinct, common_protocol, match
from prm.types import Prediction, Trajectory
from prm.version import __version__

log = logging.getLogger(__name__)

MIN_QUERIES = 2
"""Development queries with probabilities: fewer have no say over others."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a calibration is fitted.

    Attributes:
        metric: What the −1 threshold is chosen for; of `METRICS`.
        dev_share: Share of the queries to fit on, in (0, 1]; the others are held out and reported on.
        bootstrap: Draws for the intervals on held-out queries; 0 = none.
        seed: Of the division of the queries and of the draws.
    """

    metric: str = METRICS[0]
    dev_share: float = 0.5
    bootstrap: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        check_metric(self.metric)
        if not 0 < self.dev_share <= 1:
            raise ConfigError.at("--dev-share", "must be above 0 and at most 1", self.dev_share, "give for example 0.5")
        check_resampling(self.bootstrap, self.seed)


def fit_calibration(
    gold: Sequence[Trajectory], predictions: Sequence[Prediction], options: FitOptions
) -> dict[str, Any]:
    """The content of calibration.json.

    Args:
        gold: Development data.
        predictions: One judge's records, matched by key.
        options: See `FitOptions`.

    Returns:
        schema, prm_version, settings, predictions (counts); temperature (steps, final) and error_threshold with
        reasons of what is None under ``undefined``; development and held_out (see `before_and_after`).

    Raises:
        InputError: No gold, duplicate gold, no matching prediction, no probabilities, calibrated predictions, or
        too few queries.
        ProtocolError: Gold and predictions follow different label protocols.
    """
    if not gold:
        raise InputError.at("gold", "must hold at least one record", 0, "give a file with labels")
    check_distinct(gold)
    protocol = common_protocol([("the gold", gold), ("predictions", predictions)])
    _refuse_calibrated(predictions)
    matched = match(gold, predictions, "predictions")
    arrays, _, _ = encode_gold(gold)
    judge = encode_judge(arrays, matched.predictions)
    development = _development_queries(arrays, options)
    _check_enough(arrays, judge, development, options)
    own = _only(arrays, judge, development)
    parameters = _fit(*own, options.metric)
    held_out = None
    if options.dev_share < 1:
        held_out = _reported(*_only(arrays, judge, ~development), parameters, options)
    return {
        "schema": SCHEMA,
        "prm_version": __version__,
        "settings": {**asdict(options), "resampled": "queries", "protocol": protocol},
        "predictions": _counts(matched, judge),
        **_as_block(parameters, options),
        "development": _reported(*own, parameters, replace(options, bootstrap=0)),
        "held_out": held_out,
    }


def _refuse_calibrated(predictions: Sequence[Prediction]) -> None:
    for prediction in predictions:
        if KEY in prediction.extra:
            raise InputError.at(
                "predictions",
                "records must be a judge's own, not calibrated ones",
                prediction.key,
                "give the file that was calibrated",
            )


def _development_queries(gold: GoldArrays, options: FitOptions) -> Mask:
    """[Q] whether a query is fitted on: a share of them at random, whatever the order of the records."""
    development = np.zeros(gold.n_queries, bool)
    shuffled = np.random.default_rng(options.seed).permutation(gold.n_queries)
    development[shuffled[: round(options.dev_share * gold.n_queries)]] = True
    return development


def _check_enough(gold: GoldArrays, judge: JudgeArrays, development: Mask, options: FitOptions) -> None:
    usable = np.zeros(gold.n_queries, bool)
    for rows in (step_rows(gold, judge), outcome_rows(gold, judge)):
        usable[rows.query] = True
    if not usable.any():
        raise InputError.at(
            "predictions",
            "a labelled step or run must have step_probs or final_prob",
            "none",
            "only a judge with probabilities can be calibrated",
        )
    fitted, kept = int(np.sum(usable & development)), int(np.sum(usable & ~development))
    if fitted < MIN_QUERIES:
        raise InputError.at(
            "gold",
            f"at least {MIN_QUERIES} development queries must have probabilities",
            fitted,
            "give more queries or a larger --dev-share",
        )
    if options.dev_share < 1 and kept == 0:
        raise InputError.at(
            "gold",
            "at least one held-out query must have probabilities",
            kept,
            "give more queries, a smaller --dev-share, or --dev-share 1 to hold nothing out",
        )


def _only(gold: GoldArrays, judge: JudgeArrays, queries: Mask) -> tuple[GoldArrays, JudgeArrays]:
    keep = queries[gold.query]
    return gold.subset(keep), judge.subset(gold, keep)


def _fit(gold: GoldArrays, judge: JudgeArrays, metric: str) -> Parameters:
    temperatures = Parameters(
        fit_temperature(step_rows(gold, judge)), fit_temperature(outcome_rows(gold, judge)), error_threshold=None
    )
    for name, value in (("steps", temperatures.steps), ("final", temperatures.final)):
        if value is not None and not COLDEST * 1.01 < value < HOTTEST / 1.01:
            log.warning("the temperature of %s lies at its bound, %.3g: there is too little to fit it on", name, value)
    return replace(temperatures, error_threshold=choose_threshold(gold, calibrated(judge, temperatures), metric))


def _reported(gold: GoldArrays, judge: JudgeArrays, parameters: Parameters, options: FitOptions) -> dict[str, Any]:
    return before_and_after(gold, judge, calibrated(judge, parameters), options.bootstrap, options.seed)


def _as_block(parameters: Parameters, options: FitOptions) -> dict[str, Any]:
    reasons = {
        "temperature.steps": (parameters.steps, "no labelled development step has probabilities"),
        "temperature.final": (parameters.final, "no development run of known outcome has final_prob"),
        "error_threshold": (
            parameters.error_threshold,
            f"no development step has a label and probabilities, or {options.metric} is undefined there",
        ),
    }
    undefined = {name: reason for name, (value, reason) in reasons.items() if value is None}
    if options.dev_share == 1:
        undefined["held_out"] = "every query is development data"
    return {**parameters.as_record(), "undefined": undefined}


def _counts(matched: Matched, judge: JudgeArrays) -> dict[str, int]:
    return {
        "matched": int(np.sum(judge.status != ABSENT)),
        "failed": int(np.sum(judge.status == FAILED)),
        "missing": int(np.sum(judge.status == ABSENT)),
        "unmatched": matched.unmatched,
        "superseded": matched.superseded,
    }
