"""The messages in the attributes of an inference span, whatever of them was captured.

An attribute is a list, or its JSON text. Text that is no JSON (a length limit cut it) counts as not captured. Messages
with `content` in place of `parts`, as some instrumentations write them, are read too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prm.reach.log import otel_names as names
from prm.reach.log.json_text import json_in, text_of_json
from prm.reach.log.message_parts import calls_of, text_id, text_of
from prm.reach.log.to_trajectory import LoggedCall


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """A result in a message: the id of the call it answers (None = none) and the answer, None = not recorded."""

    call_id: str | None
    answer: Any


@dataclass(frozen=True, slots=True)
class SpanMessage:
    """One message; `text` is what was said, "" for nothing. Thinking is left out."""

    role: str
    text: str
    calls: tuple[LoggedCall, ...] = ()
    responses: tuple[ToolResponse, ...] = ()


def messages_in(recorded: Any) -> tuple[SpanMessage, ...] | None:
    """The messages of `gen_ai.input.messages` or `gen_ai.output.messages`; None = not captured."""
    value = json_in(recorded) if isinstance(recorded, str) else recorded
    if not isinstance(value, list):
        return None
    return tuple(_message(message) for message in value if isinstance(message, Mapping))


def instructions_in(recorded: Any) -> str:
    """The text of `gen_ai.system_instructions`; "" = not captured."""
    value = json_in(recorded) if isinstance(recorded, str) else recorded
    if isinstance(value, list):
        return _text([part for part in value if isinstance(part, Mapping)])
    return recorded if isinstance(recorded, str) else ""


def tools_in(recorded: Any) -> list[dict[str, Any]] | None:
    """`gen_ai.tool.definitions` as tool declarations of a trajectory; None = not captured."""
    value = json_in(recorded) if isinstance(recorded, str) else recorded
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        return None
    return [tool if "function" in tool else _declaration(tool) for tool in value] or None


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
    return {"type": "function", "function": function}


def _message(message: Mapping[str, Any]) -> SpanMessage:
    role = message.get("role")
    role = role if isinstance(role, str) else ""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return _chat_message(role, message)
    parts = [part for part in parts if isinstance(part, Mapping)]
    return SpanMessage(
        role,
        _text(parts),
        tuple(_call(part) for part in parts if part.get("type") == names.PART_TOOL_CALL),
        tuple(_response(part) for part in parts if part.get("type") == names.PART_TOOL_RESPONSE),
    )


def _text(parts: list[Mapping[str, Any]]) -> str:
    contents = (part.get("content", part.get("text")) for part in parts if part.get("type") == names.PART_TEXT)
    return "\n".join(text_of_json(content) for content in contents if content is not None)


def _call(part: Mapping[str, Any]) -> LoggedCall:
    name, arguments = part.get("name"), part.get("arguments")
    return LoggedCall(
        tool=name if isinstance(name, str) else "",
        id=text_id(part.get("id")),
        arguments=arguments if isinstance(arguments, dict | str) else None,
    )


def _response(part: Mapping[str, Any]) -> ToolResponse:
    answers = (part[key] for key in names.RESPONSE_KEYS if part.get(key) is not None)
    return ToolResponse(text_id(part.get("id")), next(answers, None))


def _chat_message(role: str, message: Mapping[str, Any]) -> SpanMessage:
    content = message.get("content")
    if role == "tool":
        answer = content if content is None or isinstance(content, str) else text_of(content)
        return SpanMessage(role, "", responses=(ToolResponse(text_id(message.get("tool_call_id")), answer),))
    calls = tuple(LoggedCall(call.tool, call.id, call.raw or None) for call in calls_of(message))
    return SpanMessage(role, text_of(content), calls)
