"""The values that a tool's own declaration names: `enum`, `const` and `default`, and the two of a boolean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.provenance_records import Path

_MAX_NODES = 500
_CHOICES = ("anyOf", "oneOf", "allOf")


class SchemaValues:
    """Answers whether a declaration names a value.

    Args:
        tools: OpenAI-style (or MCP-style, ``inputSchema``) declarations as recorded; anything else declares nothing.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self._schemas = dict(schema for tool in tools if (schema := _schema_of(tool)) is not None)
        self._named: dict[tuple[str, Path], frozenset[str]] = {}

    def names(self, tool: str, path: Path, value: Any) -> bool:
        """Whether the declaration of `tool` names `value` for the argument at `path`."""
        schema = self._schemas.get(tool)
        if schema is None:
            return False
        keys = tuple("*" if isinstance(part, int) else part for part in path)
        if (tool, keys) not in self._named:
            self._named[tool, keys] = frozenset(map(normal_form, _named_values(schema, keys)))
        return normal_form(value) in self._named[tool, keys]


def _schema_of(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return None
    for key in ("parameters", "inputSchema", "input_schema"):
        if isinstance(function.get(key), Mapping):
            return function["name"], function[key]
    return None


def _named_values(schema: Mapping[str, Any], keys: Path) -> Iterator[Any]:
    nodes = _expanded([schema], schema)
    for key in keys:
        nodes = _expanded([child for node in nodes for child in _children(node, key)], schema)
    for node in nodes:
        for name in ("const", "default"):
            if node.get(name) not in (None, ""):
                yield node[name]
        if isinstance(node.get("enum"), list):
            yield from node["enum"]
        if node.get("type") == "boolean":
            yield from (True, False)


def _children(node: Mapping[str, Any], key: str | int) -> Iterator[Any]:
    properties = node.get("properties")
    if key == "*":
        yield node.get("items")
    elif isinstance(properties, Mapping) and key in properties:
        yield properties[key]
    else:
        yield node.get("additionalProperties")


def _expanded(nodes: Sequence[Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes with what they refer to or offer as choices; a circle of references is walked once."""
    found: list[Mapping[str, Any]] = []
    seen: set[int] = set()
    left = list(nodes)
    while left and len(found) < _MAX_NODES:
        node = left.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        found.append(node)
        left += [_referred(node.get("$ref"), root)]
        left += [choice for key in _CHOICES if isinstance(node.get(key), list) for choice in node[key]]
    return found


def _referred(reference: Any, root: Mapping[str, Any]) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    value: Any = root
    for part in reference[2:].split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
