"""Trajectories as OTLP JSON spans, the way an instrumented agent writes them; a small real writer, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prm.reach.log.otlp_values import attribute_list
from prm.types import Trajectory

EPOCH = 1_700_000_000 * 10**9
"""Nanoseconds at second 0 of the tests; 0 itself would mean "not set"."""


def span(
    operation: str, start: float, end: float, trace: str = "t1", id: str = "", parent: str = "", **attributes: Any
) -> dict[str, Any]:
    """One span; attributes are given with "_" for "." and lists and objects become JSON text.

    `error` sets the status, `name` the span's name.
    """
    error, name = attributes.pop("error", None), attributes.pop("name", operation)
    named: dict[str, Any] = {"gen_ai.operation.name": operation}
    for key, value in attributes.items():
        if value is not None:
            named[NAMES.get(key, key)] = value if isinstance(value, str | int | float) else json.dumps(value)
    recorded: dict[str, Any] = {
        "traceId": trace,
        "spanId": id or f"{operation}@{start}",
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(EPOCH + int(start * 10**9)),
        "endTimeUnixNano": str(EPOCH + int(end * 10**9)),
        "attributes": attribute_list(named),
    }
    return recorded if error is None else {**recorded, "status": {"code": 2, "message": error}}


NAMES: Mapping[str, str] = {
    "input": "gen_ai.input.messages",
    "output": "gen_ai.output.messages",
    "instructions": "gen_ai.system_instructions",
    "definitions": "gen_ai.tool.definitions",
    "conversation": "gen_ai.conversation.id",
    "agent": "gen_ai.agent.name",
    "model": "gen_ai.request.model",
    "tool": "gen_ai.tool.name",
    "call_id": "gen_ai.tool.call.id",
    "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
    "error_type": "error.type",
    "scenario": "prm.scenario",
    "run": "prm.run",
    "variant": "prm.variant",
    "seed": "prm.seed",
    "outcome": "prm.outcome",
}


def document(*spans: dict[str, Any]) -> dict[str, Any]:
    """One OTLP JSON document."""
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A message of the conventions."""
    return {"role": role, "parts": list(parts)}


def text(content: str) -> dict[str, Any]:
    """A part: text."""
    return {"type": "text", "content": content}


def tool_call(name: str, arguments: Any, id: str | None) -> dict[str, Any]:
    """A part: a call."""
    return {"type": "tool_call", "id": id, "name": name, "arguments": arguments}


def answer(response: Any, id: str | None) -> dict[str, Any]:
    """A part: a result."""
    return {"type": "tool_call_response", "id": id, "response": response}


def spans_of(trajectory: Trajectory, trace: str) -> list[dict[str, Any]]:
    """A trajectory as spans with all content: one chat span a step, one tool span a call."""
    about = trajectory.extra["reach"]
    spans = [span("invoke_agent", 0, 10_000, trace, "root", agent=about["agent"], conversation=f"conversation {trace}")]
    history: list[dict[str, Any]] = []
    for index, message in enumerate(trajectory.messages):
        now = _message(message)
        if message["role"] == "assistant":
            own = {
                "scenario": about["scenario"],
                "run": about["run"],
                "variant": about["variant"],
                "seed": about["seed"],
            }
            spans.append(
                span(
                    "chat", index, index + 0.5, trace, f"chat {index}", "root", input=list(history), output=[now], **own
                )
            )
        elif message["role"] == "tool":
            spans.append(
                span(
                    *("execute_tool", index, index + 0.5, trace, f"tool {index}", "root"),
                    tool=message["name"],
                    call_id=message["tool_call_id"],
                    result=message["content"],
                )
            )
        history.append(now)
    return spans


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        return said("tool", answer(message["content"], message["tool_call_id"]))
    parts = [text(message["content"])] if message["content"] else []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        parts.append(tool_call(function["name"], json.loads(function["arguments"]), call["id"]))
    return said(message["role"], *parts)
