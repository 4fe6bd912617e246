"""The rules that say 0, or −1 when it happens again: no progress, errors that must be tried, outside failures.

They speak of a step only if each of its calls is of such a kind: one call of another kind, or one whose result is
not in the log, leaves the step to other rules.
"""

from __future__ import annotations

from collections.abc import Callable

from prm.reach.judging.verdict import Evidence
from prm.reach.labels.errors import what_is_illegal
from prm.reach.labels.givers import first_giver
from prm.reach.labels.grounds import Grounds
from prm.reach.labels.rule import Finding
from prm.reach.log.run import Event, ToolCall
from prm.types import StepLabel

Kind = Callable[[Grounds, ToolCall], bool]


def no_progress(grounds: Grounds, event: Event) -> Finding | None:
    """Calls that returned nothing new, and needless questions: 0 the first time, −1 after."""
    times = [_times(grounds, call) for call in event.calls]
    if not any(times) or not _all_neutral(grounds, event):
        return None
    # Beside a neutral call of another kind it is no worse than that.
    label: StepLabel = -1 if min(times) > 1 else 0
    call = next(call for call, time in zip(event.calls, times, strict=True) if time)
    why = _why_no_progress(grounds, call)
    return Finding(label, why, (Evidence(call.batch, why, call.id, source_index=_first_batch(grounds, call)),))


def _times(grounds: Grounds, call: ToolCall) -> int:
    """The how-many-th time a call brought nothing new; 0 where it did."""
    question = grounds.questions.get(call.id)
    if question is not None and not question.needed_for:
        return question.times
    repeat = grounds.repeats.get(call.id)
    return repeat.times if repeat is not None and not grounds.judged.failed(call) else 0


def _why_no_progress(grounds: Grounds, call: ToolCall) -> str:
    if call.id in grounds.repeats:
        repeat = grounds.repeats[call.id]
        return f"repeat {repeat.times} of the call in message {repeat.of.batch}, with the same answer"
    return f"needless question {grounds.questions[call.id].times}: what it asks for was known or asked before"


def _first_batch(grounds: Grounds, call: ToolCall) -> int | None:
    repeat = grounds.repeats.get(call.id)
    return None if repeat is None else repeat.of.batch


def learnt_by_trying(grounds: Grounds, event: Event) -> Finding | None:
    """A refused call with nothing in it that the agent could have known to be wrong."""
    return _neutral(grounds, event, _is_learnt, "refused, for a reason that only trying shows")


def outside_failure(grounds: Grounds, event: Event) -> Finding | None:
    """A time-out or a cut answer, which nobody could help."""
    return _neutral(grounds, event, _is_outside, "nothing, or not all, came back, through no fault of the agent's")


def unused_read(grounds: Grounds, event: Event) -> Finding | None:
    """A read that went through and did not bring the run on; the later step that ignored it carries the −1."""
    return _neutral(grounds, event, _is_unused, "what it returned brought no milestone on")


def _neutral(grounds: Grounds, event: Event, kind: Kind, why: str) -> Finding | None:
    call = next((call for call in event.calls if kind(grounds, call)), None)
    if call is None or not _all_neutral(grounds, event):
        return None
    result = grounds.judged.result(call)
    evidence = Evidence(event.index, why, call.id, source_index=None if result is None else result.index)
    return Finding(0, f"{call.tool}: {why}", (evidence,))


def _all_neutral(grounds: Grounds, event: Event) -> bool:
    kinds: tuple[Kind, ...] = (_brings_nothing, _is_learnt, _is_outside, _is_unused)
    return all(any(kind(grounds, call) for kind in kinds) for call in event.calls)


def _brings_nothing(grounds: Grounds, call: ToolCall) -> bool:
    return _times(grounds, call) > 0


def _is_learnt(grounds: Grounds, call: ToolCall) -> bool:
    return grounds.judged.failed(call) and not what_is_illegal(grounds.judged, call)


def _is_outside(grounds: Grounds, call: ToolCall) -> bool:
    return grounds.judged.failed_outside(call)


def _is_unused(grounds: Grounds, call: ToolCall) -> bool:
    """What was used by a step that no rule speaks of may have been of use: that is left open."""
    judged = grounds.judged
    if judged.effect(call) != "read" or not judged.succeeded(call) or _times(grounds, call):
        return False
    uses = (leaf for leaf, _ in judged.provenance.uses_of(call.id) if first_giver(leaf) == call.id)
    return all(leaf.call_id in grounds.faults for leaf in uses)
