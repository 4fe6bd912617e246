"""What became of each milestone: touched, reached, when, and what proves it.

*Touched*: one of its tools was called, whatever the arguments. *Reached*: a call of its source matches, bindings
included, and what it returned was used in one of the declared forms; the earliest use counts. What a missing result
leaves open is unscorable, never missed. Prerequisites order; they never gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from prm.reach.judging.facts import applies
from prm.reach.judging.logic import Truth, every
from prm.reach.judging.patterns import SpecPatterns
from prm.reach.judging.sweep import Swept
from prm.reach.judging.uses import UNKNOWN_USE, Used, Uses
from prm.reach.judging.verdict import Evidence, MilestoneVerdict, Moment
from prm.reach.judging.wording import shown_call
from prm.reach.log.run import ToolCall
from prm.reach.spec.conditions import CallPattern
from prm.reach.spec.model import Milestone, Spec


@dataclass(frozen=True, slots=True)
class _Reach:
    """A way that was gone: the source and its use."""

    source: ToolCall
    used: Used


def milestone_verdicts(spec: Spec, patterns: SpecPatterns, swept: Swept) -> tuple[MilestoneVerdict, ...]:
    """The verdict on each milestone, in the spec's order."""
    judge = _Judge(spec, patterns, swept)
    verdicts = {name: judge.verdict(name, milestone) for name, milestone in spec.milestones.items()}
    return tuple(replace(verdict, after_reached=_after_reached(verdict, verdicts)) for verdict in verdicts.values())


def _after_reached(verdict: MilestoneVerdict, verdicts: Mapping[str, MilestoneVerdict]) -> Truth:
    standings = [verdicts[name].standing for name in verdict.after]
    return every(None if s == "unscorable" else s == "reached" for s in standings if s != "n/a")


class _Judge:
    def __init__(self, spec: Spec, patterns: SpecPatterns, swept: Swept) -> None:
        self._spec, self._patterns, self._swept = spec, patterns, swept
        self._uses = Uses(spec, patterns, swept)
        self._first_calls: dict[str, ToolCall] = {}
        for call in swept.run.calls:
            self._first_calls.setdefault(call.tool, call)

    def verdict(self, name: str, milestone: Milestone) -> MilestoneVerdict:
        """The verdict on one milestone; `after_reached` is not set yet."""
        plain = MilestoneVerdict(
            name=name,
            standing="missed",
            required=not milestone.optional,
            after=milestone.after,
            touched=self._touched(milestone),
            title=milestone.title,
        )
        applicable = applies(milestone.when, milestone.unless, self._swept.facts)
        if applicable is False:
            return replace(plain, standing="n/a")
        reach, is_open = self._reach(name, milestone)
        if reach is not None:
            return self._reached(plain, reach)
        if plain.touched is None and applicable:
            return replace(plain, reason="never_called")
        if applicable is None or is_open:
            return replace(plain, standing="unscorable")
        return replace(
            plain,
            standing="touched",
            source=next(iter(map(_moment, self._sources(name, milestone))), None),
            reason="called_wrong",
            evidence=tuple(self._why_open(name, milestone)),
        )

    def _touched(self, milestone: Milestone) -> Moment | None:
        tools = {tool for way in milestone.ways for tool in source_tools(self._spec, way.source)}
        calls = [self._first_calls[tool] for tool in tools if tool in self._first_calls]
        return _moment(min(calls, key=lambda call: call.ordinal)) if calls else None

    def _reach(self, name: str, milestone: Milestone) -> tuple[_Reach | None, bool]:
        """The earliest reach, and whether a missing result leaves another one open."""
        best: _Reach | None = None
        is_open = False
        for number, _ in enumerate(milestone.ways):
            key = f"milestone:{name}/{number}"
            given = self._swept.facts.truth(self._patterns.way_given.get(key))
            if given is False:
                continue
            for ordinal, matches in self._swept.of(key).items():
                source = self._swept.run.calls[ordinal]
                if self._is_cut(source, key):
                    continue
                certain = matches is True and given is True
                used = self._first_use(name, number, source) if certain else UNKNOWN_USE
                is_open = is_open or used.truth is None
                if used.truth and (best is None or _order(used) < _order(best.used)):
                    best = _Reach(source, used)
        return best, is_open

    def _is_cut(self, source: ToolCall, key: str) -> bool:
        """Whether the answer was cut, where the pattern does not say that a cut one will do."""
        result = self._swept.run.results.get(source.id)
        if result is None or not result.truncated:
            return False
        return not any(p.mentions_truncation for p in self._patterns.by_tool[source.tool] if p.key == key)

    def _first_use(self, name: str, number: int, source: ToolCall) -> Used:
        way = self._spec.milestones[name].ways[number]
        found = [
            self._uses.first_use(use, f"{name}/{number}/{position}", source) for position, use in enumerate(way.used)
        ]
        certain = [used for used in found if used.truth]
        if certain:
            return min(certain, key=_order)
        return next((used for used in found if used.truth is None), Used(False))

    def _reached(self, plain: MilestoneVerdict, reach: _Reach) -> MilestoneVerdict:
        result = self._swept.run.results.get(reach.source.id)
        index = reach.source.batch if result is None else result.index
        source = Evidence(index, f"{shown_call(reach.source)} is its source", reach.source.id)
        return replace(
            plain,
            standing="reached",
            source=_moment(reach.source),
            reached=reach.used.moment,
            used=reach.used.form,
            evidence=(source, *reach.used.evidence),
        )

    def _sources(self, name: str, milestone: Milestone) -> Iterator[ToolCall]:
        for number, _ in enumerate(milestone.ways):
            yield from self._swept.certain(f"milestone:{name}/{number}")

    def _why_open(self, name: str, milestone: Milestone) -> Iterator[Evidence]:
        """Why a touched milestone is not reached: a right call that was not used, or what was wrong with a call."""
        for source in self._sources(name, milestone):
            result = self._swept.run.results.get(source.id)
            cut = result is not None and result.truncated
            what = "was cut and not asked again" if cut else "was not used"
            yield Evidence(source.batch, f"what {shown_call(source)} returned {what}", source.id)
            return
        for number, _ in enumerate(milestone.ways):
            for ordinal, why in self._swept.failures.get(f"milestone:{name}/{number}", {}).items():
                call = self._swept.run.calls[ordinal]
                yield Evidence(call.batch, f"{call.tool}: {why}", call.id)
                return


def source_tools(spec: Spec, source: str | CallPattern) -> frozenset[str]:
    """The tools whose calls touch a milestone."""
    pattern = spec.calls[source] if isinstance(source, str) else source
    tools = frozenset(pattern.tool) or frozenset(spec.tools)
    if pattern.effect is not None:
        tools &= frozenset(name for name, tool in spec.tools.items() if tool.effect == pattern.effect)
    return tools & source_tools(spec, pattern.call) if pattern.call is not None else tools


def _moment(call: ToolCall) -> Moment:
    return Moment(call.batch, call.ordinal)


def _order(used: Used) -> tuple[int, int]:
    return (used.moment.batch, used.moment.call) if used.moment is not None else (1 << 62, 0)
