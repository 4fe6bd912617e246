"""The leaves of a JSON value with their paths, however deep it is nested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prm.reach.judging.provenance_records import Path


def leaves_of(value: Any) -> Iterator[tuple[Path, Any]]:
    """Every leaf (text, number, boolean, null) of `value` in order with the path to it; empty containers have none."""
    for path, part, is_key in parts_of(value):
        if not is_key:
            yield path, part


def parts_of(value: Any) -> Iterator[tuple[Path, Any, bool]]:
    """The leaves of `value` and the keys of its objects, in order, as (path, leaf or key, whether it is a key)."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, part = stack.pop()
        if isinstance(part, dict | Mapping):
            children: list[tuple[Path, Any]] = [((*path, key), child) for key, child in part.items()]
            for child_path, _ in children:
                yield child_path, child_path[-1], True
            stack += reversed(children)
        elif isinstance(part, list | tuple):
            stack += [((*path, number), part[number]) for number in range(len(part) - 1, -1, -1)]
        else:
            yield path, part, False


def path_text(path: Path) -> str:
    """A path as people write it: ``a.b[0]``; "" for the root."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
