"""Calls that return nothing new: the same call as an earlier one, and the same answer (see `same_calls`).

Repeats are counted from the last thing that was written: after a write, looking again is looking anew. Polling tools
are exempt, and so is a call that an outside failure kept from its answer before.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping
from dataclasses import dataclass

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.same_calls import SameCalls
from prm.reach.log.run import ToolCall


@dataclass(frozen=True, slots=True)
class Repeat:
    """That a call brought nothing new.

    Attributes:
        times: The how-many-th repeat it is, from 1, since something was written.
        of: The first call of its kind.
    """

    times: int
    of: ToolCall


@dataclass(slots=True)
class _Known:
    """What one call was answered last, and how often it was repeated since `writes` writes."""

    answer: Hashable
    first: ToolCall
    writes: int
    times: int = 0


def find_repeats(judged: JudgedRun, faults: Container[str]) -> Mapping[str, Repeat]:
    """Call id → that it is a repeat; calls that are none are absent.

    Args:
        judged: The run.
        faults: Ids of calls at fault: a sound call that is alike repeats none of them, it puts it right.
    """
    same = SameCalls(judged)
    known: dict[Hashable, _Known] = {}
    repeats: dict[str, Repeat] = {}
    writes = 0
    for call in judged.run.calls:
        result = judged.result(call)
        if result is None or result.incomplete or judged.failed_outside(call) or _polls(judged, call):
            continue
        key, answer = same.call_key(call), same.result_key(call, result)
        before = known.get(key)
        is_righted = before is not None and before.first.id in faults and call.id not in faults
        if before is None or before.answer != answer or is_righted:
            known[key] = _Known(answer, call, writes)
            writes += judged.effect(call) == "write" and judged.succeeded(call)
            continue
        before.times = before.times + 1 if before.writes == writes else 1
        before.writes = writes
        repeats[call.id] = Repeat(before.times, before.first)
    return repeats


def _polls(judged: JudgedRun, call: ToolCall) -> bool:
    tool = judged.spec.tools.get(call.tool)
    return tool is not None and tool.poll
