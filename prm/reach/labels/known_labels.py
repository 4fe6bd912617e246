"""The test of the rules: runs of the ticket desk whose labels are known by construction, labelled by rules.

The known labels never reach the rules: they are put aside before, and compared after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prm.reach.labels.records import rule_of
from prm.reach.labels.rules import label_trajectory
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from prm.types import StepLabel, Trajectory

KNOWN = "known"
"""Key of `reach` under which a relabelled run keeps its known labels."""


def relabel_by_rules(runs: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """Scripted runs of the ticket desk with rule labels; `reach.known` keeps the labels known by construction."""
    spec = shipped_spec("ticket")
    for run in runs:
        known = {
            "step_labels": {str(index): label for index, label in run.step_labels.items()},
            "final_label": run.final_label,
            "label_notes": run.label_notes,
        }
        labelled, _ = label_trajectory(run_of_trajectory(run, spec.envelope), spec)
        reach = {**labelled.extra["reach"], KNOWN: known}
        yield replace(labelled, extra={**labelled.extra, "reach": reach})


@dataclass(slots=True)
class Agreement:
    """Rule labels against known ones, counted.

    Attributes:
        runs: Runs.
        same, different, masked: Steps.
        outcomes_same: Runs whose outcome is the known one.
    """

    runs: int = 0
    same: int = 0
    different: int = 0
    masked: int = 0
    outcomes_same: int = 0

    @property
    def steps(self) -> int:
        """All steps."""
        return self.same + self.different + self.masked

    @property
    def agreement(self) -> float | None:
        """Share of the unmasked steps with the known label; None without any."""
        unmasked = self.same + self.different
        return self.same / unmasked if unmasked else None

    @property
    def masked_share(self) -> float | None:
        """Share of the steps that no rule labelled; None without steps."""
        return self.masked / self.steps if self.steps else None


@dataclass(slots=True)
class KnownComparison:
    """Rule labels against known ones: in all, by habit, by scenario template, and where they differ.

    Attributes:
        overall: All runs.
        by_habit: Scripted habit (``none`` for a clean run) → its runs.
        by_template: Scenario template → its runs.
        differences: (habit, known reason, known label, rule, rule label) → steps.
    """

    overall: Agreement = field(default_factory=Agreement)
    by_habit: dict[str, Agreement] = field(default_factory=dict)
    by_template: dict[str, Agreement] = field(default_factory=dict)
    differences: Counter[tuple[str, str, StepLabel | None, str, StepLabel | None]] = field(default_factory=Counter)

    def add(self, run: Trajectory) -> None:
        """Takes in one run from `relabel_by_rules`."""
        reach: Mapping[str, Any] = run.extra["reach"]
        known: Mapping[str, Any] = reach[KNOWN]
        habit = str(reach.get("habit") or "none")
        of_template = self.by_template.setdefault(str(reach.get("template")), Agreement())
        for counts in (self.overall, self.by_habit.setdefault(habit, Agreement()), of_template):
            counts.runs += 1
            counts.outcomes_same += run.final_label == known["final_label"]
            for index, label in run.step_labels.items():
                _count(counts, label, known["step_labels"][str(index)])
        for index, label in run.step_labels.items():
            right = known["step_labels"][str(index)]
            if label != right:
                reason = str(known["label_notes"][str(index)])
                self.differences[habit, reason, right, rule_of(run, index), label] += 1


def _count(counts: Agreement, label: StepLabel | None, known: StepLabel | None) -> None:
    if label is None:
        counts.masked += 1
    elif label == known:
        counts.same += 1
    else:
        counts.different += 1
