"""The values of a report, a comparison or a stability file as JSON: what `prm schema reach-report` etc. describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def as_json(value: Any) -> Any:
    """A value of this package as plain JSON: dataclasses and mappings become objects, tuples lists."""
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(inner) for inner in value]
    return value
