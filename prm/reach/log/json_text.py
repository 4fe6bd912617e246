"""JSON that stands in text: arguments and results as they were recorded. Whatever is no sound JSON stays text."""

from __future__ import annotations

import json
from typing import Any

from prm.data.jsonl import parse_json
from prm.errors import RecordError

_BEGINNINGS = frozenset('{["-0123456789tfn')
_COMPOUND = ("{", "[")


class NoJson:
    """What `json_in` gives for text that is no JSON: None is a JSON value."""


NO_JSON = NoJson()


def json_in(text: str) -> Any:
    """The JSON value of a whole text; `NO_JSON` where it is none, or is nested deeper than a record may be."""
    stripped = text.strip()
    if not stripped or stripped[0] not in _BEGINNINGS:
        return NO_JSON
    try:
        return parse_json(stripped.encode("utf-8", "surrogatepass"), "text")
    except RecordError:
        return NO_JSON


def breaks_off(text: str) -> bool:
    """Whether a text that is no JSON begins as an object or a list: the log holds only a part of it."""
    stripped = text.lstrip()
    return stripped.startswith(_COMPOUND) and not stripped.rstrip().endswith(("}", "]"))


def object_in(recorded: Any) -> dict[str, Any] | None:
    """The JSON object of recorded arguments: an object, its text, or its text encoded twice; else None."""
    value = recorded
    for _ in range(2):
        if not isinstance(value, str):
            break
        value = json_in(value)
    return value if isinstance(value, dict) else None


def text_of_json(value: Any) -> str:
    """A JSON value as text; text as it is, and "" for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
