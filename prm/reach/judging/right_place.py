"""The right place of a value: under the name of the parameter that it goes to, in a result or in a sentence.

A low-information value (7, "new") is explained only there: by ``{"ticket_id": 7}``, ``{"id": 7}`` or ``{"ticket": 7}``
for a parameter ``ticket_id``, and by "ticket 7", "ticket no. 7" or a message that says nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache

from prm.reach.judging.normal_forms import Tokens
from prm.reach.judging.provenance_records import Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W_A-Za-z\d]+")
_BETWEEN = frozenset({"id", "no", "nr", "number", "num", "code", "is", "the", "my", "a", "to", "of", "named", "called"})
_MAX_BETWEEN = 3


def parameter_name(path: Path) -> str:
    """The name that an argument's leaf goes by: its last key; "" for none."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def is_named(path: Path, name: str) -> bool:
    """Whether a leaf of a result goes by `name`: one name ends or begins with the other (``id`` and ``ticket_id``)."""
    key, wanted = _words(parameter_name(path)), _words(name)
    if not key or not wanted:
        return False
    short, long = sorted((key, wanted), key=len)
    return long[: len(short)] == short or long[-len(short) :] == short


def follows_name(text: Tokens, position: int, name: str) -> bool:
    """Whether the token at `position` stands behind a word of `name`, as in "ticket no. 7"."""
    wanted = set(_words(name)) - _BETWEEN
    for before in reversed(text[max(0, position - 1 - _MAX_BETWEEN) : max(0, position)]):
        if _singular(before) in wanted:
            return True
        if before not in _BETWEEN:
            return False
    return False


@lru_cache(maxsize=10_000)
def _words(name: str) -> tuple[str, ...]:
    return tuple(_singular(word.casefold()) for word in _WORD.findall(name[:200]))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word
