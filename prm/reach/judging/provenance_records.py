"""Where argument values came from: the values that provenance speaks in. Knows no rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Origin = Literal["schema", "result", "user", "system", "derivation", "echo", "unsupported", "unknown"]
"""In order of precedence; `unknown`: a result that might have held it is missing from the log."""

Path = tuple[str | int, ...]
"""Keys and positions from the root of a JSON value to a leaf."""


@dataclass(frozen=True, slots=True)
class Source:
    """The place that a value was taken from.

    Attributes:
        index: Index of the message that holds it.
        call_id: The call whose result it is; None for user and system text and for schemas.
        path: Where in the result (or, for an echo of the agent's own arguments, in those); () for text.
        echo: The result only repeats an argument of its own call.
    """

    index: int
    call_id: str | None = None
    path: Path = ()
    echo: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a call's arguments and where it came from.

    Attributes:
        batch: Index of the assistant message.
        call_id: The call.
        tool: Its tool.
        path: From the root of the arguments to the leaf.
        value: The leaf.
        kind: The declared class of its parameter: ref, value, enum, flag, free or None = undeclared.
        origin: The first origin in order of precedence that explains it.
        sources: Every place that explains it under that origin, and every result that does under a lower one.
            Of many places the first and the last are kept.
        fabricated: An ungrounded `ref`; None = unknown.
        low_information: The value says too little to prove anything; see `low_information`.
    """

    batch: int
    call_id: str
    tool: str
    path: Path
    value: Any
    kind: str | None
    origin: Origin
    sources: tuple[Source, ...] = ()
    fabricated: bool | None = False
    low_information: bool = False


@dataclass(frozen=True)
class Provenance:
    """All leaves of a run, in order of the calls.

    An *edge* runs from a call whose result holds a value to the later call that uses it.
    """

    leaves: tuple[Leaf, ...]

    def of_call(self, call_id: str) -> tuple[Leaf, ...]:
        """The leaves of one call."""
        return tuple(self._by_call.get(call_id, ()))

    def uses_of(self, call_id: str) -> tuple[tuple[Leaf, Source], ...]:
        """Each leaf that was taken from this call's result, with the place in it."""
        return tuple(self._by_source.get(call_id, ()))

    @cached_property
    def _by_call(self) -> Mapping[str, Sequence[Leaf]]:
        found: defaultdict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            found[leaf.call_id].append(leaf)
        return found

    @cached_property
    def _by_source(self) -> Mapping[str, Sequence[tuple[Leaf, Source]]]:
        found: defaultdict[str, list[tuple[Leaf, Source]]] = defaultdict(list)
        for leaf in self.leaves:
            for source in leaf.sources:
                if source.call_id is not None:
                    found[source.call_id].append((leaf, source))
        return found
