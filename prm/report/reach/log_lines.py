"""The line of a log that a piece of evidence points at, cut to what a reader needs to see."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from prm.reach.judging.verdict import Evidence
from prm.reach.log.run import Event, Run
from prm.report.cells import UNDEFINED

_LONGEST = 260
"""Characters of a line."""

_BEFORE = 90
"""Characters shown before the value that matters."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Attributes:
        index: The message.
        who: "user", "call of check_inventory", "result" …
        before, value, after: The text around the value that matters; `value` is "" where it is not in the text.
    """

    index: int
    who: str
    before: str
    value: str = ""
    after: str = ""


def log_lines(evidence: Evidence, run: Run | None) -> list[LogLine]:
    """The lines that a piece of evidence names: where the value came from, then where it went."""
    if run is None:
        return []
    events = {event.index: event for event in run.events}
    places = [(evidence.source_index, evidence.source_call_id), (evidence.index, evidence.call_id)]
    found = []
    for index, call_id in places:
        event = None if index is None else events.get(index)
        if event is not None:
            found.append(_line(event, call_id, _as_text(evidence.value), run))
    return found if len(found) < 2 or found[0] != found[1] else found[:1]


def _line(event: Event, call_id: str | None, value: str, run: Run) -> LogLine:
    call = next((call for call in event.calls if call.id == call_id), None)
    if call is not None:
        return _around(event.index, f"call of {call.tool}", call.raw, value)
    if event.kind == "result":
        tools = {one.id: one.tool for one in run.calls}
        tool = tools.get(event.result.call_id) if event.result is not None else None
        return _around(event.index, f"result of {tool}" if tool else "result", _content(event, run), value)
    text = event.text or ", ".join(f"{call.tool}({call.raw})" for call in event.calls)
    return _around(event.index, event.kind, text, value)


def _content(event: Event, run: Run) -> str:
    messages = run.trajectory.messages
    content = messages[event.index].get("content") if 0 <= event.index < len(messages) else None
    if isinstance(content, str):
        return content
    return event.text or _as_text(None if event.result is None else event.result.value)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _around(index: int, who: str, text: str, value: str) -> LogLine:
    line = " ".join(text[: 400 * _LONGEST].split()) or UNDEFINED
    place = _place(line, " ".join(value.split()))
    if place is None:
        return LogLine(index, who, _cut(line, _LONGEST))
    start, (first, end) = max(0, place[0] - _BEFORE), place
    before = ("…" if start else "") + line[start:first]
    return LogLine(index, who, before, line[first:end], _cut(line[end:], max(20, _LONGEST - (end - start))))


def _place(line: str, value: str) -> tuple[int, int] | None:
    """Where the value stands as a whole: "1" is not in "T-1001"."""
    if not 0 < len(value) <= _LONGEST:
        return None
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", line)
    return None if found is None else found.span()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + "…"
