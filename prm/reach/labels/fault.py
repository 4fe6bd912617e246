"""What is wrong with one call."""

from __future__ import annotations

from dataclasses import dataclass

from prm.reach.judging.verdict import Evidence


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one call.

    Attributes:
        rule: The rule that it is a case of.
        why: One sentence.
        evidence: The lines of the log that prove it.
    """

    rule: str
    why: str
    evidence: tuple[Evidence, ...] = ()
