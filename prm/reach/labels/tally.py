"""Rule labels counted: by rule and label, masked steps, outcomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from prm.reach.labels.records import rule_of
from prm.types import StepLabel, Trajectory


@dataclass(slots=True)
class LabelTally:
    """Counts over labelled runs.

    Attributes:
        rules: (rule, label) → steps.
        outcomes: Outcome → runs.
    """

    rules: Counter[tuple[str, StepLabel | None]] = field(default_factory=Counter)
    outcomes: Counter[StepLabel | None] = field(default_factory=Counter)

    def add(self, run: Trajectory) -> None:
        """Counts one more run."""
        self.outcomes[run.final_label] += 1
        for index, label in run.step_labels.items():
            self.rules[rule_of(run, index), label] += 1

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return self.outcomes.total()

    @property
    def steps(self) -> int:
        """How many steps."""
        return self.rules.total()

    @property
    def masked(self) -> int:
        """How many steps no rule labelled."""
        return sum(count for (_, label), count in self.rules.items() if label is None)

    def labels(self) -> Counter[StepLabel | None]:
        """Label → steps."""
        counts: Counter[StepLabel | None] = Counter()
        for (_, label), count in self.rules.items():
            counts[label] += count
        return counts
