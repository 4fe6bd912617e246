"""The one change most worth making next.

The rule: a run's chain breaks at a milestone that is open though its prerequisites are reached. What is lost there
is that milestone and every open one that hangs on it, as a share of the run's required milestones; the mean of this
over scenarios is what a milestone costs, and the dearest one is the one to work on. It is worked on at its *call*
where most of those runs never call its tool, else at its *use*: the tool is called, and its return is not used (the
gap between touched and reached).
"""

from __future__ import annotations

import numpy as np

from prm.reach.metrics.comparison_values import NextChange
from prm.reach.metrics.diagnosis_rates import miss_causes
from prm.reach.metrics.node_values import MissCause
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays
from prm.reach.metrics.words import percent


def next_change(arrays: VerdictArrays, means: ScenarioMeans) -> NextChange | None:
    """The change most worth making for the runs of one side; None where nothing is lost anywhere."""
    costs = {name: lost_share(arrays, name) for name in arrays.milestones}
    totals = {name: _mean(values, means) for name, values in costs.items()}
    if not totals or max(totals.values()) <= 0:
        return None
    name = max(totals, key=lambda milestone: totals[milestone])
    lost, causes = means.of_runs(costs[name]), miss_causes(arrays, name, means)
    called = _mean(_touched_where_lost(arrays, name), means)
    cause = next(iter(causes()), None)
    words = _words(name, totals[name], called, cause)
    return NextChange(name, lost(), "use" if called >= 0.5 else "call", max(called, 1 - called), cause, words)


def _mean(values: Floats, means: ScenarioMeans) -> float:
    by_scenario = means.grouping.means(values)
    return 0.0 if np.isnan(by_scenario).all() else float(np.nanmean(by_scenario))


def lost_share(arrays: VerdictArrays, milestone: str) -> Floats:
    """[N] the share of a run's required milestones that are lost because it breaks at this one; NaN as for it."""
    column = arrays.column(milestone)
    hanging = [column, *(arrays.column(name) for name in dependents(arrays, milestone))]
    counted = arrays.required & ~np.isnan(arrays.reached)
    open_there = (counted & (arrays.reached == 0))[:, hanging].sum(axis=1)
    total = np.maximum(counted.sum(axis=1), 1)
    return np.asarray(arrays.lost[:, column] * open_there / total)


def _touched_where_lost(arrays: VerdictArrays, milestone: str) -> Floats:
    column = arrays.column(milestone)
    return np.where(arrays.lost[:, column] == 1, arrays.touched[:, column], np.nan)


def dependents(arrays: VerdictArrays, milestone: str) -> tuple[str, ...]:
    """All milestones that directly or indirectly come after it, in the spec's order."""
    found: set[str] = set()
    waiting = [milestone]
    while waiting:
        current = waiting.pop()
        new = {name for name, before in arrays.after.items() if current in before and name not in found}
        found |= new
        waiting.extend(new)
    return tuple(name for name in arrays.milestones if name in found - {milestone})


def _words(name: str, lost: float, called: float, cause: MissCause | None) -> str:
    if called >= 0.5:
        what = f"its tool is called, and the return not used, in {percent(called)} of the runs that break there"
    else:
        what = f"its tool is not called in {percent(1 - called)} of the runs that break there"
    because = "" if cause is None else f"; {percent(cause.share.value)} of its misses are {cause.words}"
    return f"work on {name} next: {percent(lost)} of all milestones are lost there; {what}{because}"
