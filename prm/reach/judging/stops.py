"""Stopping early, and milestones that stayed open.

A run stops early if it ends of its own accord (not by the cap, an error or the end of the log), without a legal exit,
while a required milestone was never called, or while the last call of a milestone's tools had failed; and nothing that
comes after that milestone was called either. Where the run went on without it, it was skipped or called wrong: a
failure to reach, and no early stop.
"""

from __future__ import annotations

from collections.abc import Iterator

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.milestones import source_tools
from prm.reach.judging.patterns import act_keys, question_keys
from prm.reach.judging.verdict import Diagnosis, Evidence, MilestoneVerdict
from prm.reach.log.run import Event


def open_milestones(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each required milestone that is open: `never_called` or `called_wrong`."""
    end = judged.last_batch
    for milestone in judged.milestones:
        if not milestone.required or end is None:
            continue
        if milestone.reason == "never_called":
            evidence = (Evidence(end.index, f"no tool of {milestone.name} was called by the end of the run"),)
            yield Diagnosis("never_called", end.index, subject=milestone.name, evidence=evidence)
        elif milestone.reason == "called_wrong":
            at = milestone.source or milestone.touched
            call = None if at is None else judged.run.calls[at.call]
            yield Diagnosis(
                name="called_wrong",
                batch=end.index if at is None else at.batch,
                call_id=None if call is None else call.id,
                subject=milestone.name,
                evidence=milestone.evidence,
            )


def premature_stops(judged: JudgedRun) -> Iterator[Diagnosis]:
    """The early stop, at the last message, if the run stops early."""
    end = judged.last_batch
    if judged.run.end != "final" or end is None or has_legal_exit(judged, end):
        return
    gone_past = _gone_past(judged)
    left = [m for m in judged.milestones if m.name not in gone_past and _was_left(judged, m)]
    if left:
        lines = tuple(Evidence(end.index, f"the run ended here with {_standing(m)}") for m in left)
        yield Diagnosis("premature_stop", end.index, subject=left[0].name, evidence=lines)


def _gone_past(judged: JudgedRun) -> frozenset[str]:
    """The milestones of which a later one was called."""
    after = {milestone.name: milestone.after for milestone in judged.milestones}
    waiting = [name for m in judged.milestones if m.touched is not None for name in m.after]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += after.get(name, ())
    return frozenset(found)


def _was_left(judged: JudgedRun, milestone: MilestoneVerdict) -> bool:
    if not milestone.required:
        return False
    if milestone.reason == "never_called":
        return True
    if milestone.reason != "called_wrong" or milestone.source is not None:
        return False
    tools = {t for way in judged.spec.milestones[milestone.name].ways for t in source_tools(judged.spec, way.source)}
    last = next((call for call in reversed(judged.run.calls) if call.tool in tools), None)
    result = None if last is None else judged.result(last)
    return result is not None and result.ok is False


def _standing(milestone: MilestoneVerdict) -> str:
    never = milestone.reason == "never_called"
    return f"{milestone.name} never called" if never else f"the last call of {milestone.name} failed"


def has_legal_exit(judged: JudgedRun, end: Event) -> bool:
    """Whether something was done or said, or may have been said, after which a run may end with milestones open.

    Beside the legal exits of the spec that is a last message that asks for information known to be missing: the log
    holds no answer to it.
    """
    speeches, unheard = judged.swept.speeches, judged.run.calls_only
    return _asks(judged, end) or any(
        judged.swept.certain(key) or (key in speeches and (unheard or bool(speeches[key])))
        for key in act_keys("legal_exits", judged.spec.acts(judged.spec.legal_exits))
    )


def _asks(judged: JudgedRun, end: Event) -> bool:
    for name, information in judged.spec.information.items():
        keys = question_keys(name, information, judged.spec)
        said = any(event.index == end.index for key in keys for event in judged.swept.speeches.get(key, ()))
        if said and judged.swept.facts.truth(name, end.index) is True:
            return True
    return False
