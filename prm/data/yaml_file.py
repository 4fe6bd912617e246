"""YAML files that people write: read safely, with one line for whatever is wrong.

A file holds what JSON can hold. What YAML 1.1 makes of other words is left as it is written: dates, times (12:30),
yes and no, and numbers that begin with 0 are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from prm.data.jsonl import require_file
from prm.errors import ConfigError

MAX_BYTES = 1_000_000
"""The largest file: far above what people write, far below what a YAML reader can hold."""

MAX_PARTS = 1_000_000
"""How many values a file may hold with every alias (``*name``) written out: a few lines can stand for billions."""


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; no code in it is run.

    Raises:
        MissingFileError: There is no such file.
        ConfigError: It is not YAML, holds a key twice or what JSON has no form for, or is larger than `MAX_BYTES` or
            `MAX_PARTS`.
    """
    require_file(path)
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError.at(str(path), f"must have at most {MAX_BYTES} bytes", path.stat().st_size, "name another")
    try:
        content = yaml.load(path.read_bytes(), _JsonLoader)
        parts = _parts(content, {})
    except yaml.MarkedYAMLError as error:
        raise ConfigError.at(_place(path, error), "must be YAML", _problem(error), "fix the file") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, KeyError) as error:  # KeyError: !!bool x
        reason = " ".join(str(error).split())
        raise ConfigError.at(str(path), "must be YAML", reason, "fix the file") from None
    if parts > MAX_PARTS:
        raise ConfigError.at(str(path), f"must have at most {MAX_PARTS} parts, aliases written out", parts, "use fewer")
    return content


def _parts(value: Any, counted: dict[int, float]) -> float:
    """How many values a value holds, itself included; infinitely many where an alias stands inside what it names."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in counted:
        counted[id(value)] = float("inf")
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        counted[id(value)] = 1 + sum(_parts(item, counted) for item in inner)
    return counted[id(value)]


class _JsonLoader(yaml.SafeLoader):
    """Makes null, booleans, numbers, text, lists and objects, and nothing else; refuses a key that stands twice."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            name = (key.tag, str(key.value))
            if name in seen:
                found = f"the key {key.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, found, key.start_mark)
            seen.add(name)
        return node


def _construct_int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    try:
        return int(loader.construct_scalar(node))
    except ValueError:
        raise yaml.constructor.ConstructorError(None, None, "too long a number", node.start_mark) from None


def _construct_float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    try:
        number = float(loader.construct_scalar(node))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise yaml.constructor.ConstructorError(None, None, "no finite number", node.start_mark)
    return number


def _resolve(kind: str, pattern: str, first: str) -> None:
    _JsonLoader.add_implicit_resolver(_TAG + kind, re.compile(pattern), list(first))


_TAG = "tag:yaml.org,2002:"
_JsonLoader.yaml_implicit_resolvers = {}
_JsonLoader.yaml_constructors = {
    tag: yaml.SafeLoader.yaml_constructors[tag]
    for tag in (None, *(_TAG + kind for kind in ("null", "bool", "str", "seq", "map")))
}
_resolve("null", r"^(?:~|null|Null|NULL|)$", "~nN")
_JsonLoader.add_implicit_resolver(_TAG + "null", re.compile(r"^$"), [""])
_resolve("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF")
_resolve("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789")
_resolve("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789")
_resolve("merge", r"^<<$", "<")
_JsonLoader.add_constructor(_TAG + "int", _construct_int)
_JsonLoader.add_constructor(_TAG + "float", _construct_float)


def _place(path: Path, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return str(path) if mark is None else f"{path}:{mark.line + 1}"


def _problem(error: yaml.MarkedYAMLError) -> str:
    parts = (error.context, error.problem, error.note)
    return " ".join(", ".join(part for part in parts if part).split())
