"""The numbers of one set of units (all, or a source): every pair of raters, and all raters together.

All pairs and α share the bootstrap's draws of queries. Undefined is None with its reason, never NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from prm.evaluation.agreement.kappa import class_against_rest, cohen_kappa, linear_kappa, observed_agreement
from prm.evaluation.agreement.krippendorff import coincidences_by_query, nominal_alpha, ordinal_alpha
from prm.evaluation.agreement.ratings import N_LABELS, Ratings, pair_tables
from prm.evaluation.arrays import MISSING, Floats
from prm.evaluation.intervals import Resampling, interval95
from prm.evaluation.tallies import as_number
from prm.types import LABELS

Statistic: TypeAlias = Callable[[Floats], Floats]
"""Matrices [..., K, K] → values [...], NaN where undefined."""

_PAIR: Mapping[str, Statistic] = {
    "agreement": observed_agreement,
    "kappa": cohen_kappa,
    "kappa_linear": linear_kappa,
}
_PAIR_CLASS: Mapping[str, Statistic] = {"agreement": observed_agreement, "kappa": cohen_kappa}
_ALL: Mapping[str, Statistic] = {"alpha_nominal": nominal_alpha, "alpha_ordinal": ordinal_alpha}
_ALL_CLASS: Mapping[str, Statistic] = {"alpha": nominal_alpha}

NO_UNITS = "both raters labelled none of them"
CHANCE_IS_ONE = "chance agreement is 1: both raters gave one and the same label throughout"
CHANCE_IS_ONE_OF_CLASS = "chance agreement is 1: both raters always gave this label, or neither ever did"
NOT_PAIRED = "none has the labels of two raters"
ONE_VALUE = "only one label occurs, so nothing could have differed"
NO_INTERVAL = "no bootstrap was asked for, or fewer than 2 queries can be resampled"


def agreement_block(names: Sequence[str], ratings: Ratings, bootstrap: int, seed: int) -> dict[str, Any]:
    """Agreement on one set of units.

    Args:
        names: [R] the raters.
        ratings: Their labels.
        bootstrap: Draws B; 0 = no intervals.
        seed: Of the draws.

    Returns:
        counts: units by how many raters labelled them (two or more, one, none);
        pairs: see `_pair_block`, for every two raters; all: see `_all_block`.
    """
    labelled = ratings.n_labelled
    pairs = list(combinations(range(ratings.n_raters), 2))
    tables = [pair_tables(ratings, a, b) for a, b in pairs]
    matrices = coincidences_by_query(ratings.votes(), ratings.query, ratings.n_queries)
    drawn = _draws([*tables, matrices], bootstrap, seed)
    return {
        "counts": {
            "by_two_or_more": int(np.sum(labelled >= 2)),
            "by_one": int(np.sum(labelled == 1)),
            "by_none": int(np.sum(labelled == 0)),
        },
        "pairs": [
            {"a": names[a], "b": names[b], **_only_one(ratings, a, b), **_pair_block(table, draws)}
            for (a, b), table, draws in zip(pairs, tables, drawn[:-1], strict=True)
        ],
        "all": {"raters": ratings.n_raters, **_all_block(int(np.sum(labelled >= 2)), matrices, drawn[-1])},
    }


def _draws(by_query: Sequence[Floats], bootstrap: int, seed: int) -> list[Floats | None]:
    """[B, 3, 3] sums of each [Q, 3, 3] under the same draws; None where nothing is drawn."""
    resampling = Resampling(len(by_query[0]), bootstrap, seed)
    sums = [resampling.add(m.reshape(len(m), N_LABELS * N_LABELS)) for m in by_query]
    # A set that lies in one query cannot be resampled, whatever the other sets hold.
    drawn = [s.draws if _queries(m) >= 2 else None for m, s in zip(by_query, sums, strict=True)]
    return [None if cells is None else cells.reshape(-1, N_LABELS, N_LABELS) for cells in drawn]


def _queries(matrices: Floats) -> int:
    """How many of the queries [Q, K, K] hold anything."""
    return int(np.sum(matrices.sum(axis=(1, 2)) > 0))


def _only_one(ratings: Ratings, a: int, b: int) -> dict[str, int]:
    first, second = ratings.labels[a] != MISSING, ratings.labels[b] != MISSING
    return {"only_a": int(np.sum(first & ~second)), "only_b": int(np.sum(second & ~first))}


def _pair_block(tables: Floats, drawn: Floats | None) -> dict[str, Any]:
    """n, queries, agreement, kappa, kappa_linear, ci95, table (rows a, columns b), by_class, undefined."""
    table = tables.sum(axis=0)
    reason = NO_UNITS if table.sum() == 0 else CHANCE_IS_ONE
    return {
        "n": int(table.sum()),
        "queries": _queries(tables),
        **_measured(_PAIR, table, drawn, reason),
        "table": table.astype(np.int64).tolist(),
        "by_class": {
            str(label): _measured(
                _PAIR_CLASS,
                class_against_rest(table, number),
                None if drawn is None else class_against_rest(drawn, number),
                NO_UNITS if table.sum() == 0 else CHANCE_IS_ONE_OF_CLASS,
            )
            for number, label in enumerate(LABELS)
        },
    }


def _all_block(units: int, by_query: Floats, drawn: Floats | None) -> dict[str, Any]:
    """units with two labels or more, their labels, alpha_nominal, alpha_ordinal, ci95, by_class, undefined."""
    matrix = by_query.sum(axis=0)
    reason = NOT_PAIRED if units == 0 else ONE_VALUE
    return {
        "units": units,
        "labels": round(float(matrix.sum())),
        "queries": _queries(by_query),
        **_measured(_ALL, matrix, drawn, reason),
        "by_class": {
            str(label): _measured(
                _ALL_CLASS,
                class_against_rest(matrix, number),
                None if drawn is None else class_against_rest(drawn, number),
                reason if units == 0 else "all raters always gave this label, or nobody ever did",
            )
            for number, label in enumerate(LABELS)
        },
    }


def _measured(statistics: Mapping[str, Statistic], matrix: Floats, drawn: Floats | None, reason: str) -> dict[str, Any]:
    """Each statistic of a matrix [K, K], its interval from draws [B, K, K], and why what is None is None."""
    values = {name: as_number(float(statistic(matrix))) for name, statistic in statistics.items()}
    block: dict[str, Any] = {
        **values,
        "ci95": {
            name: None if drawn is None or values[name] is None else interval95(statistic(drawn))
            for name, statistic in statistics.items()
        },
    }
    undefined = {name: reason for name, value in values.items() if value is None}
    if drawn is None:
        undefined["ci95"] = NO_INTERVAL
    return {**block, "undefined": undefined} if undefined else block
