"""Whether the names in a spec refer to something, and whether what must be a DAG is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from prm.reach.spec.conditions import CallPattern, Condition, Facts, First, Speech, ValueTest
from prm.reach.spec.model import DecidesUse, Derivation, Fact, FlowUse, Information, Milestone, Spec
from prm.reach.spec.places import TEXTS, parse_place

Problem = tuple[str, str, str]
"""Key path, rule, what was found."""


def reference_problems(spec: Spec) -> Iterator[Problem]:
    """Yields every name that refers to nothing, every name with two meanings, and every circle."""
    yield from _double_names(spec)
    for key, part in _parts(spec):
        yield from _unknown_names(spec, key, part)
    yield from _circles("milestones", {name: part.after for name, part in spec.milestones.items()}, "after")
    yield from _circles("facts", {name: tuple(_fact_needs(spec, fact)) for name, fact in spec.facts.items()}, "given")
    yield from _circles("calls", {name: _inherits(part) for name, part in spec.calls.items()}, "call")


def _parts(spec: Spec) -> Iterator[tuple[str, Any]]:
    yield from _below("", spec)


def _below(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every model of a spec with its key path, depth first."""
    if isinstance(value, BaseModel):
        yield key, value
        for name, field in type(value).model_fields.items():
            yield from _below(_join(key, field.alias or name), getattr(value, name))
        if isinstance(value, Condition):
            yield from _below(key, value.tests)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _below(_join(key, str(name)), item)
    elif isinstance(value, tuple):
        for position, item in enumerate(value):
            yield from _below(f"{key}[{position}]", item)


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _double_names(spec: Spec) -> Iterator[Problem]:
    for name in spec.calls:
        if name in spec.milestones or name in spec.tools or name in TEXTS:
            yield f"calls.{name}", "a name must have one meaning among calls, milestones and tools", name
    for name in spec.milestones:
        if name in spec.tools or name in TEXTS:
            yield f"milestones.{name}", "a name must have one meaning among calls, milestones and tools", name


def _unknown_names(spec: Spec, key: str, part: Any) -> Iterator[Problem]:
    for field, known, names in _references(spec, part):
        for name in names:
            if name not in known:
                yield _join(key, field), f"must be one of {', '.join(sorted(known)) or 'none'}", name


def _references(spec: Spec, part: Any) -> Iterator[tuple[str, Iterable[str], Iterable[str]]]:
    """(key, the names it may hold, the names it holds) of one part."""
    if isinstance(part, CallPattern):
        yield "tool", spec.tools, part.tool
        yield "call", spec.calls, _named(part.call)
        yield "given", spec.facts, fact_names(part.given)
    elif isinstance(part, Speech):
        yield "given", spec.facts, fact_names(part.given)
    elif isinstance(part, ValueTest):
        yield "flow", _owners(spec), _place_owners(part.flow or ())
    elif isinstance(part, Derivation):
        places = [place for name in type(part).model_fields for place in getattr(part, name) or ()]
        yield "derive", _owners(spec), _place_owners(places)
    elif isinstance(part, Fact):
        yield "of", spec.calls, _named(part.of)
    elif isinstance(part, Milestone):
        yield from _milestone_references(spec, part)
    elif isinstance(part, FlowUse | Information):
        targets = part.to if isinstance(part, FlowUse) else part.parameters
        yield "to" if isinstance(part, FlowUse) else "parameters", spec.tools, [t.partition(".")[0] for t in targets]
        if isinstance(part, Information):
            yield "unless", spec.facts, fact_names(part.unless)
    elif isinstance(part, DecidesUse):
        yield "demands", _act_lists(spec), [name for name in part.demands if isinstance(name, str)]
    elif isinstance(part, Spec):
        yield "information", spec.facts, part.information
        yield "legal_exits", _act_lists(spec), [name for name in part.legal_exits if isinstance(name, str)]


def _milestone_references(spec: Spec, part: Milestone) -> Iterator[tuple[str, Iterable[str], Iterable[str]]]:
    decides = [use.decides for way in part.ways for use in way.used if use.decides is not None]
    yield "after", spec.milestones, part.after
    yield "supports", spec.calls, part.supports
    yield "when", spec.facts, fact_names(part.when)
    yield "unless", spec.facts, fact_names(part.unless)
    yield "source", spec.calls, [name for way in part.ways for name in _named(way.source)]
    yield "used", spec.facts, [name for one in decides for name in fact_names(one.fact)]


def _owners(spec: Spec) -> set[str]:
    return {*spec.tools, *spec.calls, *spec.milestones, *TEXTS, ""}


def _act_lists(spec: Spec) -> set[str]:
    return {"questions", "refusals", *spec.information}


def _named(source: str | CallPattern | None) -> tuple[str, ...]:
    return (source,) if isinstance(source, str) else ()


def _place_owners(places: Iterable[str | First | int | float]) -> Iterator[str]:
    for place in places:
        if isinstance(place, First):
            yield from _place_owners(place.first)
        elif isinstance(place, str):
            yield parse_place(place).owner


def fact_names(term: str | Facts | None) -> Iterator[str]:
    """The facts that a combination speaks of."""
    if isinstance(term, str):
        yield term
    elif isinstance(term, Facts):
        for part in (*(term.every or ()), *(term.some or ()), *((term.no,) if term.no is not None else ())):
            yield from fact_names(part)


def _fact_needs(spec: Spec, fact: Fact) -> Iterator[str]:
    """The facts that the calls which answer a fact ask for."""
    pattern = spec.calls.get(fact.of) if isinstance(fact.of, str) else fact.of
    seen: set[str] = set()
    while pattern is not None:
        yield from fact_names(pattern.given)
        if pattern.call is None or pattern.call in seen:
            return
        seen.add(pattern.call)
        pattern = spec.calls.get(pattern.call)


def _inherits(pattern: CallPattern) -> tuple[str, ...]:
    return () if pattern.call is None else (pattern.call,)


def _circles(section: str, needs: Mapping[str, Iterable[str]], field: str) -> Iterator[Problem]:
    """The first name of each circle of a relation."""
    done: set[str] = set()
    for start in needs:
        if _returns_to(start, needs, done):
            yield f"{section}.{start}.{field}", "must not lead back to itself", start
        done.add(start)


def _returns_to(start: str, needs: Mapping[str, Iterable[str]], done: set[str]) -> bool:
    waiting, seen = list(needs.get(start, ())), set(done)
    while waiting:
        name = waiting.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            waiting.extend(needs.get(name, ()))
    return False
