"""Values and calls as a line of evidence shows them: short, however large they are. And standings, in a letter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from prm.reach.judging.json_leaves import leaves_of, path_text
from prm.reach.judging.verdict import Standing
from prm.reach.log.run import ToolCall

LETTERS: Mapping[Standing, str] = {"reached": "r", "touched": "t", "missed": "m", "n/a": "–", "unscorable": "?"}
"""Standings in one letter each, for a chain of them in a line."""

MAX_VALUE = 120
MAX_CALL = 200
_MAX_LEAVES = 20


def shown(value: Any) -> str:
    """A value, cut to `MAX_VALUE` characters."""
    return _cut(repr(value[: MAX_VALUE + 1]) if isinstance(value, str) else repr(value), MAX_VALUE)


def shown_call(call: ToolCall) -> str:
    """A call, its arguments cut to `MAX_CALL` characters: ``read_ticket(ticket_id='T41')``.

    Arguments that are no object are shown as they were recorded.
    """
    if call.arguments is None:
        return f"{call.tool}({_cut(call.raw, MAX_CALL)})"
    first = islice(leaves_of(call.arguments), _MAX_LEAVES)
    return f"{call.tool}({_cut(', '.join(f'{path_text(path)}={shown(leaf)}' for path, leaf in first), MAX_CALL)})"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
