"""Everything that is measured, put together as metrics.json (schema ``prm.metrics/1``).

Fractions lie in [0, 1]; what is undefined is None with its reason under ``undefined``, never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from prm.errors import ConfigError, InputError
from prm.evaluation.arrays import encode_gold, encode_judge
from prm.evaluation.baselines import ALWAYS_POSITIVE, always_positive
from prm.evaluation.comparison import correlation, pairs
from prm.evaluation.gold_block import gold_block
from prm.evaluation.intervals import Resampling, check_resampling
from prm.evaluation.judge_blocks import judge_blocks, with_counts
from prm.evaluation.matching import check_distinct, common_protocol, match
from prm.evaluation.protocol_comparison import check_independent, protocols_block
from prm.evaluation.significance import versus_baseline
from prm.types import Prediction, Trajectory
from prm.version import __version__

SCHEMA = "prm.metrics/1"


def evaluate(
    gold: Sequence[Trajectory],
    judges: Mapping[str, Sequence[Prediction]],
    *,
    baselines: Mapping[str, Sequence[Prediction]] | None = None,
    independent: Mapping[str, Sequence[Prediction]] | None = None,
    ensembles: Mapping[str, Mapping[str, Any]] | None = None,
    bootstrap: int = 2000,
    seed: int = 0,
) -> dict[str, Any]:
    """Measures judges against gold.

    Args:
        gold: The truth; label-only records are fine.
        judges: Name → its predictions, matched by key.
        baselines: Further baselines beside always_positive, e.g. from `fitted_baselines`.
        independent: Judge → predictions of the same judge that judge every step alone (the protocol
            `independent`). They are compared with the judge's own under ``protocols``, on Best-of-N and on how
            often both give the same label; they never meet the gold's step labels, which follow another protocol
            and are not comparable.
        ensembles: Which of the judges were put together from others, and how; they are left out of the correlation.
        bootstrap: Resamplings of the queries for intervals and p-values; 0 = none.
        seed: Of the resampling and of the folds.

    Returns:
        The content of metrics.json.

    Raises:
        InputError: There is no gold, two gold records share a key, or none of a judge's predictions is for
        the gold.
        ProtocolError: Gold and predictions follow different label protocols, or `independent` holds predictions
        of another protocol or of the judge's own.
        ConfigError: An option is out of range, two judges or baselines share a name, or `independent` names no
        judge.
    """
    baselines = {ALWAYS_POSITIVE: always_positive(gold), **(baselines or {})}
    check_resampling(bootstrap, seed)
    _check(gold, judges, baselines)
    protocol = common_protocol([("the gold", gold), *judges.items()])
    followed = check_independent(judges, independent or {}, protocol)
    matched = {name: match(gold, p, name) for name, p in {**judges, **baselines}.items()}
    again = {name: match(gold, p, f"{name} (independent)") for name, p in (independent or {}).items()}
    arrays, sources, generators = encode_gold(gold)
    encoded = {name: encode_judge(arrays, m.predictions) for name, m in matched.items()}
    resample = partial(Resampling, draws=bootstrap, seed=seed)
    overall, blocks = judge_blocks(arrays, encoded, sources, generators, resample)
    blocks = {name: with_counts(block, matched[name]) for name, block in blocks.items()}
    points = {name: m.point for name, m in overall.items()}
    draws = {name: m.draws for name, m in overall.items() if m.draws is not None} or None
    versus = versus_baseline(list(judges), ALWAYS_POSITIVE, points, draws)
    return {
        "schema": SCHEMA,
        "prm_version": __version__,
        "settings": {"bootstrap": bootstrap, "seed": seed, "resampled": "queries", "protocol": protocol},
        "gold": gold_block(arrays, sources),
        "judges": {name: {**blocks[name], "versus_always_positive": versus[name]} for name in judges},
        "baselines": {name: blocks[name] for name in baselines},
        "pairs": pairs(judges, baselines, points, draws),
        # An ensemble is no further, independent judge.
        "correlation": correlation({n: blocks[n]["overall"] for n in judges if n not in (ensembles or {})}),
        "ensembles": {name: dict(description) for name, description in (ensembles or {}).items()},
        "protocols": protocols_block(arrays, encoded, again, followed, resample),
    }


def _check(gold: Sequence[Trajectory], judges: Mapping[str, Any], baselines: Mapping[str, Any]) -> None:
    if not gold:
        raise InputError.at("gold", "must hold at least one record", 0, "give a file with labels")
    for name in judges:
        if name in baselines:
            raise ConfigError.at("--predictions", "a judge must not have a baseline's name", name, "rename it")
    check_distinct(gold)
