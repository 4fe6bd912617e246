"""The trajectory record of a run whose log is no list of messages: synthesised, so that labels can be written back.

A call becomes an assistant message with `tool_calls` and a tool message behind it. Nothing is put in the agent's
mouth: an assistant message that only a call is known of has null content, and what the log does not hold of a call
(arguments, result) is null too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prm.data.readers.row import Record
from prm.reach.log.matching import Names


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call as a log has it.

    Attributes:
        tool: The tool's name.
        id: Its id; None = the log has none.
        arguments: The JSON object, or the recorded text; None = not recorded.
        result: A JSON value, or the recorded text; None = not recorded.
        status: The log's own word for how it went; None = none.
        failed: Whether it failed; None = the log does not say.
        called_at, returned_at: ISO 8601 or seconds; None = unknown.
    """

    tool: str
    id: str | None = None
    arguments: Mapping[str, Any] | str | None = None
    result: Any = None
    status: str | None = None
    failed: bool | None = None
    called_at: str | float | None = None
    returned_at: str | float | None = None


class SynthesisedMessages:
    """The messages of one run as they are put together.

    Attributes:
        messages: So far.
    """

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._names = Names()
        self._calls = 0

    def add_text(self, role: str, text: str) -> None:
        """A message of `system` or `user`; none where nothing was said."""
        if text:
            self.messages.append({"role": role, "content": text})

    def add_batch(
        self, calls: Sequence[LoggedCall], text: str | None = None, more: Mapping[str, Any] | None = None
    ) -> None:
        """An assistant message, and behind it one result for each call of which the log says what became of it.

        Args:
            calls: In order; none = a message without calls.
            text: What the assistant said; None = not recorded.
            more: Further keys of the message, such as where it stands in the log.
        """
        named = [(self._name(call), call) for call in calls]
        message: dict[str, Any] = {"role": "assistant", "content": text, **(more or {})}
        if named:
            message["tool_calls"] = [_tool_call(call_id, call) for call_id, call in named]
        times = (call.called_at for call in calls if call.called_at is not None)
        self.messages.append(_stamped(message, message.get("timestamp", next(times, None))))
        self.messages += [_result(call_id, call) for call_id, call in named if _has_result(call)]

    def add_result(self, call_id: str | None, answer: Any) -> None:
        """A result that answers no recorded call."""
        wanted = call_id or "result"
        self.messages.append(_result(self._names.unique(wanted), LoggedCall("", result=answer)))

    def _name(self, call: LoggedCall) -> str:
        self._calls += 1
        return self._names.unique(call.id or f"call_{self._calls}")


def trajectory_record(
    messages: Sequence[Mapping[str, Any]],
    *,
    source: str,
    scenario: str,
    run: int | str,
    about: Mapping[str, Any],
    record_id: str | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> Record:
    """The trajectory record of a synthesised run, without labels.

    Args:
        messages: See `SynthesisedMessages`.
        source: Its `data_source`: the kind of log.
        scenario: The query that repeats share.
        run: Number or name of the repeat.
        about: The `reach` object; what is None is left out.
        record_id: The record's `id`; None = (source, scenario, run) is its key.
        tools: Tool declarations; None = not recorded.
    """
    reach = {"scenario": scenario, "run": run, **{key: value for key, value in about.items() if value is not None}}
    identity = {"data_source": source, "query_index": scenario, "sample_index": run, "generator": reach.get("agent")}
    if record_id is not None:
        identity["id"] = record_id
    record = {**identity, "messages": list(messages), "reach": reach}
    if tools is not None:
        record["tools"] = list(tools)
    return {**record, "step_labels": None, "final_label": reach.get("outcome")}


def _tool_call(call_id: str, call: LoggedCall) -> dict[str, Any]:
    arguments = call.arguments
    raw = arguments if arguments is None or isinstance(arguments, str) else _json(arguments)
    recorded = {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": raw}}
    return _stamped(recorded, call.called_at)


def _result(call_id: str, call: LoggedCall) -> dict[str, Any]:
    content = call.result if call.result is None or isinstance(call.result, str) else _json(call.result)
    message: dict[str, Any] = {"role": "tool", "tool_call_id": call_id, "name": call.tool, "content": content}
    if call.status is not None:
        message["status"] = call.status
    if call.failed is not None:
        message["is_error"] = call.failed
    return _stamped(message, call.returned_at)


def _has_result(call: LoggedCall) -> bool:
    return call.result is not None or call.status is not None or call.failed is not None


def _stamped(message: dict[str, Any], when: str | float | None) -> dict[str, Any]:
    if when is not None:
        message["timestamp"] = when
    return message


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
