"""Counts over verdicts as they come, for a short summary; the metrics over scenarios are `metrics`' own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from prm.reach.judging.verdict import RunVerdict

FOREIGN = "no run called a tool that a milestone is about: is this the right spec?"
"""What to say where `VerdictTally.is_foreign`."""


@dataclass
class VerdictTally:
    """Plain counts of runs.

    Attributes:
        runs, calls: How many.
        standings: Milestone → standing → runs.
        covered: True, False and None → runs.
        minefields: Minefield → runs that hit it.
        diagnoses: Diagnosis → runs in which it was found.
        noted: Runs whose log had to be repaired, or left something open.
    """

    runs: int = 0
    calls: int = 0
    standings: dict[str, Counter[str]] = field(default_factory=dict)
    covered: Counter[bool | None] = field(default_factory=Counter)
    minefields: Counter[str] = field(default_factory=Counter)
    diagnoses: Counter[str] = field(default_factory=Counter)
    noted: int = 0

    def add(self, verdict: RunVerdict) -> None:
        """One more verdict."""
        self.runs += 1
        self.calls += verdict.calls
        for milestone in verdict.milestones:
            self.standings.setdefault(milestone.name, Counter())[milestone.standing] += 1
        self.covered[verdict.covered] += 1
        self.minefields.update(name for name, is_hit in verdict.minefields.items() if is_hit)
        self.diagnoses.update({found.name for found in verdict.diagnoses})
        self.noted += bool(verdict.notes)

    @property
    def is_foreign(self) -> bool:
        """Whether no run called any tool of the spec: the logs are hardly meant for it."""
        seen = (standing for counts in self.standings.values() for standing in counts)
        return self.runs > 0 and self.calls > 0 and set(seen) <= {"missed", "n/a"}
