"""What a rule is: it looks at one step of a judged run and speaks, or does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from prm.reach.judging.verdict import Evidence
from prm.reach.labels.grounds import Grounds
from prm.reach.log.run import Event
from prm.types import StepLabel


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of a step.

    Attributes:
        label: −1, 0 or +1.
        why: One sentence.
        evidence: The lines of the log that prove it.
    """

    label: StepLabel
    why: str
    evidence: tuple[Evidence, ...] = ()


Rule: TypeAlias = Callable[[Grounds, Event], Finding | None]
"""(grounds, assistant message) → its finding, None where the rule does not speak."""
