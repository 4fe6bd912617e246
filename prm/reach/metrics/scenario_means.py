"""Means over scenarios with intervals clustered by template: how every number of a report is made.

First the mean over a scenario's runs, then over the scenarios that have one; never pooled over runs or calls. For
the interval whole templates are resampled, since scenarios of one template are not independent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from prm.evaluation.intervals import Resampling, Sums, interval95
from prm.reach.metrics.estimate import Estimate, Settings
from prm.reach.metrics.verdict_arrays import Floats, Grouping

T = TypeVar("T")

NO_RUNS = "no run counts"

Later = Callable[[], T]
"""A value that is asked for once everything has been put down: all draws are then made together."""


class ScenarioMeans:
    """Estimates over one set of runs, which share their draws."""

    def __init__(self, grouping: Grouping, settings: Settings) -> None:
        """Of the runs in `grouping`; draws and seed are those of `settings`."""
        self.grouping = grouping
        self._resampling = Resampling(grouping.n_templates, settings.bootstrap, settings.seed)

    def of_runs(self, values: Floats, undefined: str = NO_RUNS) -> Later[Estimate]:
        """The estimate of per-run values [N]; a NaN is left out and counted. `undefined`: why there is none."""
        known = ~np.isnan(values)
        runs = int(known.sum())
        return self.of_scenarios(self.grouping.means(values), runs, len(values) - runs, undefined)

    def of_scenarios(self, values: Floats, runs: int, left_out: int, undefined: str = NO_RUNS) -> Later[Estimate]:
        """The estimate of per-scenario values [S], NaN where a scenario has none."""
        known = ~np.isnan(values)
        n_templates, template = self.grouping.n_templates, self.grouping.template
        totals = np.bincount(template, np.where(known, values, 0.0), minlength=n_templates)
        counts = np.bincount(template, known, minlength=n_templates)
        sums = self._resampling.add(np.column_stack([totals, counts]))
        templates = int((counts > 0).sum())
        if not known.any():
            return lambda: Estimate(None, None, 0, 0, runs, left_out, undefined)
        value = float(values[known].mean())
        return lambda: Estimate(value, _interval(sums, templates), int(known.sum()), templates, runs, left_out)


def _interval(sums: Sums, templates: int) -> tuple[float, float] | None:
    """The interval of a mean from draws [B, 2] of (sum, count); None where fewer than two templates have a value."""
    draws = sums.draws
    if draws is None or templates < 2:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        bounds = interval95(draws[:, 0] / draws[:, 1])
    return None if bounds is None else (bounds[0], bounds[1])
