"""Provenance: where each leaf of a run's arguments came from.

The origins in order of precedence, the first that explains the leaf:

    schema       null and empty text claim nothing; a value that the tool's own declaration names (enum, default)
    result       it stands as a whole in what a call of an earlier batch returned, or is put together from whole leaves
                 of one such result
    user, system it was said
    derivation   it follows from such values as the spec declares for the parameter
    echo         the agent itself said or sent it before, or a result (an error too) repeated its call's argument
    unsupported  none of these; `unknown` instead where a result that might have held it is missing from the log,
                 or the log holds nothing that the user said

Only results of earlier batches are visible. A low-information value is explained by an exact whole match in the right
place alone (see `low_information`); one that is no `ref` also by a whole word of a text, which grounds nothing.
A parameter that the spec does not declare has no class, and its leaves are never *fabricated*.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from prm.reach.judging.date_forms import without_year
from prm.reach.judging.derivations import Derivations
from prm.reach.judging.json_leaves import leaves_of
from prm.reach.judging.low_information import is_low_information
from prm.reach.judging.normal_forms import Tokens, spoken_form, tokens_of_value
from prm.reach.judging.provenance_records import Leaf, Origin, Path, Provenance, Source
from prm.reach.judging.right_place import parameter_name
from prm.reach.judging.schema_values import SchemaValues
from prm.reach.judging.visible_values import VisibleValues
from prm.reach.log.run import Run, ToolCall
from prm.reach.spec.model import Parameter, Spec

_Found = tuple[Origin, tuple[Source, ...]] | None
_SAID: tuple[Literal["user", "system"], ...] = ("user", "system")
_GROUNDING: tuple[Literal["result", "user", "system"], ...] = ("result", *_SAID)


def trace(run: Run, spec: Spec) -> Provenance:
    """Where each leaf of the run's arguments came from.

    Args:
        run: The run; missing results make what might have come from them unknown.
        spec: Its tools' parameters: classes, derivations and aliases.

    Returns:
        The leaves in order of the calls. Broken arguments have none.
    """
    return Provenance(tuple(_Trace(run, spec).leaves()))


class _Trace:
    def __init__(self, run: Run, spec: Spec) -> None:
        self._run, self._spec = run, spec
        self._visible = VisibleValues()
        self._derivations = Derivations(spec, self._visible)
        self._schema = SchemaValues(run.trajectory.tools)
        self._first_gap = _first_gap(run)

    def leaves(self) -> Iterator[Leaf]:
        for event in self._run.events:
            if event.kind == "assistant":
                for call in event.calls:
                    yield from self._leaves_of(call)
                self._visible.add_text("echo", event.index, event.text)
                for call in event.calls:
                    self._visible.add_call(call)
                    self._derivations.add_call(call)
            elif event.result is not None:
                self._visible.add_result(event.result)
                if event.result.call_id in self._run.calls_by_id:
                    self._derivations.add_result(self._run.calls_by_id[event.result.call_id], event.result)
            elif event.kind in _SAID:
                self._visible.add_text(event.kind, event.index, event.text)

    def _leaves_of(self, call: ToolCall) -> Iterator[Leaf]:
        tool = self._spec.tools.get(call.tool)
        for path, value in leaves_of(call.arguments if call.arguments is not None else {}):
            parameter = tool.parameter_at(path) if tool is not None else None
            yield self._leaf(call, path, value, parameter)

    def _leaf(self, call: ToolCall, path: Path, value: Any, parameter: Parameter | None) -> Leaf:
        kind = parameter.kind if parameter is not None else None
        origin, sources = self._origin(call, path, value, parameter)
        fabricated: bool | None = kind == "ref" and origin in ("echo", "unsupported")
        if origin in ("echo", "unsupported") and self._first_gap < call.batch:
            fabricated = None if kind == "ref" else False
            origin = "unknown" if origin == "unsupported" else origin
        low = is_low_information(value)
        return Leaf(call.batch, call.id, call.tool, path, value, kind, origin, sources, fabricated, low)

    def _origin(
        self, call: ToolCall, path: Path, value: Any, parameter: Parameter | None
    ) -> tuple[Origin, tuple[Source, ...]]:
        tokens = tokens_of_value(value)
        if value is None or value == "":
            return "schema", ()
        if self._schema.names(call.tool, path, value):
            return "schema", self._results(tokens, path, value)
        if not tokens:
            return "unsupported", ()
        found = self._in_right_place(tokens, path) if is_low_information(value) else self._anywhere(tokens)
        if (found is None or found[0] == "echo") and (parameter is None or parameter.kind != "ref"):
            found = self._as_a_word(tokens) or found
        if found is not None and found[0] != "echo":
            return found
        derived = self._derivations.sources(parameter, call, value) if parameter is not None else ()
        if derived:
            return "derivation", (*derived, *self._results(tokens, path, value))
        return found or ("unsupported", ())

    def _results(self, tokens: Tokens, path: Path, value: Any) -> tuple[Source, ...]:
        """Every result that holds the value, whatever explains it."""
        if not tokens:
            return ()
        name = parameter_name(path)
        low = is_low_information(value)
        places = self._visible.places_by_name(tokens, name) if low else self._visible.places(tokens)
        return (*places.of("result"), *_echoing_results(places.of("echo")))

    def _anywhere(self, tokens: Tokens) -> _Found:
        found = self._whole(tokens)
        if found is not None and found[0] != "echo":
            return found
        for other in self._other_writings(tokens):
            otherwise = self._whole(other)
            if otherwise is not None and otherwise[0] != "echo":
                return otherwise
        holder = self._visible.holder_of_parts(tokens)
        if holder is not None:
            return "result", (Source(self._run.results[holder].index, holder),)
        return found

    def _other_writings(self, tokens: Tokens) -> Iterator[Tokens]:
        """What the same value may look like elsewhere: "basic economy", "May 19" where the year was seen."""
        spoken = spoken_form(tokens)
        if spoken is not None:
            yield spoken
        dated = without_year(tokens[0]) if len(tokens) == 1 else None
        if dated is not None and self._visible.has_year(dated[0]):
            yield (dated[1],)

    def _whole(self, tokens: Tokens) -> _Found:
        places = self._visible.places(tokens)
        echoes = places.of("echo")
        for kind in _GROUNDING:
            if found := places.of(kind):
                return kind, (*found, *(places.of("result") if kind != "result" else ()), *_echoing_results(echoes))
        return ("echo", echoes) if echoes else None

    def _in_right_place(self, tokens: Tokens, path: Path) -> _Found:
        """Where a low-information value stands under its name; else what the agent itself said or sent."""
        places = self._visible.places_by_name(tokens, parameter_name(path))
        echoes = places.of("echo")
        for kind in _GROUNDING:
            if found := places.of(kind):
                return kind, (*found, *_echoing_results(echoes))
        return ("echo", echoes) if echoes else None

    def _as_a_word(self, tokens: Tokens) -> _Found:
        """Where a low-information value is at least a word of a text, or of what the agent itself said or sent."""
        places = self._visible.places(tokens)
        for said in _SAID:
            if found := places.of(said):
                return said, found
        own = tuple(source for source in places.of("echo") if source.call_id is None)
        return ("echo", own) if own else None


def _echoing_results(echoes: tuple[Source, ...]) -> tuple[Source, ...]:
    return tuple(source for source in echoes if source.call_id is not None)


def _first_gap(run: Run) -> float:
    """The first batch whose results are not all in the log; −∞ where the log holds nothing that the user said."""
    if run.calls_only or not any(event.kind == "user" and event.text.strip() for event in run.events):
        return float("-inf")
    gaps = (call.batch for call in run.calls if call.id not in run.results or run.results[call.id].incomplete)
    return min(gaps, default=float("inf"))
