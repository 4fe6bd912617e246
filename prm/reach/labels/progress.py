"""Which calls brought the run on: source, consumer or prerequisite of a reached milestone, and needed questions.

A call brings it on if it lies on the legal path, or if it is a right call for a milestone (or a named call of the
spec) that was made with a value from a call that does: it consumes what a reached milestone gave, though what it
returned itself may never have been used. What is at fault, returns nothing new, or did not come through does not.
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
    found: dict[str, Progress] = {}
    same, made = SameCalls(judged), set[Hashable]()
    parts = _parts_played(judged)
    path = _path(judged, parts, faults)
    for call in judged.run.calls:
        if call.id in faults or call.id in repeats or not _came_through(judged, roles, call):
            continue
        question = questions.get(call.id)
        if question is not None:
            if question.needed_for:
                evidence = Evidence(call.batch, f"asked for {question.needed_for}", call.id)
                found[call.id] = Progress("needed_question", f"a question for {question.needed_for}", (evidence,))
        elif call.id in parts:
            found[call.id] = Progress("milestone", parts[call.id].what, (parts[call.id],))
        elif call.id in path:
            found[call.id] = Progress("milestone", "gave what a step on the legal path used")
        elif same.call_key(call) not in made and (taken := _taken_from(judged, roles, call, found)) is not None:
            # Made again, it may return another id and still brings nothing on.
            found[call.id] = Progress("milestone", taken.what, (taken,))
        if call.id in found:
            made.add(same.call_key(call))
    return found


def _came_through(judged: JudgedRun, roles: CallRoles, call: ToolCall) -> bool:
    """Whether the tool did what was asked, or said what a milestone is there to find out, such as "not found".

    A call of a milestone's tool that is no right one does not: it uses a value, and leads nowhere.
    """
    if judged.failed_outside(call) or roles.is_off(call):
        return False
    return not judged.failed(call) or call.ordinal in roles.names


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


def _taken_from(judged: JudgedRun, roles: CallRoles, call: ToolCall, found: Mapping[str, Progress]) -> Evidence | None:
    """The value from a call that brought the run on which a right call was made with, if it was."""
    names = roles.names.get(call.ordinal)
    if not names:
        return None
    for leaf in judged.leaves(call):
        for source in leaf.sources:
            if source.call_id in found and not source.echo:
                what = f"right call for {', '.join(names)}, made with {leaf.value!r} from a step that counts"
                return Evidence(call.batch, what, call.id, value=leaf.value, source_index=source.index)
    return None
