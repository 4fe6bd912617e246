"""Where the boxes of a milestone graph stand: rows from top to bottom, and the rows in an order with few crossings.

A graph is a mapping of a name to the names that it comes *after*. Knows neither pixels nor runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Graph: TypeAlias = Mapping[str, Sequence[str]]

MAX_IN_ROW = 4
"""More boxes side by side than this leave no room for their names; the rest go a row further down."""

_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a row.

    Attributes:
        name: The milestone; None = only an edge passes here.
        key: What edges run through: unique among all slots.
    """

    key: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph in rows.

    Attributes:
        rows: From top to bottom; each from left to right.
        edges: (from, to) → the keys that the line runs through, both ends included.
    """

    rows: tuple[tuple[Slot, ...], ...]
    edges: Mapping[tuple[str, str], tuple[str, ...]]


def acyclic(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The graph with the names that it has itself only, and without the edges that close a circle."""
    kept: dict[str, tuple[str, ...]] = {}
    for name, after in graph.items():
        known = [one for one in dict.fromkeys(after) if one in graph and one != name]
        kept[name] = tuple(one for one in known if name not in _ancestors(one, kept))
    return kept


def _ancestors(name: str, graph: Graph) -> set[str]:
    found: set[str] = set()
    left = list(graph.get(name, ()))
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += graph.get(one, ())
    return found


def reduced(graph: Graph) -> dict[str, tuple[str, ...]]:
    """An acyclic graph without the edges that longer ways imply."""
    ancestors = {name: _ancestors(name, graph) for name in graph}
    return {
        name: tuple(one for one in after if not any(one in ancestors[other] for other in after))
        for name, after in graph.items()
    }


def ranks(graph: Graph) -> dict[str, int]:
    """Name → its row: below everything that it comes after, and no row fuller than `MAX_IN_ROW`."""
    found: dict[str, int] = {}
    taken: dict[int, int] = {}
    for name in _sorted(graph):
        rank = 1 + max((found[one] for one in graph[name]), default=-1)
        while taken.get(rank, 0) >= MAX_IN_ROW:
            rank += 1
        found[name] = rank
        taken[rank] = taken.get(rank, 0) + 1
    return found


def _sorted(graph: Graph) -> list[str]:
    """The names, each behind all that it comes after, otherwise as given."""
    done: dict[str, None] = {}
    left = list(graph)
    while left:
        ready = [name for name in left if all(one in done for one in graph[name])]
        done |= dict.fromkeys(ready)
        left = [name for name in left if name not in done]
    return list(done)


def laid_out(graph: Graph) -> Layout:
    """The rows of a graph and the ways of its edges.

    Args:
        graph: Name → what it comes after; edges that close a circle or that longer ways imply are left out.
    """
    drawn = reduced(acyclic(graph))
    rank = ranks(drawn)
    rows: list[list[Slot]] = [[] for _ in range(1 + max(rank.values(), default=-1))]
    for name, row in rank.items():
        rows[row].append(Slot(name, name))
    edges = {}
    for name, after in drawn.items():
        for one in after:
            edges[one, name] = _way(one, name, rank, rows)
    return Layout(tuple(tuple(row) for row in _ordered(rows, edges)), edges)


def _way(first: str, last: str, rank: Mapping[str, int], rows: list[list[Slot]]) -> tuple[str, ...]:
    """The keys on the way; rows between get a slot to pass through."""
    passed = [f"{first}\0{last}\0{row}" for row in range(rank[first] + 1, rank[last])]
    for row, key in enumerate(passed, rank[first] + 1):
        rows[row].append(Slot(key, None))
    return (first, *passed, last)


def _ordered(rows: list[list[Slot]], edges: Mapping[tuple[str, str], tuple[str, ...]]) -> list[list[Slot]]:
    """Each row sorted by where its neighbours in the next rows stand, downwards and upwards in turn."""
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for way in edges.values():
        for upper, lower in pairwise(way):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        places = {slot.key: _place(row, number) for row in rows for number, slot in enumerate(row)}
        for row in rows if down else reversed(rows):
            neighbours = above if down else below
            row.sort(key=lambda slot: _mean([places[key] for key in neighbours.get(slot.key, [])], places[slot.key]))
            places |= {slot.key: _place(row, number) for number, slot in enumerate(row)}
    return rows


def _place(row: Sequence[Slot], number: int) -> float:
    return (number + 0.5) / len(row)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
