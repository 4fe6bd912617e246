"""Varied natural text from phrase banks: ``[a|b]`` is a free choice, ``<slot>`` a value.

Every agent draws from the same banks, whether its step is right or wrong: the words must not tell the label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from prm.reach.desk.ticket_data import ticket_data

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"<(\w+)>")


def fill(pattern: str, slots: Mapping[str, str], rng: random.Random) -> str:
    """`pattern` with one alternative chosen in each ``[a|b]`` and every ``<slot>`` filled from `slots`.

    Raises:
        KeyError: The pattern names a slot that `slots` lacks.
    """
    chosen = _CHOICE.sub(lambda match: rng.choice(match.group(1).split("|")), pattern)
    return _SLOT.sub(lambda match: slots[match.group(1)], chosen)


def phrase(bank: str, slots: Mapping[str, str], rng: random.Random) -> str:
    """One sentence of the named bank."""
    return fill(rng.choice(ticket_data("phrases")[bank]), slots, rng)


def remark(bank: str, slots: Mapping[str, str], rng: random.Random) -> str:
    """What an agent says beside its call: an optional opener, a sentence of the bank, an optional closer."""
    banks = ticket_data("phrases")
    return str(rng.choice(banks["openers"])) + phrase(bank, slots, rng) + str(rng.choice(banks["closers"]))
