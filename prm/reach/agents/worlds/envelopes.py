"""Envelopes around what one's own tools return: a missing field is said, not hidden."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from prm.reach.desk.environment import Envelope, Status
from prm.reach.desk.scenarios import CORRUPTION

STATUSES: tuple[str, ...] = get_args(Status)


def found(record: Mapping[str, Any]) -> Envelope:
    """A full answer; partial where a field of it is null, empty or damaged."""
    return Envelope("ok", "partial" if is_damaged(record) else "complete", False, record)


def failed(status: Status, error: str) -> Envelope:
    """No answer, and why."""
    return Envelope(status, "partial", False, {"error": error})


def timed_out() -> Envelope:
    """No return in time."""
    return Envelope("timeout", "partial", False, None)


def is_damaged(record: Mapping[str, Any]) -> bool:
    """Whether a field is null, empty text, or text that lost characters."""
    return any(value is None or value == "" or _is_corrupted(value) for value in record.values())


def _is_corrupted(value: Any) -> bool:
    return isinstance(value, str) and CORRUPTION * 3 in value


def envelope_of(value: Any) -> Envelope:
    """The envelope of a JSON value that a tool returned.

    An object with a `status` that Reach knows and a `record` that is an object or null is an envelope already; any
    other object is the record; any other value is the record's ``result``.
    """
    if not isinstance(value, Mapping):
        return found({"result": value})
    status, record = value.get("status"), value.get("record")
    if status not in STATUSES or "record" not in value or not (record is None or isinstance(record, Mapping)):
        return found(value)
    truncated = value.get("is_truncated") is True
    whole = status == "ok" and not truncated and record is not None and not is_damaged(record)
    complete = whole and value.get("data_quality") != "partial"
    return Envelope(
        status, "complete" if complete else "partial", truncated, record or ({} if status == "ok" else None)
    )


def refuse_non_json(value: Any) -> None:
    """Raises ValueError or TypeError where a value cannot be written as JSON (NaN, other types, too deep)."""
    try:
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deep") from None
