"""YAML files that people write: read safely, with one line for whatever is wrong."""

from __future__ import annotations

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
        ConfigError: It is not YAML, or larger than `MAX_BYTES` or `MAX_PARTS`.
    """
    require_file(path)
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError.at(str(path), f"must have at most {MAX_BYTES} bytes", path.stat().st_size, "name another")
    try:
        content = yaml.safe_load(path.read_bytes())
        parts = _parts(content, {})
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
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
