"""The call patterns of a spec, flattened: one list of all that the sweep over a run has to look for, by tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from prm.reach.spec.conditions import Act, CallPattern, Condition, FactTerm, First, Speech, ValueTest
from prm.reach.spec.model import DecidesUse, FlowUse, Information, Spec
from prm.reach.spec.places import Place, parse_place

OUTCOME_PATHS = frozenset({"status", "ok", "error"})
"""A condition on one of these says itself which outcomes it means."""


@dataclass(frozen=True)
class Pattern:
    """One flattened pattern.

    Attributes:
        key: What it stands for: ``call:NAME``, ``milestone:NAME/WAY``, ``flow:NAME/WAY/USE``, ``fact:NAME``,
            ``act:…``.
        tools: The tools it can match.
        conditions: All must hold, its own and those of the named calls it builds on.
        given: Facts that must hold at the moment of the call.
        needs_success: The tool must have done what was asked, since no condition speaks of the outcome.
    """

    key: str
    tools: frozenset[str]
    conditions: tuple[Condition, ...]
    given: tuple[FactTerm, ...] = ()
    needs_success: bool = True

    @cached_property
    def mentions_truncation(self) -> bool:
        """Whether a condition says itself whether a cut answer will do."""
        return any("truncated" in paths_of(condition) for condition in self.conditions)


@dataclass(frozen=True)
class SpecPatterns:
    """All patterns of a spec.

    Attributes:
        by_tool: Tool → the patterns that can match its calls.
        places: Every place that a binding speaks of.
        speeches: Key → a thing said that counts as an act.
        way_given: Milestone pattern's key → the facts that its own pattern asks for at the run's end.
    """

    by_tool: Mapping[str, tuple[Pattern, ...]]
    places: frozenset[Place]
    speeches: Mapping[str, Speech]
    way_given: Mapping[str, FactTerm | None] = field(default_factory=dict)


@lru_cache(maxsize=16)
def patterns_of(spec: Spec) -> SpecPatterns:
    """The patterns of a spec; worked out once for each."""
    found = list(_patterns(spec))
    conditions = [condition for pattern in found for condition in pattern.conditions]
    conditions += [fact.holds for fact in spec.facts.values() if fact.holds is not None]
    tools = {tool for pattern in found for tool in pattern.tools}
    return SpecPatterns(
        by_tool={tool: tuple(pattern for pattern in found if tool in pattern.tools) for tool in tools},
        places=frozenset(place for condition in conditions for place in _places_of(condition)),
        speeches={key: act for key, act in _acts(spec) if isinstance(act, Speech)},
        way_given=dict(_way_given(spec)),
    )


def act_keys(prefix: str, acts: Iterable[Act]) -> tuple[str, ...]:
    """The keys of a list of acts."""
    return tuple(f"act:{prefix}/{number}" for number, _ in enumerate(acts))


def question_keys(name: str, information: Information, spec: Spec) -> tuple[str, ...]:
    """The keys of what counts as asking for a piece of information: its own questions, else those of the spec."""
    own = information.questions
    return act_keys(f"information.{name}", own) if own else act_keys("questions", spec.questions)


def _patterns(spec: Spec) -> Iterator[Pattern]:
    for name, pattern in spec.calls.items():
        yield _flattened(spec, f"call:{name}", pattern)
    for name, milestone in spec.milestones.items():
        for number, way in enumerate(milestone.ways):
            source = CallPattern(call=way.source) if isinstance(way.source, str) else way.source
            yield _flattened(spec, f"milestone:{name}/{number}", source.model_copy(update={"given": None}))
            for position, use in enumerate(way.used):
                if use.flow is not None and use.flow.where is not None:
                    yield _taker(spec, f"flow:{name}/{number}/{position}", use.flow)
    for name, fact in spec.facts.items():
        if fact.of is not None:
            of = CallPattern(call=fact.of) if isinstance(fact.of, str) else fact.of
            speaks = fact.holds is not None and not OUTCOME_PATHS.isdisjoint(paths_of(fact.holds))
            yield _flattened(spec, f"fact:{name}", of, outcome_is_meant=speaks)
    for key, act in _acts(spec):
        if isinstance(act, CallPattern):
            # What was demanded was done once it is called; in a minefield it must have happened.
            yield _flattened(spec, key, act, outcome_is_meant=not key.startswith("act:never."))


def _way_given(spec: Spec) -> Iterator[tuple[str, FactTerm | None]]:
    for name, milestone in spec.milestones.items():
        for number, way in enumerate(milestone.ways):
            yield f"milestone:{name}/{number}", None if isinstance(way.source, str) else way.source.given


def _acts(spec: Spec) -> Iterator[tuple[str, Act]]:
    lists: dict[str, tuple[Act, ...]] = {
        "questions": spec.questions,
        "refusals": spec.refusals,
        "legal_exits": spec.acts(spec.legal_exits),
    }
    for name, minefield in spec.never.items():
        lists[f"never.{name}"] = minefield.acts
    for name, information in spec.information.items():
        lists[f"information.{name}"] = information.questions
    for prefix, decides in decisions(spec):
        lists[prefix] = spec.acts(decides.demands)
    for prefix, acts in lists.items():
        yield from zip(act_keys(prefix, acts), acts, strict=True)


def decisions(spec: Spec) -> Iterator[tuple[str, DecidesUse]]:
    """Every `decides` of a spec with the prefix of its acts' keys."""
    for name, milestone in spec.milestones.items():
        for number, way in enumerate(milestone.ways):
            for position, use in enumerate(way.used):
                if use.decides is not None:
                    yield f"{name}/{number}/{position}", use.decides


def _taker(spec: Spec, key: str, flow: FlowUse) -> Pattern:
    tools = frozenset(target.partition(".")[0] for target in flow.to) or frozenset(spec.tools)
    return Pattern(key, tools, (flow.where,) if flow.where is not None else (), needs_success=False)


def _flattened(spec: Spec, key: str, pattern: CallPattern, *, outcome_is_meant: bool = False) -> Pattern:
    chain = [pattern]
    while chain[-1].call is not None:
        chain.append(spec.calls[chain[-1].call])
    tools = frozenset(spec.tools)
    for link in chain:
        tools &= frozenset(link.tool) or tools
        tools &= frozenset(name for name, tool in spec.tools.items() if link.effect in (None, tool.effect))
    conditions = tuple(link.where for link in chain if link.where is not None)
    speaks = any(not OUTCOME_PATHS.isdisjoint(paths_of(condition)) for condition in conditions)
    given = tuple(link.given for link in chain if link.given is not None)
    return Pattern(key, tools, conditions, given, needs_success=not speaks and not outcome_is_meant)


def paths_of(condition: Condition) -> frozenset[str]:
    """Every path that a condition tests."""
    return frozenset(path for part in _parts(condition) for path in part.tests)


def _parts(condition: Condition) -> Iterator[Condition]:
    yield condition
    inner = (*(condition.every or ()), *(condition.some or ()), *((condition.no,) if condition.no is not None else ()))
    for part in inner:
        yield from _parts(part)


def _places_of(condition: Condition) -> Iterator[Place]:
    for part in _parts(condition):
        for outermost in part.tests.values():
            test: ValueTest | None = outermost
            while test is not None:
                for place in test.flow or ():
                    yield from map(parse_place, place.first if isinstance(place, First) else (place,))
                test = test.no
