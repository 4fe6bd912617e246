"""Which query goes where: train, validation, test, or the folds of a cross-validation.

Queries, never trajectories, are drawn; every function gives the same answer for the same queries and seed, in
whatever order they come. Strata (source, share of successful runs) are spread evenly by systematic sampling:
queries are ordered by stratum, at random within one, and every n-th is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from prm.errors import InputError

Part: TypeAlias = Literal["train", "validation", "test"]
PARTS: tuple[Part, Part, Part] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Query:
    """A group that is kept whole.

    Attributes:
        name: Unique name.
        source: The source it counts for.
        success_share: Share of its runs with outcome +1 among those with an outcome; None where none has one.
        trajectories: How many runs it has.
    """

    name: str
    source: str
    success_share: float | None
    trajectories: int


def order_queries(queries: Collection[Query], seed: int) -> list[Query]:
    """The queries by source and success, in random order within each stratum."""
    return sorted(
        queries, key=lambda query: (query.source, _success_stratum(query), draw(query.name, seed), query.name)
    )


def draw(name: str, seed: int) -> str:
    """A number of a name that a seed decides, as hex digits; independent of every other name."""
    return sha256(f"{seed}\x1f{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _success_stratum(query: Query) -> int:
    """0 unknown, 1 never, 2 less than half, 3 at least half, 4 always."""
    share = query.success_share
    if share is None:
        return 0
    return 1 if share == 0.0 else 4 if share == 1.0 else 2 if share < 0.5 else 3


def split_queries(queries: Collection[Query], test_share: float, validation_share: float, seed: int) -> dict[str, Part]:
    """Query name → part. Shares are of the queries; each share above 0 gets at least one query.

    Raises:
        InputError: There are too few queries for the shares.
    """
    parts: dict[str, Part] = dict.fromkeys((query.name for query in queries), "train")
    test = take_share(queries, test_share, seed, len(queries))
    parts.update(dict.fromkeys(test, "test"))
    rest = [query for query in queries if query.name not in test]
    validation = take_share(rest, validation_share, seed + 1, len(queries))
    parts.update(dict.fromkeys(validation, "validation"))
    if "train" not in parts.values():
        shares = f"test share {test_share}, validation share {validation_share}"
        raise InputError.at(
            "split",
            f"{shares} must leave a query to train on",
            f"{len(queries)} queries",
            "give more data or smaller shares",
        )
    return parts


def take_share(queries: Collection[Query], share: float, seed: int, total: int) -> set[str]:
    """Names of round(share · total) of the queries, at least one where share > 0, spread over the strata."""
    count = min(len(queries), max(1, round(share * total))) if share > 0 else 0
    ordered = order_queries(queries, seed)
    return {ordered[(2 * k + 1) * len(ordered) // (2 * count)].name for k in range(count)}


def fold_queries(queries: Collection[Query], folds: int, seed: int) -> dict[str, int]:
    """Query name → fold in 0 … folds − 1; folds differ by at most one query, in every source too.

    Raises:
        InputError: Fewer queries than folds, or fewer than two folds.
    """
    if not 2 <= folds <= len(queries):
        raise InputError.at(
            "--folds", f"must be from 2 to the number of queries ({len(queries)})", folds, "choose another"
        )
    ordered = order_queries(queries, seed)
    return {query.name: position % folds for position, query in enumerate(ordered)}


def parts_of_fold(
    queries: Sequence[Query], fold_of: dict[str, int], fold: int, validation_share: float, seed: int
) -> dict[str, Part]:
    """Query name → part when `fold` is tested: validation is drawn from the other folds.

    Raises:
        InputError: Nothing is left to train on.
    """
    rest = [query for query in queries if fold_of[query.name] != fold]
    parts: dict[str, Part] = dict.fromkeys(fold_of, "test")
    parts.update(split_queries(rest, 0.0, validation_share, seed + fold))
    return parts
