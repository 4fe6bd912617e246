"""Which values moved from results into later arguments, and whether a path of the spec means a leaf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prm.reach.judging.provenance_records import Leaf, Path, Source


def edges_of(leaves: Mapping[str, Sequence[Leaf]]) -> dict[str, list[tuple[Leaf, Source]]]:
    """Call id → the leaves that were taken from its result, in order; what only repeats its arguments was not."""
    edges: dict[str, list[tuple[Leaf, Source]]] = {}
    for of_call in leaves.values():
        for leaf in of_call:
            for source in leaf.sources:
                if source.call_id is not None and not source.echo:
                    edges.setdefault(source.call_id, []).append((leaf, source))
    return edges


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


def is_target(targets: Iterable[str], leaf: Leaf) -> bool:
    if not targets:
        return True
    for target in targets:
        tool, *path = target.split(".")
        if tool == leaf.tool and covers(path, leaf.path):
            return True
    return False
