"""The plan that an agent states before its calls: how free text becomes checkable.

A plan is the first JSON object in the text of an assistant message that makes calls: in a fence (```` ```json ````)
or bare, nested or with prose around it. An object under its key ``plan`` is the plan itself. A message without calls
has a plan only in that form: its JSON may just as well be the answer. Thinking (``<think>…</think>``) and calls
written as text (``<tool_call>…</tool_call>``) are not stated plans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MAX_ATTEMPTS = 20
"""How many opening braces are tried: text full of them must not cost more than a few readings."""

_NOT_STATED = re.compile(r"(?is)<(think|thinking|tool_call)>.*?(?:</\1>|\Z)")
_FENCE = re.compile(r"(?s)```[A-Za-z]{0,20}[ \t]{0,4}\n?(.*?)```")
_MAX_NESTING = 50


def plan_in(text: str, has_calls: bool) -> Mapping[str, Any] | None:
    """The plan that a message states; None where it states none.

    Args:
        text: What the assistant said.
        has_calls: Whether the message makes calls.
    """
    if "{" not in text:
        return None
    stated = _NOT_STATED.sub(" ", text)
    found = _first_object(stated)
    if found is None:
        return None
    inner = found.get("plan")
    if isinstance(inner, dict) and inner:
        return inner
    return found if has_calls or "plan" in found else None


def _first_object(text: str) -> dict[str, Any] | None:
    for part in (*_FENCE.findall(text)[:MAX_ATTEMPTS], text):
        found = _object_at_brace(part)
        if found is not None:
            return found
    return None


def _object_at_brace(text: str) -> dict[str, Any] | None:
    start = -1
    for _ in range(MAX_ATTEMPTS):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value and _is_shallow(value):
            return value
    return None


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_NESTING):
        level = [child for part in level for child in _children(part)]
        if not level:
            return True
    return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
