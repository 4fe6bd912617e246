"""Undoing what Arrow does to records whose objects have different keys.

A struct column unites the keys of all rows and fills the others in with nulls: each record comes back with
the labels of foreign messages, and each tool call with the arguments of foreign tools. A null under a foreign
key is no value. What a null meant before is not always knowable; where a key fits (an assistant message, a
declared argument), it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_STEP_KEYED = ("step_labels", "step_label_probs")


def undo_arrow(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without foreign keys.

    - in `step_labels`: keys with null that are not assistant messages (a label under such a key stays, to be
      refused)
    - in messages, calls and tool declarations: absent parts that came back as null
    - in tool arguments that are objects: nulls under names that the called tool does not declare
    """
    messages = record.get("messages")
    if not isinstance(messages, list):
        return dict(record)
    tools = _without_nulls(record.get("tools"))
    declared = _declared_arguments(tools)
    steps = {str(i) for i, m in enumerate(messages) if isinstance(m, Mapping) and m.get("role") == "assistant"}
    clean = {
        **record,
        "messages": [_clean_message(message, declared) for message in messages],
        "tools": tools,
    }
    for name in _STEP_KEYED:
        if isinstance(record.get(name), Mapping):
            clean[name] = {
                k: v for k, v in record[name].items() if v is not None or (k in steps and name == "step_labels")
            }
    return clean


def _clean_message(message: Any, declared: Mapping[str, set[str]]) -> Any:
    if not isinstance(message, Mapping):
        return message
    # `content: null` is what an agent that only calls tools records, so it stays.
    clean = {key: value for key, value in message.items() if value is not None or key == "content"}
    if isinstance(clean.get("tool_calls"), list):
        clean["tool_calls"] = [_clean_call(call, declared) for call in clean["tool_calls"]]
        if not clean["tool_calls"]:
            del clean["tool_calls"]
    return clean


def _clean_call(call: Any, declared: Mapping[str, set[str]]) -> Any:
    if not isinstance(call, Mapping) or not isinstance(call.get("function"), Mapping):
        return call
    function = {key: value for key, value in call["function"].items() if value is not None}
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        names = declared.get(str(function.get("name")), set())
        function["arguments"] = {k: v for k, v in arguments.items() if v is not None or k in names}
    return {**{key: value for key, value in call.items() if value is not None}, "function": function}


def _declared_arguments(tools: Any) -> dict[str, set[str]]:
    declared: dict[str, set[str]] = {}
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function", tool) if isinstance(tool, Mapping) else {}
        parameters = function.get("parameters") if isinstance(function, Mapping) else None
        properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
        if isinstance(properties, Mapping):
            declared[str(function.get("name"))] = set(properties)
    return declared


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value]
    return value
