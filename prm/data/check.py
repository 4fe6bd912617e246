"""What a set of trajectories holds: counts, what contradicts itself, and what a token budget would do to it.

One pass, memory independent of the records' size (some tens of bytes a record for digests and lengths).
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prm.data.digest import digest, labels_digest, messages_digest
from prm.data.queries import query_name
from prm.data.sources import Loaded
from prm.types import LABELS, Trajectory

MAX_LISTED = 20
"""How many complaints of a kind are listed; all are counted."""


@dataclass(slots=True)
class Complaints:
    """Complaints of one kind: how many, and the first `MAX_LISTED` as text."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Counts one, and keeps it while there is room."""
        self.count += 1
        if len(self.first) < MAX_LISTED:
            self.first.append(text)

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count, "first": self.first}


@dataclass(slots=True)
class CheckReport:
    """Counts over trajectories; see `as_dict` for the plain form.

    Attributes:
        labels: Step label → steps; None = unknown.
        outcomes: Outcome → trajectories; None = unknown.
        lengths: Length of each trajectory, in characters, or in tokens where a tokenizer was given.
        warnings: What is legal and still worth a look (tool arguments that are not JSON).
        contradictions: Same messages and tools as an earlier record, other labels.
        duplicates: Same key as an earlier record.
    """

    trajectories: int = 0
    steps: int = 0
    labels: Counter[int | None] = field(default_factory=Counter)
    outcomes: Counter[int | None] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    generators: Counter[str] = field(default_factory=Counter)
    protocols: Counter[str] = field(default_factory=Counter)
    queries: int = 0
    length_unit: str = "characters"
    lengths: array[int] = field(default_factory=lambda: array("q"))
    warnings: Complaints = field(default_factory=Complaints)
    contradictions: Complaints = field(default_factory=Complaints)
    duplicates: Complaints = field(default_factory=Complaints)

    def length_summary(self) -> dict[str, int]:
        """Median, 90th percentile (nearest rank) and maximum of `lengths`; empty without trajectories."""
        if not self.lengths:
            return {}
        p50, p90 = np.percentile(np.asarray(self.lengths), [50, 90], method="inverted_cdf")
        return {"p50": int(p50), "p90": int(p90), "max": max(self.lengths)}

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for ``prm check --json``."""
        return {
            "schema": "prm.check/1",
            "trajectories": self.trajectories,
            "steps": self.steps,
            "label_counts": {
                **{str(label): self.labels[label] for label in LABELS},
                "unknown": self.labels[None],
            },
            "outcome_counts": {
                **{str(label): self.outcomes[label] for label in LABELS},
                "unknown": self.outcomes[None],
            },
            "queries": self.queries,
            "by_source": dict(sorted(self.by_source.items())),
            "generators": dict(sorted(self.generators.items())),
            "protocols": dict(sorted(self.protocols.items())),
            "lengths": {"unit": self.length_unit, **self.length_summary()},
            "warnings": self.warnings.as_dict(),
            "contradictions": self.contradictions.as_dict(),
            "duplicates": self.duplicates.as_dict(),
        }


Measure = Callable[[Trajectory], int]


def count_characters(trajectory: Trajectory) -> int:
    """Characters of all messages as JSON: what there is to read, whatever the tokenizer."""
    return sum(len(json.dumps(message, ensure_ascii=False)) for message in trajectory.messages)


def check_trajectories(
    loaded: Iterable[Loaded], measure: Measure = count_characters, length_unit: str = "characters"
) -> CheckReport:
    """Counts over all records; see `CheckReport`.

    Args:
        loaded: Valid trajectories with where they stood.
        measure: Length of a trajectory.
        length_unit: What `measure` counts.
    """
    report = CheckReport(length_unit=length_unit)
    keys: set[int] = set()
    queries: set[int] = set()
    labels_of: dict[int, int] = {}
    for item in loaded:
        trajectory = item.trajectory
        _count(report, trajectory)
        report.lengths.append(measure(trajectory))
        for text in argument_warnings(item):
            report.warnings.add(text)
        key = digest(trajectory.key)
        if key in keys:
            report.duplicates.add(f"{item.where}: key {' / '.join(trajectory.key)} stands in an earlier record too")
        keys.add(key)
        queries.add(digest(query_name(trajectory)))
        if labels_of.setdefault(messages_digest(trajectory), labels_digest(trajectory)) != labels_digest(trajectory):
            report.contradictions.add(f"{item.where}: same messages as an earlier record, other labels")
    report.queries = len(queries)
    return report


def _count(report: CheckReport, trajectory: Trajectory) -> None:
    report.trajectories += 1
    report.steps += len(trajectory.step_labels)
    report.labels.update(trajectory.step_labels.values())
    report.outcomes[trajectory.final_label] += 1
    report.by_source[trajectory.source] += 1
    report.generators[trajectory.identity.generator or "unknown"] += 1
    report.protocols[trajectory.protocol or "unnamed"] += 1


def argument_warnings(item: Loaded) -> Iterator[str]:
    """One line for each tool call whose argument string is not JSON (it stays as it is: it is evidence)."""
    for step in item.trajectory.steps:
        for number, call in enumerate(step.message.get("tool_calls") or ()):
            arguments = call["function"].get("arguments")
            if isinstance(arguments, str) and arguments.strip() and not _is_json(arguments):
                place = f"messages[{step.index}].tool_calls[{number}].function.arguments"
                yield f"{item.where}: {place}: not JSON, kept as it is"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
