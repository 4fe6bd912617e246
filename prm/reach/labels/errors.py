"""Calls that a tool refused: by an argument that the agent could have known to be wrong, or only learnable by trying.

An agent can know that its arguments are no JSON object, that the tool does not exist, that a required argument is
absent or a reference blank, and what the declaration says of types and enums. Whatever else a tool refuses, such as
the status that the user asked for, has to be tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prm.reach.judging.json_leaves import path_text
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.log.run import ToolCall

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def what_is_illegal(judged: JudgedRun, call: ToolCall) -> str:
    """What of a call's arguments the agent could have known to be wrong, in words; "" for nothing."""
    if call.arguments is None:
        return "the arguments are no JSON object"
    declared = _declarations(judged)
    if declared and call.tool not in declared:
        return f"there is no tool {call.tool}"
    problems = (*_blank_references(judged, call), *_against_schema(declared.get(call.tool, {}), call))
    return next(iter(problems), "")


def _declarations(judged: JudgedRun) -> Mapping[str, Mapping[str, Any]]:
    """Tool → the schema of its parameters, as the record declares it."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in judged.run.trajectory.tools:
        function = tool.get("function", tool)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            found[function["name"]] = schema if isinstance(schema, Mapping) else {}
    return found


def _blank_references(judged: JudgedRun, call: ToolCall) -> Iterator[str]:
    for leaf in judged.leaves(call):
        if leaf.kind == "ref" and (leaf.value is None or (isinstance(leaf.value, str) and not leaf.value.strip())):
            yield f"{path_text(leaf.path)} is blank"


def _against_schema(schema: Mapping[str, Any], call: ToolCall) -> Iterator[str]:
    arguments = call.arguments or {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name not in arguments:
            yield f"{name} is absent"
    properties = schema.get("properties")
    for name, declared in (properties if isinstance(properties, Mapping) else {}).items():
        if name in arguments and isinstance(declared, Mapping):
            yield from _against_declared(name, arguments[name], declared)


def _against_declared(name: str, value: Any, declared: Mapping[str, Any]) -> Iterator[str]:
    allowed = declared.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        yield f"{name} is none of the declared values"
    kind = declared.get("type")
    types = _TYPES.get(kind) if isinstance(kind, str) else None
    if types is not None and value is not None and not _is_of(value, types):
        yield f"{name} is no {kind}"


def _is_of(value: Any, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in types
    return isinstance(value, types)
