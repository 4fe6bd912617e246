"""What became of each milestone, and where on the way to it runs end."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import numpy as np

from prm.reach.judging.verdict import Standing
from prm.reach.metrics.diagnosis_rates import miss_causes
from prm.reach.metrics.estimate import Estimate
from prm.reach.metrics.first_reach import first_reach
from prm.reach.metrics.node_values import EdgeReport, NodeReport
from prm.reach.metrics.reach_curve import longest_curve
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.stability import stability
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays

NOT_SCORED = "the milestone applies to no run, or can be scored in none"
NEVER_READY = "no run reaches its prerequisites"
NEVER_MISSED = "every run that can be scored reaches it"

REASONS = ("never_called", "called_wrong")


def node_reports(arrays: VerdictArrays, cap: int, means: ScenarioMeans) -> Later[tuple[NodeReport, ...]]:
    """One for each milestone, in the spec's order."""
    reports = [_node(arrays, name, cap, means) for name in arrays.milestones]
    return lambda: tuple(report() for report in reports)


def _node(arrays: VerdictArrays, name: str, cap: int, means: ScenarioMeans) -> Later[NodeReport]:
    column = arrays.column(name)
    touched, reached, ready = (values[:, column] for values in (arrays.touched, arrays.reached, arrays.ready))
    touch = means.of_runs(touched, NOT_SCORED)
    reach = means.of_runs(reached, NOT_SCORED)
    gap = means.of_runs(touched - reached, NOT_SCORED)
    given = means.of_runs(np.where(ready == 1, reached, np.nan), NEVER_READY)
    first = first_reach(arrays.calls[:, column], longest_curve(arrays, cap), cap, means)
    stable = stability(reached, means)
    reasons = _reasons(arrays, name, means)
    causes = miss_causes(arrays, name, means)
    standings, required = _standings(arrays, name), bool(arrays.required[:, column].any())
    return lambda: NodeReport(
        name,
        arrays.titles[name],
        required,
        arrays.after[name],
        standings,
        touch(),
        reach(),
        gap(),
        given(),
        first(),
        stable(),
        reasons(),
        causes(),
    )


def _standings(arrays: VerdictArrays, name: str) -> dict[Standing, int]:
    counts = Counter("n/a" if verdict is None else verdict.standing for verdict in arrays.of_milestone(name))
    return {standing: counts[standing] for standing in get_args(Standing)}


def _reasons(arrays: VerdictArrays, name: str, means: ScenarioMeans) -> Later[dict[str, Estimate]]:
    """Why it is open → share of the runs in which it is."""
    missed = arrays.reached[:, arrays.column(name)] == 0
    given = np.array([verdict.reason if verdict else None for verdict in arrays.of_milestone(name)], dtype=object)
    shares = {reason: means.of_runs(np.where(missed, given == reason, np.nan), NEVER_MISSED) for reason in REASONS}
    return lambda: {reason: share() for reason, share in shares.items()}


def edge_reports(arrays: VerdictArrays, means: ScenarioMeans) -> Later[tuple[EdgeReport, ...]]:
    """The way from each prerequisite to its milestone, and from the start to those that have none."""
    edges = [
        _edge(arrays, source, target, means)
        for target in arrays.milestones
        for source in (arrays.after[target] or (None,))
    ]
    return lambda: tuple(edge() for edge in edges)


def _edge(arrays: VerdictArrays, source: str | None, target: str, means: ScenarioMeans) -> Later[EdgeReport]:
    column = arrays.column(target)
    both = _both(arrays, source, column)
    passed = means.of_runs(both, NOT_SCORED)
    ended = means.of_runs(np.where(np.isnan(both), np.nan, arrays.lost[:, column]), NOT_SCORED)
    return lambda: EdgeReport(source, target, passed(), ended())


def _both(arrays: VerdictArrays, source: str | None, column: int) -> Floats:
    """[N] whether source and target are both reached."""
    reached = arrays.reached[:, column]
    return reached if source is None else reached * arrays.reached[:, arrays.column(source)]
