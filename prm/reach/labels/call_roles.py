"""What each call of a run is to the spec: the named calls and milestones that it matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.logic import Truth
from prm.reach.judging.milestones import source_tools
from prm.reach.log.run import ToolCall


class CallRoles:
    """The calls of one judged run, by what they match."""

    def __init__(self, judged: JudgedRun) -> None:
        self._judged = judged

    @cached_property
    def names(self) -> Mapping[int, tuple[str, ...]]:
        """Ordinal → the milestones and named calls that the call matches for certain."""
        return _by_ordinal((ordinal, name) for _, name, ordinal, truth in self._matches() if truth is True)

    @cached_property
    def milestones(self) -> Mapping[int, tuple[str, ...]]:
        """Ordinal → the milestones whose source the call matches, or may match."""
        return _by_ordinal((ordinal, name) for kind, name, ordinal, _ in self._matches() if kind == "milestone")

    @cached_property
    def tools_of(self) -> Mapping[str, frozenset[str]]:
        """Milestone → the tools whose calls touch it."""
        spec = self._judged.spec
        return {
            name: frozenset(tool for way in milestone.ways for tool in source_tools(spec, way.source))
            for name, milestone in spec.milestones.items()
        }

    @cached_property
    def milestone_tools(self) -> frozenset[str]:
        """The tools of all milestones: only of these does the spec say what is right."""
        return frozenset().union(*self.tools_of.values())

    def is_off(self, call: ToolCall) -> bool:
        """Whether the spec says what the tool is for, and the call is certainly none of that."""
        return call.tool in self.milestone_tools and call.ordinal not in self._matched

    @cached_property
    def _matched(self) -> frozenset[int]:
        return frozenset(ordinal for _, _, ordinal, _ in self._matches())

    def _matches(self) -> Iterator[tuple[str, str, int, Truth]]:
        """(``call`` or ``milestone``, its name, a call that matches or may, which of the two)."""
        for key, matches in self._judged.swept.matches.items():
            kind, _, name = key.partition(":")
            if kind in ("call", "milestone"):
                for ordinal, truth in matches.items():
                    yield kind, name.partition("/")[0], ordinal, truth


def _by_ordinal(pairs: Iterator[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, dict[str, None]] = {}
    for ordinal, name in pairs:
        found.setdefault(ordinal, {})[name] = None
    return {ordinal: tuple(names) for ordinal, names in found.items()}
