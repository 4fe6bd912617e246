"""Which calls brought the run on: source, consumer or prerequisite of a reached milestone, and needed questions.

A call brings it on if it lies on the legal path, or if it is a right call for a milestone (or a named call of the
spec) that was made with a value from a call that does: it consumes what a reached milestone gave, though what it
returned itself was never used. What is at fault, returns nothing new, or did not come through does not.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.same_calls import SameCalls
from prm.reach.judging.verdict import Evidence
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.fault import Fault
from prm.reach.labels.givers import first_giver
from prm.reach.labels.questions import Question
from prm.reach.labels.repeats import Repeat
from prm.reach.log.run import ToolCall


@dataclass(frozen=True, slots=True)
class Progress:
    """That a call brought the run on.

    Attributes:
        rule: needed_question or milestone.
        why: One sentence.
    """

    rule: str
    why: str
    evidence: tuple[Evidence, ...] = ()


def find_progress(
    judged: JudgedRun,
    roles: CallRoles,
    faults: Mapping[str, tuple[Fault, ...]],
    repeats: Mapping[str, Repeat],
    questions: Mapping[str, Question],
) -> Mapping[str, Progress]:
    """Call id → how it brought the run on; calls that did not are absent. One pass in the order of the calls."""
    finder = _Finder(judged, roles, faults)
    for call in judged.run.calls:
        if call.id not in faults and call.id not in repeats and finder.came_through(call):
            finder.add(call, questions.get(call.id))
    return finder.found


class _Finder:
    """The progress found so far."""

    def __init__(self, judged: JudgedRun, roles: CallRoles, faults: Container[str]) -> None:
        self._judged, self._roles = judged, roles
        self._parts = _parts_played(judged)
        self._path = _path(judged, self._parts, faults)
        self._same = SameCalls(judged)
        self._made: set[Hashable] = set()
        self.found: dict[str, Progress] = {}

    def came_through(self, call: ToolCall) -> bool:
        """Whether the tool did what was asked, or said what a milestone is there to find out, such as "not found".

        A call of a milestone's tool that is no right one does not: it uses a value, and leads nowhere.
        """
        if self._judged.failed_outside(call) or self._roles.is_off(call):
            return False
        return not self._judged.failed(call) or call.ordinal in self._roles.names

    def add(self, call: ToolCall, question: Question | None) -> None:
        """Takes in one call."""
        progress = self._of_call(call) if question is None else _of_question(call, question)
        if progress is not None:
            self.found[call.id] = progress
            self._made.add(self._same.call_key(call))

    def _of_call(self, call: ToolCall) -> Progress | None:
        if call.id in self._parts:
            return Progress("milestone", self._parts[call.id].what, (self._parts[call.id],))
        if call.id in self._path:
            return Progress("milestone", "gave what a step on the legal path used")
        # Made again, a call may return another id (a second draft) and still brings nothing on.
        taken = None if self._same.call_key(call) in self._made else self._taken_from(call)
        return None if taken is None else Progress("milestone", taken.what, (taken,))

    def _taken_from(self, call: ToolCall) -> Evidence | None:
        """The value from a call that brought the run on which a right call was made with, if it was."""
        names = self._roles.names.get(call.ordinal)
        if not names:
            return None
        for leaf in self._judged.leaves(call):
            for source in leaf.sources:
                if source.call_id in self.found and not source.echo:
                    what = f"right call for {', '.join(names)}, made with {leaf.value!r} from a step that counts"
                    return Evidence(call.batch, what, call.id, value=leaf.value, source_index=source.index)
        return None


def _of_question(call: ToolCall, question: Question) -> Progress | None:
    if not question.needed_for:
        return None
    what = f"a question for {question.needed_for}"
    return Progress("needed_question", what, (Evidence(call.batch, what, call.id),))


def _path(judged: JudgedRun, parts: Iterable[str], faults: Container[str]) -> frozenset[str]:
    """The calls of `parts`, those that a reached milestone is supported by, and those that gave them their values.

    What a call at fault took is not followed: nobody needed it.
    """
    path: set[str] = set()
    waiting = [*parts, *_supports(judged)]
    while waiting:
        call_id = waiting.pop()
        if call_id in path or call_id in faults:
            continue
        path.add(call_id)
        waiting += _givers(judged, call_id)
    return frozenset(path)


def _supports(judged: JudgedRun) -> Iterator[str]:
    for milestone in judged.milestones:
        if milestone.standing == "reached":
            for name in judged.spec.milestones[milestone.name].supports:
                yield from (call.id for call in judged.swept.certain(f"call:{name}"))


def _givers(judged: JudgedRun, call_id: str) -> Iterator[str]:
    """For each argument that was taken from results, the first call that gave it."""
    for leaf in judged.provenance.of_call(call_id):
        giver = first_giver(leaf)
        if giver in judged.calls_by_id:
            yield giver


def _parts_played(judged: JudgedRun) -> dict[str, Evidence]:
    """Call id → the part it plays in a reached milestone, as its source or its use."""
    parts: dict[str, Evidence] = {}
    for milestone in judged.milestones:
        if milestone.standing != "reached":
            continue
        for number, evidence in enumerate(milestone.evidence):
            if evidence.call_id is not None:
                part = "source" if number == 0 else f"use ({milestone.used})"
                batch = judged.calls_by_id[evidence.call_id].batch
                what = f"{part} of {milestone.name}: {evidence.what}"
                parts.setdefault(evidence.call_id, Evidence(batch, what, evidence.call_id))
    return parts
