"""The small language of places: where in a run a value stands. Knows no rule and no log.

    ticket.result.sku              a field of what a call returned; `ticket` is a milestone, a named call or a tool
    generate_action.args.address   an argument of an earlier call
    args.qty                       an argument of the call that is looked at
    result.stock, status …         what the call that is looked at returned
    user, request, system, plan    what was said (`request`: the user's first message; `plan`: stated beside the call)

Lists are passed through (``result.flights.price`` is every flight's price); a number is a position, ``*`` any key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

TEXTS = ("user", "request", "system", "plan")
"""What was said, as opposed to what a call holds."""

ATTRIBUTES = ("status", "ok", "error", "truncated", "partial")
"""What can be asked of a result besides its value."""

Part = Literal["args", "result"]

_NAME = r"[A-Za-z_][A-Za-z0-9_\-]*"
_PATH = r"(?:\.[^\s.]+)*"
PLACE_PATTERN = rf"^(?:{'|'.join(TEXTS)}|args{_PATH}|{_NAME}\.(?:args|result){_PATH})$"
OWN_PATTERN = rf"^(?:{'|'.join(ATTRIBUTES)}|(?:args|result){_PATH})$"
NAME_PATTERN = rf"^{_NAME}$"

_PLACE = re.compile(PLACE_PATTERN)


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed place.

    Attributes:
        owner: A milestone, a named call or a tool; one of `TEXTS`; "" for the call that is looked at.
        part: What of the call; None for text.
        path: Keys from the root of the part.
    """

    owner: str
    part: Part | None
    path: tuple[str, ...]


def parse_place(text: str) -> Place:
    """The place that `text` names.

    Raises:
        ValueError: It is not written as a place is.
    """
    if not _PLACE.match(text):
        raise ValueError(f"a place is NAME.result.PATH, NAME.args.PATH, args.PATH or one of {', '.join(TEXTS)}")
    if text in TEXTS:
        return Place(text, None, ())
    parts = text.split(".")
    if parts[0] == "args":
        return Place("", "args", tuple(parts[1:]))
    part: Part = "args" if parts[1] == "args" else "result"
    return Place(parts[0], part, tuple(parts[2:]))
