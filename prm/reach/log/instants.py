"""Times of a log → seconds, for ordering and for pauses. What cannot be read is None, never an error."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

_LARGEST = 1e11
"""Seconds up to the year 5138; a larger number counts smaller units."""


def seconds_of(value: Any) -> float | None:
    """Seconds since 1970 of ISO 8601 text (without a zone: UTC), of a number, or of a number as text; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _scaled(value)
    return _seconds_of_text(value.strip()) if isinstance(value, str) else None


def _seconds_of_text(text: str) -> float | None:
    try:
        # Python 3.10 does not read the "Z".
        moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        return _scaled(float(text))
    except ValueError:
        return None


def _scaled(number: float) -> float | None:
    try:
        seconds = float(number)
    except OverflowError:
        return None
    if not math.isfinite(seconds):
        return None
    for _ in range(3):
        if abs(seconds) < _LARGEST:
            break
        seconds /= 1000
    return seconds
