"""The rules that say −1: what a step did wrong, what it depends on that is wrong, and stopping too early."""

from __future__ import annotations

from prm.reach.judging.verdict import Evidence
from prm.reach.labels.errors import what_is_illegal
from prm.reach.labels.grounds import Grounds
from prm.reach.labels.rule import Finding, Rule
from prm.reach.log.run import Event


def by_fault(name: str) -> Rule:
    """The rule that a call of the step has a fault of this name."""

    def rule(grounds: Grounds, event: Event) -> Finding | None:
        for call in event.calls:
            for fault in grounds.faults.get(call.id, ()):
                if fault.rule == name:
                    return Finding(-1, fault.why, fault.evidence)
        return None

    return rule


def minefield(grounds: Grounds, event: Event) -> Finding | None:
    """A call, or something said, that hits a minefield."""
    for diagnosis in grounds.diagnoses.get(event.index, ()):
        if diagnosis.name == "minefield":
            return Finding(-1, f"hit the minefield {diagnosis.subject}", diagnosis.evidence)
    return None


def false_claim(grounds: Grounds, event: Event) -> Finding | None:
    """A message that claims what had failed."""
    return _report(grounds, event, "false_claim")


def tainted(grounds: Grounds, event: Event) -> Finding | None:
    """A step that depends on a wrong one, by an argument or as the report of a wrong write."""
    return _TAINTED_CALL(grounds, event) or _report(grounds, event, "tainted")


_TAINTED_CALL = by_fault("tainted")


def _report(grounds: Grounds, event: Event, name: str) -> Finding | None:
    report = grounds.reports.get(event.index)
    return Finding(-1, report.why, report.evidence) if report is not None and report.rule == name else None


def repeated_error(grounds: Grounds, event: Event) -> Finding | None:
    """A refused call made again unchanged, and refused again."""
    for call in event.calls:
        repeat = grounds.repeats.get(call.id)
        if repeat is not None and grounds.judged.failed(call):
            what = f"the same call had been refused in message {repeat.of.batch}"
            return Finding(-1, what, (Evidence(call.batch, what, call.id, source_index=repeat.of.batch),))
    return None


def illegal_argument(grounds: Grounds, event: Event) -> Finding | None:
    """A refused call with an argument that the agent could have known to be wrong."""
    for call in event.calls:
        why = what_is_illegal(grounds.judged, call) if grounds.judged.failed(call) else ""
        if why:
            return Finding(-1, f"{call.tool} refused it: {why}", (Evidence(call.batch, why, call.id),))
    return None


def premature_stop(grounds: Grounds, event: Event) -> Finding | None:
    """The last message, where required milestones are open and nothing lets the run end so."""
    if event.calls or event is not grounds.judged.last_batch or grounds.judged.run.end != "final":
        return None
    for diagnosis in grounds.diagnoses.get(event.index, ()):
        if diagnosis.name == "premature_stop":
            return Finding(-1, "stopped early", diagnosis.evidence)
    left = [m.name for m in grounds.verdict.milestones if m.required and m.standing in ("missed", "touched")]
    if not left or grounds.exits_legally:
        return None
    why = f"ended with {', '.join(left)} open"
    return Finding(-1, why, (Evidence(event.index, why),))
