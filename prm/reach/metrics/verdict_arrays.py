"""Verdicts as arrays, so that every metric is a few operations on whole columns.

Shapes: N runs, S scenarios, M milestones. NaN stands for n/a, unscorable or unknown; it never counts as 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prm.reach.judging.verdict import MilestoneVerdict, RunVerdict
from prm.reach.metrics.estimate import OUTCOMES

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

SCORED = ("missed", "touched", "reached")
"""The standings that say something of the agent."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which scenario a run is of, and which template a scenario is of.

    Attributes:
        names: [S] scenarios, in order of their first run.
        scenario: [N] index into `names`.
        template: [S] index of the template: what is resampled.
    """

    names: tuple[str, ...]
    scenario: Ints
    template: Ints

    @cached_property
    def n_templates(self) -> int:
        """How many templates there are."""
        return len(set(self.template.tolist()))

    def run_counts(self, counted: npt.NDArray[np.bool_]) -> Floats:
        """[S] how many of the `counted` [N] runs each scenario has."""
        return np.bincount(self.scenario[counted], minlength=len(self.names)).astype(np.float64)

    def sums(self, values: Floats) -> Floats:
        """[S] sums of [N] values; NaN counts as nothing."""
        return np.asarray(np.bincount(self.scenario, np.nan_to_num(values), minlength=len(self.names)), np.float64)

    def means(self, values: Floats) -> Floats:
        """[S] means over the runs that have a value [N]; NaN where none has."""
        counts = self.run_counts(~np.isnan(values))
        return ratio(self.sums(values), counts)


def ratio(parts: Floats, wholes: Floats) -> Floats:
    """parts / wholes; NaN where the whole is 0."""
    return np.asarray(np.divide(parts, wholes, out=np.full(len(wholes), np.nan), where=wholes > 0), np.float64)


def group_runs(scenarios: Sequence[str], templates: Sequence[str]) -> Grouping:
    """The grouping of [N] runs by the names of their scenarios and templates.

    A scenario has the template of its first run.
    """
    numbers: dict[str, int] = {}
    of_scenario: dict[int, str] = {}
    scenario = np.empty(len(scenarios), dtype=np.int64)
    for run, (name, template) in enumerate(zip(scenarios, templates, strict=True)):
        scenario[run] = number = numbers.setdefault(name, len(numbers))
        of_scenario.setdefault(number, template)
    order = {template: number for number, template in enumerate(dict.fromkeys(of_scenario.values()))}
    template_of = np.array([order[template] for template in of_scenario.values()], dtype=np.int64)
    return Grouping(tuple(numbers), scenario, template_of)


@dataclass(frozen=True, eq=False)
class VerdictArrays:
    """The runs of one agent × variant.

    Attributes:
        verdicts: [N].
        grouping: Of the runs.
        milestones: [M] names, in the order in which the verdicts first name them.
        after: Milestone → its prerequisites among `milestones`, as any verdict says.
        titles: Milestone → what it is, in words; "" = unknown.
        touched, reached: [N, M] 1, 0 or NaN (n/a or unscorable); what is reached counts as touched.
        required: [N, M] whether coverage asks for it; False where it does not apply.
        calls: [N, M] after how many calls it is reached; infinite where it is not, NaN as above.
        ready: [N, M] whether all prerequisites are reached: 1, 0 or NaN (unknown, or as above).
        outcomes: [N, 4] in the order of `OUTCOMES`: 1, 0 or NaN.
    """

    verdicts: tuple[RunVerdict, ...]
    grouping: Grouping
    milestones: tuple[str, ...]
    after: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, str]
    touched: Floats
    reached: Floats
    required: npt.NDArray[np.bool_]
    calls: Floats
    ready: Floats
    outcomes: Floats

    @cached_property
    def lost(self) -> Floats:
        """[N, M] 1 where the milestone is open though all its prerequisites are reached: the chain broke here."""
        return np.where(self.reached == 0, self.ready, np.where(self.reached == 1, 0.0, np.nan))

    def column(self, milestone: str) -> int:
        """The number of a milestone."""
        return self.milestones.index(milestone)

    def of_milestone(self, milestone: str) -> tuple[MilestoneVerdict | None, ...]:
        """[N] the verdicts on one milestone; None where a run has none."""
        return tuple(verdict.by_name.get(milestone) for verdict in self.verdicts)

    def subset(self, rows: Ints) -> VerdictArrays:
        """The runs `rows` alone; the milestones stay."""
        verdicts = tuple(self.verdicts[row] for row in rows)
        return VerdictArrays(
            verdicts=verdicts,
            grouping=group_verdicts(verdicts),
            milestones=self.milestones,
            after=self.after,
            titles=self.titles,
            touched=self.touched[rows],
            reached=self.reached[rows],
            required=self.required[rows],
            calls=self.calls[rows],
            ready=self.ready[rows],
            outcomes=self.outcomes[rows],
        )


def encode_verdicts(verdicts: Sequence[RunVerdict]) -> VerdictArrays:
    """The arrays of verdicts; a milestone that a verdict does not name does not apply to its run."""
    places, after, titles = _milestones(verdicts)
    shape = (len(verdicts), len(places))
    touched, reached, calls, ready = (np.full(shape, np.nan) for _ in range(4))
    required = np.zeros(shape, dtype=np.bool_)
    for row, verdict in enumerate(verdicts):
        for milestone in verdict.milestones:
            cell = row, places[milestone.name]
            required[cell] = milestone.required and milestone.standing != "n/a"
            if milestone.standing in SCORED:
                touched[cell] = milestone.standing != "missed"
                reached[cell] = milestone.standing == "reached"
                calls[cell] = _calls_until(milestone, verdict)
                ready[cell] = _as_number(milestone.after_reached)
    outcomes = np.array([[_as_number(getattr(verdict, name)) for name in OUTCOMES] for verdict in verdicts])
    return VerdictArrays(
        verdicts=tuple(verdicts),
        grouping=group_verdicts(verdicts),
        milestones=tuple(places),
        after=after,
        titles=titles,
        touched=touched,
        reached=reached,
        required=required,
        calls=calls,
        ready=ready,
        outcomes=outcomes.reshape(len(verdicts), len(OUTCOMES)).astype(np.float64),
    )


def _milestones(
    verdicts: Sequence[RunVerdict],
) -> tuple[dict[str, int], dict[str, tuple[str, ...]], dict[str, str]]:
    """Milestone → its number, its prerequisites and its title."""
    declared = dict.fromkeys((m.name, m.after, m.title) for verdict in verdicts for m in verdict.milestones)
    places: dict[str, int] = {}
    after: dict[str, dict[str, None]] = {}
    titles: dict[str, str] = {}
    for name, before, title in declared:
        places.setdefault(name, len(places))
        after.setdefault(name, {}).update(dict.fromkeys(before))
        titles[name] = titles.get(name) or title
    return places, {name: tuple(n for n in before if n in places) for name, before in after.items()}, titles


def group_verdicts(verdicts: Sequence[RunVerdict]) -> Grouping:
    """The grouping of verdicts by their scenarios and templates."""
    return group_runs([verdict.scenario for verdict in verdicts], [verdict.template for verdict in verdicts])


def _as_number(value: bool | None) -> float:
    return float("nan") if value is None else float(value)


def _calls_until(milestone: MilestoneVerdict, verdict: RunVerdict) -> float:
    """Calls made when it was reached; one that is reached by words alone, before any call, counts as at the first."""
    if milestone.standing != "reached":
        return float("inf")
    made = verdict.calls if milestone.reached is None else milestone.reached.call + 1
    return float(max(1, made))
