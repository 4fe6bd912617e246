"""Self-test logs with parts taken out: what a milestone must not survive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prm.reach.spec.model import Spec
from prm.reach.spec.self_test_logs import LoggedMessage, SelfTestLog


def idle(log: SelfTestLog) -> SelfTestLog:
    """The same request, and an assistant that only says that it is done."""
    said = [message for message in log.messages if message.say is None and not message.calls]
    return _with_messages(log, (*said, LoggedMessage(say="Done.")))


def without_tool(log: SelfTestLog, tool: str) -> SelfTestLog:
    """The log without the calls of a tool."""
    kept = []
    for message in log.messages:
        calls = tuple(call for call in message.calls if call.tool != tool)
        if calls or message.say is not None or not message.calls:
            kept.append(message.model_copy(update={"calls": calls}))
    return _with_messages(log, tuple(kept))


def scrambled(spec: Spec, log: SelfTestLog, tool: str) -> SelfTestLog:
    """The log in which the tool returned other values, in an envelope that says the same of them."""
    record = None if spec.envelope is None else spec.envelope.record
    kept = []
    for message in log.messages:
        calls = (
            call.model_copy(update={"result": _with_other_record(call.result, record)}) if call.tool == tool else call
            for call in message.calls
        )
        kept.append(message.model_copy(update={"calls": tuple(calls)}))
    return _with_messages(log, tuple(kept))


def _with_other_record(result: Any, record: str | None) -> Any:
    if record is not None and isinstance(result, Mapping) and record in result:
        return {**result, record: _other(result[record])}
    return _other(result)


def _other(value: Any) -> Any:
    """Something of the same form that says something else; what is missing stays missing."""
    if isinstance(value, Mapping):
        return {name: _other(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_other(part) for part in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0 if value else 1
    return "another-value" if isinstance(value, str) and value else value


def _with_messages(log: SelfTestLog, messages: tuple[LoggedMessage, ...]) -> SelfTestLog:
    """The log with other messages, and nothing expected of it."""
    return log.model_copy(update={"messages": messages, "expect": None, "legal": False})
