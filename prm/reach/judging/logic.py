"""Three-valued logic (Kleene): true, false, or None where the log leaves it open."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def every(truths: Iterable[Truth]) -> Truth:
    """Whether all hold: false as soon as one is, else None if one is None. Stops at the first false one."""
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def some(truths: Iterable[Truth]) -> Truth:
    """Whether one holds: true as soon as one is, else None if one is None. Stops at the first true one."""
    unknown = False
    for truth in truths:
        if truth is True:
            return True
        unknown = unknown or truth is None
    return None if unknown else False


def negation(truth: Truth) -> Truth:
    """The opposite; None stays None."""
    return None if truth is None else not truth
