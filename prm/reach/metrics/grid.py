"""The stability grid: every scenario with its runs side by side."""

from __future__ import annotations

from collections import defaultdict

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.estimate import OUTCOMES
from prm.reach.metrics.report_values import GridCell, GridRow
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.stability import abilities_of
from prm.reach.metrics.verdict_arrays import VerdictArrays


def grid(arrays: VerdictArrays, means: ScenarioMeans) -> tuple[GridRow, ...]:
    """One row for each scenario, ordered by template and name; its runs in order of their numbers."""
    runs: dict[int, list[RunVerdict]] = defaultdict(list)
    for scenario, verdict in zip(arrays.grouping.scenario.tolist(), arrays.verdicts, strict=True):
        runs[scenario].append(verdict)
    by_milestone = [abilities_of(arrays.reached[:, column], means) for column in range(len(arrays.milestones))]
    rows = [
        GridRow(
            scenario=name,
            template=runs[number][0].template,
            cells=tuple(_cell(arrays, verdict) for verdict in sorted(runs[number], key=_run_order)),
            abilities=tuple(abilities[number] for abilities in by_milestone),
        )
        for number, name in enumerate(arrays.grouping.names)
    ]
    return tuple(sorted(rows, key=lambda row: (row.template, row.scenario)))


def _run_order(verdict: RunVerdict) -> tuple[bool, int, str]:
    number = verdict.run if isinstance(verdict.run, int) else 0
    return isinstance(verdict.run, str), number, str(verdict.run)


def _cell(arrays: VerdictArrays, verdict: RunVerdict) -> GridCell:
    by_name = verdict.by_name
    return GridCell(
        run=verdict.run,
        key=verdict.identity.key,
        standings=tuple(by_name[name].standing if name in by_name else "n/a" for name in arrays.milestones),
        outcomes={name: getattr(verdict, name) for name in OUTCOMES},
        calls=verdict.calls,
        end=verdict.end,
    )
