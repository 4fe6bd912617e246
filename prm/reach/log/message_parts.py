"""The parts of one chat message that a run is made of; every recorded form of them, and nothing invented."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prm.reach.log.json_text import object_in, text_of_json
from prm.types import Message


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as the message has it; see `prm.reach.log.run.ToolCall`. `id` is None where it has none."""

    id: str | None
    tool: str
    arguments: Mapping[str, Any] | None
    raw: str
    timestamp: str | float | None


def text_of(content: Any) -> str:
    """The text of a message's content: text, or the text parts of a list; "" for null."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return text_of_json(content)
    return "\n".join(text for part in content if (text := _text_of_part(part)) is not None)


def _text_of_part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    text = part.get("text", part.get("refusal")) if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def calls_of(message: Message) -> list[RecordedCall]:
    """The tool calls of an assistant message, in order; the one call of the older ``function_call`` form too."""
    calls = message.get("tool_calls")
    recorded = [_call(call) for call in calls] if isinstance(calls, list | tuple) else []
    older = message.get("function_call")
    if not recorded and isinstance(older, Mapping):
        recorded = [_call({"function": older})]
    return recorded


def _call(call: Any) -> RecordedCall:
    call = call if isinstance(call, Mapping) else {}
    function = call.get("function")
    function = function if isinstance(function, Mapping) else call
    arguments, name = function.get("arguments"), function.get("name")
    return RecordedCall(
        id=text_id(call.get("id")),
        tool=name if isinstance(name, str) else "",
        arguments=object_in(arguments),
        raw=text_of_json(arguments),
        timestamp=time_of(call),
    )


def text_id(value: Any) -> str | None:
    """An id as text; None for none."""
    is_id = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return str(value) if is_id else None


def time_of(message: Mapping[str, Any]) -> str | float | None:
    """The `timestamp` of a message or call; None where it has none."""
    value = message.get("timestamp")
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None
