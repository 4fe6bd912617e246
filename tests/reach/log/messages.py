"""Short ways to write messages and trajectories in tests."""

from __future__ import annotations

import json
from typing import Any

from prm.types import RunIdentity, Trajectory


def call(tool: str, arguments: Any, id: str | None = None) -> dict[str, Any]:
    """A tool call; arguments that are no text become JSON, None stays null."""
    raw = arguments if arguments is None or isinstance(arguments, str) else json.dumps(arguments)
    recorded: dict[str, Any] = {"type": "function", "function": {"name": tool, "arguments": raw}}
    return recorded if id is None else {"id": id, **recorded}


def says(text: Any, *calls: dict[str, Any]) -> dict[str, Any]:
    """An assistant message."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    return {**message, "tool_calls": list(calls)} if calls else message


def result(content: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    """A tool message; content that is no text becomes JSON, None stays null."""
    text = content if content is None or isinstance(content, str) else json.dumps(content)
    message: dict[str, Any] = {"role": "tool", "content": text, **more}
    return message if id is None else {**message, "tool_call_id": id}


def user(text: Any = "Go.") -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text}


def trajectory(*messages: dict[str, Any], final_label: Any = None, **extra: Any) -> Trajectory:
    """A trajectory without labels."""
    labels = {index: None for index, message in enumerate(messages) if message["role"] == "assistant"}
    identity = RunIdentity(data_source="here", query_index=7, sample_index=2, generator="bot")
    return Trajectory(identity, messages, labels, final_label=final_label, extra=extra)
