"""Which call a result answers, in linear time.

A result names its call by id; an id that several calls bear means the nearest batch before the result that still
waits. One without an id, or with an id that no call bears while calls without ids wait, is matched in order: the
nearest batch, its calls from the first, those of the named tool only. A result that stands before its call is given
to it at the end, where the call got no other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from typing import Generic, Protocol, TypeVar


class Numbered(Protocol):
    """A call, of whatever kind: its number in the run, and its tool."""

    @property
    def ordinal(self) -> int: ...
    @property
    def tool(self) -> str: ...


CallT = TypeVar("CallT", bound=Numbered)


class Names:
    """Gives out ids that are unique within a run."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._repeats: defaultdict[str, int] = defaultdict(int)

    def unique(self, wanted: str) -> str:
        """`wanted`, or ``wanted#n`` for its n-th repeat."""
        name = wanted
        while name in self._taken:
            self._repeats[wanted] += 1
            name = f"{wanted}#{self._repeats[wanted]}"
        self._taken.add(name)
        return name


class OpenCalls(Generic[CallT]):
    """The calls that still wait for a result."""

    def __init__(self) -> None:
        self._answered: set[int] = set()
        self._waiting: defaultdict[Hashable, deque[deque[CallT]]] = defaultdict(deque)

    def add_batch(self, calls: Sequence[CallT], recorded_ids: Sequence[str | None]) -> None:
        """Takes in one batch.

        Args:
            calls: Its calls.
            recorded_ids: The id of each as the log has it; None = none.
        """
        queues: dict[Hashable, deque[CallT]] = {}
        for call, recorded in zip(calls, recorded_ids, strict=True):
            for key in _keys(call, recorded):
                queues.setdefault(key, deque()).append(call)
        for key, queue in queues.items():
            self._waiting[key].append(queue)

    def answer(self, recorded_id: str | None, tool: str | None) -> CallT | None:
        """The call that a result with this id and tool name answers, which then waits no more; None = there is none."""
        if recorded_id is None:
            return self._take(("any", tool))
        return self._take(("id", recorded_id)) or self._take(("nameless", tool))

    def has_seen(self, recorded_id: str | None) -> bool:
        """Whether a call so far bears this id."""
        return ("id", recorded_id) in self._waiting

    def answer_late(self, recorded_id: str | None) -> CallT | None:
        """The first call in the log with this id that still waits, for a result that stands before all of them."""
        queues = self._waiting.get(("id", recorded_id), deque())
        while queues:
            call = self._next(queues[0])
            if call is not None:
                return call
            queues.popleft()
        return None

    def _take(self, key: Hashable) -> CallT | None:
        queues = self._waiting.get(key, deque())
        while queues:
            call = self._next(queues[-1])
            if call is not None:
                return call
            queues.pop()
        return None

    def _next(self, queue: deque[CallT]) -> CallT | None:
        while queue:
            call = queue.popleft()
            if call.ordinal not in self._answered:
                self._answered.add(call.ordinal)
                return call
        return None


def _keys(call: Numbered, recorded_id: str | None) -> list[Hashable]:
    keys: list[Hashable] = [("any", None), ("any", call.tool)]
    if recorded_id is None:
        return [*keys, ("nameless", None), ("nameless", call.tool)]
    return [*keys, ("id", recorded_id)]
