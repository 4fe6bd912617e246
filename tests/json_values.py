"""What tests ask of JSON values of any shape."""

from __future__ import annotations

from typing import Any


def numbers(value: Any) -> list[float]:
    """Every float in a JSON value."""
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)]
    return [value] if isinstance(value, float) else []
