"""What the agent does where information is missing."""

from __future__ import annotations

import numpy as np

from prm.reach.metrics.report_values import MissingInformationReport
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays

RESPONSES = ("asks", "refuses", "invents", "other")

NOTHING_MISSING = "no run lacks this information"


def missing_information_reports(
    arrays: VerdictArrays, means: ScenarioMeans
) -> Later[tuple[MissingInformationReport, ...]]:
    """Of anything that is missing, then by fact; empty where nothing ever is."""
    facts = sorted({item.fact for verdict in arrays.verdicts for item in verdict.missing_information})
    reports = [_report(arrays, fact, means) for fact in ((None, *facts) if facts else ())]
    return lambda: tuple(report() for report in reports)


def _report(arrays: VerdictArrays, fact: str | None, means: ScenarioMeans) -> Later[MissingInformationReport]:
    asks, refuses, invents, other = (
        means.of_runs(_responds(arrays, fact, response), NOTHING_MISSING) for response in RESPONSES
    )
    return lambda: MissingInformationReport(fact, asks(), refuses(), invents(), other())


def _responds(arrays: VerdictArrays, fact: str | None, response: str) -> Floats:
    """[N] 1 where the run responds so to something that is missing; NaN where nothing is."""
    values = np.full(len(arrays.verdicts), np.nan)
    for row, verdict in enumerate(arrays.verdicts):
        items = [item.response for item in verdict.missing_information if fact in (None, item.fact)]
        if items:
            values[row] = response in items
    return values
