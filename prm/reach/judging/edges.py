"""Which values moved from results into later arguments, which calls gave them, and whether a path means a leaf."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from prm.reach.judging.provenance_records import Leaf, Path, Source
from prm.reach.log.run import ToolCall


def edges_of(leaves: Mapping[str, Sequence[Leaf]]) -> dict[str, list[tuple[Leaf, Source]]]:
    """Call id → the leaves that were taken from its result, in order; what only repeats its arguments was not."""
    edges: dict[str, list[tuple[Leaf, Source]]] = {}
    for of_call in leaves.values():
        for leaf in of_call:
            for source in leaf.sources:
                if source.call_id is not None and not source.echo:
                    edges.setdefault(source.call_id, []).append((leaf, source))
    return edges


def with_givers(
    call_ids: Iterable[str],
    leaves: Mapping[str, Sequence[Leaf]],
    calls: Mapping[str, ToolCall],
    stalled: Collection[str] = frozenset(),
) -> frozenset[str]:
    """The calls, and for each of their arguments the first call whose result gave it, and so on back.

    Args:
        call_ids: Where to begin.
        leaves: Call id → the leaves of its arguments.
        calls: Call id → the call.
        stalled: Calls that are not followed back.
    """
    found, waiting = set(call_ids), list(call_ids)
    while waiting:
        call_id = waiting.pop()
        new = set() if call_id in stalled else {*_first_givers(leaves.get(call_id, ()), calls)} - found
        found |= new
        waiting += new
    return frozenset(found)


def _first_givers(leaves: Iterable[Leaf], calls: Mapping[str, ToolCall]) -> Iterator[str]:
    """For each leaf that was taken from results, the first call that gave it."""
    for leaf in leaves:
        ids = (source.call_id for source in leaf.sources if source.call_id is not None and not source.echo)
        given = [calls[call_id] for call_id in ids if call_id in calls]
        if given:
            yield min(given, key=lambda call: call.ordinal).id


def covers(pattern: Sequence[str], path: Path) -> bool:
    """Whether a leaf's path lies below a path of the spec; lists are passed through, ``*`` is any key."""
    position = 0
    for key in path:
        if position == len(pattern):
            return True
        wanted = pattern[position]
        if wanted == "*" or wanted == str(key):
            position += 1
        elif not isinstance(key, int):
            return False
    return position == len(pattern)


def is_target(targets: Collection[str], leaf: Leaf) -> bool:
    """Whether a leaf is (below) one of the targets, ``TOOL`` or ``TOOL.PARAMETER``; no targets mean any leaf."""
    if not targets:
        return True
    for target in targets:
        tool, *path = target.split(".")
        if tool == leaf.tool and covers(path, leaf.path):
            return True
    return False
