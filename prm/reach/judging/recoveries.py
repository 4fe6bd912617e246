"""Recoveries: what was put right. Not a fault, but what a step earns its +1 with.

Two kinds. *corrected*: a call failed by what was asked of it, and a later call of the tool with other arguments worked,
where both are about the same thing (they share a `ref` value), or the failed one stood on a value from nowhere that the
later one has replaced. *retracted*: a call on a value from nowhere went through, but the value was dropped: a later
call that worked has another in its place (the same parameter of the tool; or of its name in another tool, if no
milestone is left open that the first call was for), and it is not used again. A call made again unchanged after an
outside failure recovers nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from prm.reach.judging.json_leaves import path_text
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.milestones import source_tools
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.provenance_records import Path
from prm.reach.judging.right_place import parameter_name
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.judging.wording import shown
from prm.reach.log.run import ToolCall

_MAX_WAITING = 20
_MAX_LINES = 10


def recoveries(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each call that puts earlier ones right, at that call."""
    return _Recoveries(judged).read()


class _Recoveries:
    def __init__(self, judged: JudgedRun) -> None:
        self._judged = judged
        self._wrong: list[ToolCall] = []

    def read(self) -> Iterator[Diagnosis]:
        for call in self._judged.run.calls:
            if self._judged.succeeded(call) and not self._fabricated(call):
                righted = [earlier for earlier in self._wrong if self._puts_right(earlier, call)]
                if righted:
                    yield _recovery(self._judged, righted, call)
                    self._wrong = [earlier for earlier in self._wrong if earlier not in righted]
            elif self._judged.failed(call) or self._fabricated(call):
                self._wrong = [*self._wrong, call][-_MAX_WAITING:]

    def _puts_right(self, earlier: ToolCall, call: ToolCall) -> bool:
        if earlier.batch >= call.batch:
            return False
        invented, after = self._fabricated(earlier), _telling(self._judged, call)
        if invented:
            named = _by_name(after)
            return all(
                (earlier.tool == call.tool and after.get(path, form) != form)
                or (self._is_dropped(form, earlier, call) and bool(named.get(parameter_name(path), set()) - {form}))
                for path, form in invented.items()
            )
        if earlier.tool != call.tool:
            return False
        before = _telling(self._judged, earlier)
        refs = {leaf.path for leaf in self._judged.leaves(earlier) if leaf.kind == "ref"}
        return before != after and any(before.get(path) == after.get(path) for path in refs)

    def _is_dropped(self, form: str, earlier: ToolCall, call: ToolCall) -> bool:
        """Whether a value from nowhere is not used again, and no milestone is open that the call with it was for."""
        return self._last_uses.get(form, -1) < call.ordinal and earlier.tool not in self._open_tools

    @cached_property
    def _open_tools(self) -> frozenset[str]:
        """The tools of milestones that are open."""
        spec = self._judged.spec
        names = [m.name for m in self._judged.milestones if m.standing in ("missed", "touched")]
        return frozenset(
            t for name in names for way in spec.milestones[name].ways for t in source_tools(spec, way.source)
        )

    @cached_property
    def _last_uses(self) -> dict[str, int]:
        """Value in normal form → the last call that passes it."""
        return {
            normal_form(leaf.value): call.ordinal
            for call in self._judged.run.calls
            for leaf in self._judged.leaves(call)
        }

    def _fabricated(self, call: ToolCall) -> dict[Path, str]:
        return {leaf.path: normal_form(leaf.value) for leaf in self._judged.leaves(call) if leaf.fabricated}


def _recovery(judged: JudgedRun, righted: list[ToolCall], call: ToolCall) -> Diagnosis:
    kind = "corrected" if any(judged.failed(earlier) for earlier in righted) else "retracted"
    lines = {line.what: line for earlier in reversed(righted) for line in _evidence(judged, earlier, call)}
    return Diagnosis("recovery", call.batch, call.id, call.tool, kind, tuple(lines.values())[:_MAX_LINES])


def _evidence(judged: JudgedRun, earlier: ToolCall, call: ToolCall) -> Iterator[Evidence]:
    """What was changed, and what had been wrong with it."""
    result = judged.result(earlier)
    why = shown(result.status or result.error or "") if result is not None and result.ok is False else ""
    before, after = ({leaf.path: leaf.value for leaf in judged.leaves(one)} for one in (earlier, call))
    places = {parameter_name(path): path for path in after} | {path: path for path in after}
    told = _telling(judged, call)
    changed = [path for path, value in _telling(judged, earlier).items() if value != told.get(path)]
    for path in changed:
        place = places.get(path, places.get(parameter_name(path)))
        now = "nothing" if place is None else shown(after[place])
        yield Evidence(
            index=call.batch,
            what=f"{earlier.tool}.{path_text(path)} {shown(before[path])} {f'({why}) ' if why else ''}became {now}",
            call_id=call.id,
            path="" if place is None else path_text(place),
            value=None if place is None else after[place],
            source_index=earlier.batch,
            source_call_id=earlier.id,
            source_path=path_text(path),
        )


def _telling(judged: JudgedRun, call: ToolCall) -> dict[Path, str]:
    """The arguments but for free text, in normal form."""
    return {leaf.path: normal_form(leaf.value) for leaf in judged.leaves(call) if leaf.kind != "free"}


def _by_name(arguments: Mapping[Path, str]) -> dict[str, set[str]]:
    """Parameter's name → its values; a bare ``id`` names nothing in another tool."""
    named: dict[str, set[str]] = {}
    for path, form in arguments.items():
        if parameter_name(path) != "id":
            named.setdefault(parameter_name(path), set()).add(form)
    return named
