"""Declared derivations: an argument worked out of others, said under another name, or the last digits of a value.

Only what a spec declares for the parameter counts: a generic a ± b explains half of all numbers. A derivation is tried
over the values of all calls so far that its places name, and over those of the latest such call alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prm.reach.judging.json_leaves import leaves_of
from prm.reach.judging.normal_forms import normal_form, tokens_of, tokens_of_value
from prm.reach.judging.provenance_records import Source
from prm.reach.judging.values import number_of, values_at
from prm.reach.judging.visible_values import VisibleValues
from prm.reach.log.run import ToolCall, ToolResult
from prm.reach.spec.conditions import CallPattern
from prm.reach.spec.model import Derivation, Parameter, Spec
from prm.reach.spec.places import TEXTS, Place, parse_place

MAX_VALUES = 1_000
"""Of how many values, the latest, a derivation is worked out."""

_SAME_AMOUNT = 0.005
_MAX_AMOUNT = 1e15
_MIN_LAST_DIGITS = 4


@dataclass(slots=True)
class _Held:
    """The values at one place, with the call that each is of."""

    values: list[Any] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    latest: int = 0

    def add(self, found: Sequence[Any], source: Source) -> None:
        values = [leaf for item in found for _, leaf in leaves_of(item)]
        if values:
            self.latest = len(self.values)
            self.values += values
            self.sources += [source] * len(values)


class Derivations:
    """Tells whether what was visible so far yields a value as its parameter declares."""

    def __init__(self, spec: Spec, visible: VisibleValues) -> None:
        self._visible = visible
        self._held: dict[Place, _Held] = {place: _Held() for place in _places(spec)}
        self._of_tool: defaultdict[str, list[Place]] = defaultdict(list)
        for place in self._held:
            for tool in _tools_of(spec, place.owner):
                self._of_tool[tool].append(place)
        self._said: dict[int, Mapping[str, list[str]]] = {}

    def add_call(self, call: ToolCall) -> None:
        """Takes in the arguments of a call."""
        for place in self._of_tool.get(call.tool, ()):
            if place.part == "args":
                self._held[place].add(values_at(call.arguments, place.path), Source(call.batch))

    def add_result(self, call: ToolCall, result: ToolResult) -> None:
        """Takes in what a call returned."""
        for place in self._of_tool.get(call.tool, ()):
            if place.part == "result":
                self._held[place].add(values_at(result.value, place.path), Source(result.index, result.call_id))

    def sources(self, parameter: Parameter, call: ToolCall, value: Any) -> tuple[Source, ...]:
        """What the value was derived from; empty where no declaration yields it."""
        return (
            self._aliases(parameter, value)
            or self._last_digits(parameter, value)
            or next((found for way in parameter.derive if (found := self._worked_out(way, call, value))), ())
        )

    def _aliases(self, parameter: Parameter, value: Any) -> tuple[Source, ...]:
        if not parameter.alias:
            return ()
        if id(parameter) not in self._said:
            self._said[id(parameter)] = _said_for(parameter)
        for said in self._said[id(parameter)].get(normal_form(value), ()):
            if found := self._anywhere(tokens_of(said)):
                return found
        return ()

    def _last_digits(self, parameter: Parameter, value: Any) -> tuple[Source, ...]:
        digits = normal_form(value)
        if "last_digits" not in parameter.format or len(digits) < _MIN_LAST_DIGITS or not digits.isdigit():
            return ()
        whole = next(self._visible.tokens_ending_in(digits), None)
        return self._anywhere((whole,)) if whole is not None else ()

    def _anywhere(self, tokens: tuple[str, ...]) -> tuple[Source, ...]:
        if not tokens:
            return ()
        places = self._visible.places(tokens)
        return places.of("result") or places.of("user") or places.of("system")

    def _worked_out(self, way: Derivation, call: ToolCall, value: Any) -> tuple[Source, ...]:
        wanted = _amount(value)
        if wanted is None:
            return ()
        (form,) = way.model_fields_set
        for latest_only in (False, True):
            terms = [self._term(term, call, latest_only) for term in getattr(way, form)]
            if _result(form, [number for numbers, _ in terms for number in numbers], wanted):
                places = dict.fromkeys(source for _, sources in terms for source in sources)
                return tuple(places) or (Source(call.batch),)
        return ()

    def _term(self, term: str | int | float, call: ToolCall, latest_only: bool) -> tuple[list[Any], list[Source]]:
        if not isinstance(term, str):
            return [term], []
        place = parse_place(term)
        if place.owner == "":
            return [leaf for item in values_at(call.arguments, place.path) for _, leaf in leaves_of(item)], []
        held = self._held[place]
        start = max(held.latest if latest_only else 0, len(held.values) - MAX_VALUES)
        return held.values[start:], held.sources[start:]


def _result(form: str, values: Sequence[Any], wanted: float) -> bool:
    """Whether the values give the wanted number."""
    if form == "count":
        return bool(values) and len(values) == wanted
    numbers = [number for value in values if (number := _amount(value)) is not None]
    if not numbers:
        return False
    return abs(abs(_WORKED_OUT[form](numbers)) - abs(wanted)) <= _SAME_AMOUNT


def _amount(value: Any) -> float | None:
    """A number, also one written with currency, thousands marks or full-width digits."""
    number = number_of(value)
    if number is None and isinstance(value, str):
        number = number_of(normal_form(value))
    return None if number is None or abs(number) > _MAX_AMOUNT else number


_WORKED_OUT: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "difference": lambda numbers: numbers[0] - math.fsum(numbers[1:]),
    "product": math.prod,
    "quotient": lambda numbers: numbers[0] / numbers[1] if len(numbers) > 1 and numbers[1] else math.nan,
}


def _said_for(parameter: Parameter) -> Mapping[str, list[str]]:
    """Argument in normal form → what may be said for it."""
    said: defaultdict[str, list[str]] = defaultdict(list)
    for words, arguments in parameter.alias.items():
        for argument in arguments:
            said[" ".join(tokens_of_value(argument))].append(words)
    return said


def _places(spec: Spec) -> Iterator[Place]:
    for tool in spec.tools.values():
        for parameter in tool.parameters.values():
            for way in parameter.derive:
                (form,) = way.model_fields_set
                yield from (parse_place(term) for term in getattr(way, form) if isinstance(term, str))


def _tools_of(spec: Spec, owner: str) -> frozenset[str]:
    """The tools whose calls a place's owner means; the conditions of a named call are not asked here."""
    if owner in spec.tools:
        return frozenset({owner})
    if owner in TEXTS or not owner:
        return frozenset()
    sources: list[str | CallPattern] = (
        [way.source for way in spec.milestones[owner].ways] if owner in spec.milestones else [owner]
    )
    tools: set[str] = set()
    while sources:
        source = sources.pop()
        pattern = spec.calls[source] if isinstance(source, str) else source
        tools.update(pattern.tool)
        sources += [pattern.call] if pattern.call is not None else []
    return frozenset(tools)


__all__ = ["Derivations"]
