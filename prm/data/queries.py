"""Which trajectories belong to one query, across sources: what no split may cut.

Two trajectories are of one query when they
- share `data_source` and `query_index`,
- share the question's text (case, spacing and Unicode form aside),
- share all messages, or
- come from different sources and share the first user message,
and so on transitively (union-find).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterator

from prm.data.digest import digest, messages_digest
from prm.data.readers.chat import first_user_text
from prm.types import Trajectory


class Groups:
    """Disjoint sets of hashable values (union-find with path halving)."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, value: Hashable) -> Hashable:
        """The representative of a value's set; a new value is its own."""
        parent = self._parent
        parent.setdefault(value, value)
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    def unite(self, first: Hashable, second: Hashable) -> None:
        """Makes one set of two."""
        self._parent[self.find(second)] = self.find(first)


def normalise_text(text: str) -> str:
    """Unicode NFKC, case folded, runs of white space as one space: what makes two questions the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def query_name(trajectory: Trajectory) -> str:
    """The name of a trajectory's query within its source; without `query_index`, of its text."""
    if trajectory.identity.query_index is not None:
        return "\x1f".join(trajectory.query)
    text = normalise_text(query_text(trajectory))
    return "\x1f".join((trajectory.identity.data_source, "text", f"{digest(text):016x}"))


def query_text(trajectory: Trajectory) -> str:
    """What the query asks: the question, else the first user message."""
    return trajectory.question or first_user_text(trajectory.messages)


def shared_traits(trajectory: Trajectory) -> Iterator[tuple[str, int]]:
    """Digests that make two trajectories one query wherever they come from."""
    if trajectory.question and (question := normalise_text(trajectory.question)):
        yield "question", digest(question)
    yield "messages", messages_digest(trajectory)


class QueryGroups:
    """Collects trajectories and says which query each belongs to."""

    def __init__(self) -> None:
        self._groups = Groups()
        self._first_user: dict[int, set[tuple[str, str]]] = {}
        self._names: set[str] = set()
        self._held: list[tuple[str, Hashable]] = []

    def add(self, trajectory: Trajectory) -> str:
        """Takes one trajectory; returns its query's name within its source (see `query_name`)."""
        name = query_name(trajectory)
        self._names.add(name)
        for trait in shared_traits(trajectory):
            self._groups.unite(name, trait)
        if text := normalise_text(first_user_text(trajectory.messages)):
            self._first_user.setdefault(digest(text), set()).add((trajectory.identity.data_source, name))
        return name

    def hold_together(self, name: str, value: Hashable) -> None:
        """Notes that all queries with the same `value` go to one side: a whole template, a task family."""
        self._held.append((name, value))

    @property
    def named(self) -> int:
        """How many queries there are by the sources' own account."""
        return len(self._names)

    def resolve(self) -> dict[str, str]:
        """Query name → name of its group (its first member by alphabet, whatever the input order)."""
        for openings in self._first_user.values():
            # Within one source the source's own query index is believed: many tasks open with "Hi".
            if len({source for source, _ in openings}) > 1:
                first, *others = sorted(name for _, name in openings)
                for other in others:
                    self._groups.unite(first, other)
        group_of: dict[Hashable, str] = {}
        return {name: group_of.setdefault(self._groups.find(name), name) for name in sorted(self._names)}

    def resolve_held(self) -> dict[str, str]:
        """Like `resolve`, with what `hold_together` named as one group: what a split must not cut."""
        for name, value in self._held:
            self._groups.unite(name, ("held together", value))
        return self.resolve()
