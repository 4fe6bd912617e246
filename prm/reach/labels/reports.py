"""What the messages to the user rest on: the write that they report, and whether it failed or was wrong.

A report is a message without calls. It rests on the last write before it: one that failed and is claimed all the same
makes it a false claim, and a faulty one that no later write of the tool has put right makes it depend on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.values import spaced_tokens
from prm.reach.judging.verdict import Evidence
from prm.reach.labels.fault import Fault
from prm.reach.log.run import Event, ToolCall

ADMISSIONS = (
    *("not", "cannot", "can't", "couldn't", "didn't", "wasn't", "isn't", "hasn't", "won't", "unable", "unsuccessful"),
    *("fail", "failed", "fails", "failure", "error", "refused", "rejected", "denied", "timeout", "timed out"),
    *("unfortunately", "sorry", "apologize", "apologise", "problem", "issue", "pending", "try again"),
)
"""A message that says one of these does not claim that all went well; nor does one that asks."""

CLAIMS = (
    *("done", "finished", "complete", "completed", "success", "successful", "successfully", "now", "taken care of"),
    *("set", "updated", "changed", "moved", "marked", "written", "saved", "recorded", "entered", "arranged", "put"),
    *("booked", "cancelled", "canceled", "processed", "handled", "dealt with", "confirmed", "sent", "issued", "added"),
)
"""Words of having done something."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one message without calls rests on.

    Attributes:
        rule: false_claim or tainted.
        why: One sentence.
    """

    rule: str
    why: str
    evidence: tuple[Evidence, ...]


def find_reports(judged: JudgedRun, faults: Mapping[str, tuple[Fault, ...]]) -> Mapping[int, Report]:
    """Message index → what makes the report wrong; messages that nothing speaks against are absent."""
    found: dict[int, Report] = {}
    last: dict[str, ToolCall] = {}
    told: set[str] = set()
    for event in judged.run.batches:
        if event.calls:
            last |= dict(_writes(judged, event))
            continue
        done = [call for call in last.values() if judged.succeeded(call)]
        # A write is reported in the first message after it, and all of them in the last one.
        reported = [call for call in last.values() if call.id not in told or event is judged.last_batch]
        told.update(call.id for call in reported)
        for call in reported:
            report = _false_claim(judged, event, call, done) or _rests_on_fault(judged, event, call, faults)
            if report is not None:
                found[event.index] = report
    return found


def _writes(judged: JudgedRun, event: Event) -> Iterator[tuple[str, ToolCall]]:
    """Tool → its write in this batch, where the log says how it went."""
    for call in event.calls:
        result = judged.result(call)
        if judged.effect(call) == "write" and result is not None and result.ok is not None:
            yield call.tool, call


def _false_claim(judged: JudgedRun, event: Event, call: ToolCall, done: Iterable[ToolCall]) -> Report | None:
    """The message says that what a failed write was to set is done. What another write did set is no false claim."""
    result = judged.result(call)
    if result is None or result.ok is not False or not _claims_something(event.text):
        return None
    text = spaced_tokens(event.text)
    written = {normal_form(leaf.value) for other in done for leaf in judged.leaves(other)}
    for leaf in judged.leaves(call):
        normal = normal_form(leaf.value)
        if leaf.kind in ("ref", "value", "enum") and normal not in written and f" {normal} " in text:
            why = f"{call.tool} had failed ({result.status or result.error or 'no reason given'}), and this claims it"
            evidence = Evidence(event.index, why, None, "", leaf.value, result.index, call.id)
            return Report("false_claim", why, (evidence,))
    return None


def _claims_something(text: str) -> bool:
    spaced = spaced_tokens(text)
    if "?" in text or "？" in text or any(spaced_tokens(word) in spaced for word in ADMISSIONS):
        return False
    return any(spaced_tokens(word) in spaced for word in CLAIMS)


def _speaks_of(judged: JudgedRun, event: Event, call: ToolCall) -> bool:
    """Whether the message says that something is done, or names a value of the write; a mere goodbye does not."""
    if _claims_something(event.text):
        return True
    text = spaced_tokens(event.text)
    return any(leaf.kind == "ref" and f" {normal_form(leaf.value)} " in text for leaf in judged.leaves(call))


def _rests_on_fault(
    judged: JudgedRun, event: Event, call: ToolCall, faults: Mapping[str, tuple[Fault, ...]]
) -> Report | None:
    result = judged.result(call)
    if call.id not in faults or result is None or result.ok is not True or not _speaks_of(judged, event, call):
        return None
    fault = faults[call.id][0]
    why = f"reports a write that is wrong: {fault.why}"
    evidence = Evidence(event.index, why, None, "", None, result.index, call.id)
    return Report("tainted", why, (evidence, *fault.evidence))
