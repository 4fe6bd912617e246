"""Which calls are at fault by what they were given or did, and which only depend on such a call.

Faults spread along provenance edges alone: a call whose argument was taken from what a faulty call returned, and from
nowhere else, is *tainted*, and so is what it returns. A value taken anew from a sound place ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from prm.reach.judging.json_leaves import path_text
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.provenance_records import Leaf, Source
from prm.reach.judging.spoken_texts import SpokenTexts
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.decision_faults import DecisionFaults
from prm.reach.labels.fault import Fault
from prm.reach.labels.givers import givers
from prm.reach.log.run import ToolCall

_WHY_FABRICATED = {
    "fabricated_ref": "comes from nowhere",
    "ungrounded_batch": "was guessed beside the read that could give it",
    "tainted": "was made up before",
}


def find_faults(judged: JudgedRun, roles: CallRoles, diagnoses: Iterable[Diagnosis]) -> Mapping[str, tuple[Fault, ...]]:
    """Call id → its faults; calls without one are absent. One pass in the order of the calls."""
    return _Faults(judged, roles, diagnoses).find()


class _Faults:
    def __init__(self, judged: JudgedRun, roles: CallRoles, diagnoses: Iterable[Diagnosis]) -> None:
        self._judged, self._roles = judged, roles
        self._decisions = DecisionFaults(judged, roles)
        self._found: dict[str, tuple[Fault, ...]] = {}
        self._invented: set[str] = set()
        self._user_texts = SpokenTexts([event for event in judged.run.events if event.kind == "user"])
        self._guessed = {d.batch for d in diagnoses if d.name == "ungrounded_batch"}
        self._minefields = _minefields(judged)

    def find(self) -> Mapping[str, tuple[Fault, ...]]:
        for call in self._judged.run.calls:
            faults = (
                *self._minefields.get(call.id, ()),
                *self._of_leaves(call),
                *self._decisions.of_call(call),
            )
            if faults:
                self._found[call.id] = faults
            elif self._judged.succeeded(call) and not self._is_idle_read(call):
                self._decisions.note_sound(call)
        return {**self._found, **self._mistaken()}

    def _of_leaves(self, call: ToolCall) -> Iterator[Fault]:
        for leaf in self._judged.leaves(call):
            if leaf.fabricated:
                yield self._fabricated(leaf)
                continue
            sources = givers(leaf)
            # A quantity or a flag that says little may be alike by chance; it carries nothing on.
            if not sources or (leaf.kind != "ref" and leaf.low_information):
                continue
            if self._all(sources, self._is_tainted) and not self._was_said(leaf):
                yield self._carried("tainted", "depends on a step that is wrong", leaf, sources[0])
            elif leaf.kind == "ref" and self._all(sources, self._is_unsound) and not self._was_said(leaf):
                yield self._carried("wrong_entity", "taken from a record that has no bearing", leaf, sources[0])

    def _fabricated(self, leaf: Leaf) -> Fault:
        """Accused where it is first used; what uses it again depends on that."""
        form = _form(leaf)
        rule = "tainted" if form in self._invented else "fabricated_ref"
        if rule == "fabricated_ref" and leaf.batch in self._guessed:
            rule = "ungrounded_batch"
        self._invented.add(form)
        why = _WHY_FABRICATED[rule]
        return Fault(rule, f"{leaf.value!r} {why}", (_evidence(leaf, why),))

    def _all(self, sources: tuple[Source, ...], test: Callable[[ToolCall], bool]) -> bool:
        calls = self._judged.calls_by_id
        return all(source.call_id in calls and test(calls[source.call_id]) for source in sources if source.call_id)

    def _is_tainted(self, call: ToolCall) -> bool:
        return call.id in self._found

    def _is_unsound(self, call: ToolCall) -> bool:
        """Faulty itself, or a read that the spec gives no meaning: of another ticket, another customer …"""
        return self._is_tainted(call) or self._is_idle_read(call)

    def _is_idle_read(self, call: ToolCall) -> bool:
        """A read that is no right call of a milestone's tool, of something that nobody but a record named."""
        if self._judged.effect(call) != "read" or not self._judged.succeeded(call) or not self._roles.is_off(call):
            return False
        refs = [leaf for leaf in self._judged.leaves(call) if leaf.kind == "ref"]
        return bool(refs) and all(leaf.origin == "result" and not self._was_said(leaf) for leaf in refs)

    def _was_said(self, leaf: Leaf) -> bool:
        """Whether the user had said the value: it is sound then, whatever records hold it too."""
        return self._user_texts.is_shown_before(normal_form(leaf.value), leaf.batch)

    def _carried(self, rule: str, why: str, leaf: Leaf, source: Source) -> Fault:
        return Fault(rule, f"{leaf.value!r}: {why}", (_evidence(leaf, why, source),))

    def _mistaken(self) -> dict[str, tuple[Fault, ...]]:
        """Reads of another thing than an open milestone asks about, which a faulty act then took for the right one."""
        taken: dict[str, Leaf] = {}
        for call_id, faults in self._found.items():
            if any(fault.rule == "called_wrong" for fault in faults):
                leaves = self._judged.provenance.of_call(call_id)
                taken |= {_form(leaf): leaf for leaf in leaves if leaf.kind == "ref"}
        found: dict[str, tuple[Fault, ...]] = {}
        for call in self._judged.run.calls if taken else ():
            if not self._is_idle_read(call) or call.id in self._found or self._was_done_right(call):
                continue
            mistaken = [leaf for leaf in self._judged.leaves(call) if leaf.kind == "ref" and _form(leaf) in taken]
            used = [taken[_form(leaf)] for leaf in mistaken if taken[_form(leaf)].batch > call.batch]
            if used:
                why = f"{used[0].value!r} is not what the milestone asks about, and {used[0].tool} took it for that"
                evidence = Evidence(call.batch, why, call.id, value=used[0].value, source_index=used[0].batch)
                found[call.id] = (Fault("wrong_entity", why, (evidence,)),)
        return found

    def _was_done_right(self, call: ToolCall) -> bool:
        """Whether every milestone of the tool was reached: this call was made beside the right one, not for it."""
        return all(
            m.standing == "reached" for m in self._judged.milestones if call.tool in self._roles.tools_of[m.name]
        )


def _minefields(judged: JudgedRun) -> Mapping[str, tuple[Fault, ...]]:
    """Call id → the minefields that it hits."""
    found: dict[str, tuple[Fault, ...]] = {}
    for name, minefield in judged.minefields.items():
        for hit in minefield.hits:
            if hit.call_id is not None:
                fault = Fault("minefield", f"hit the minefield {name}", (hit,))
                found[hit.call_id] = (*found.get(hit.call_id, ()), fault)
    return found


def _form(leaf: Leaf) -> str:
    return normal_form(leaf.value) or repr(leaf.value)


def _evidence(leaf: Leaf, what: str, source: Source | None = None) -> Evidence:
    where = path_text(leaf.path)
    shown = f"{leaf.tool}.{where}: {what}"
    if source is None:
        return Evidence(leaf.batch, shown, leaf.call_id, where, leaf.value)
    taken = path_text(source.path)
    return Evidence(leaf.batch, shown, leaf.call_id, where, leaf.value, source.index, source.call_id, taken)
