"""Everything that is measured of one agent × variant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from prm.reach.metrics.diagnosis_rates import diagnosis_reports
from prm.reach.metrics.estimate import OUTCOMES, Arm, Estimate, Settings
from prm.reach.metrics.findings import arm_findings
from prm.reach.metrics.grid import grid
from prm.reach.metrics.missing_information_rates import missing_information_reports
from prm.reach.metrics.node_rates import edge_reports, node_reports
from prm.reach.metrics.reach_curve import UNKNOWN, reach_curve
from prm.reach.metrics.report_values import ArmReport
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.stability import stability
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays, ratio

NO_REFS = "no run has an argument that must come from somewhere and whose origin is known"


def arm_report(arm: Arm, arrays: VerdictArrays, settings: Settings) -> ArmReport:
    """The part of one agent × variant.

    Args:
        arm: Who.
        arrays: Of its runs; at least one.
        settings: Cap, draws and seed.
    """
    measured = _measure(arm, arrays, settings)
    return replace(measured, findings=arm_findings(measured, settings.cap))


def _measure(arm: Arm, arrays: VerdictArrays, settings: Settings) -> ArmReport:
    """The part without its findings. First everything is put down, then read: so all draws are made together."""
    means = ScenarioMeans(arrays.grouping, settings)
    curve = reach_curve(arrays, settings.cap, means)
    columns = dict(zip(OUTCOMES, arrays.outcomes.T, strict=True))
    outcomes = {name: means.of_runs(values, UNKNOWN) for name, values in columns.items()}
    stable = {name: stability(values, means) for name, values in columns.items()}
    nodes, edges = node_reports(arrays, settings.cap, means), edge_reports(arrays, means)
    minefields, fabricated = _minefields(arrays, means), means.of_runs(_fabricated(arrays), NO_REFS)
    missing, diagnoses = missing_information_reports(arrays, means), diagnosis_reports(arrays, means)
    points = curve()
    return ArmReport(
        arm=arm,
        runs=len(arrays.verdicts),
        scenarios=len(arrays.grouping.names),
        templates=arrays.grouping.n_templates,
        ends=dict(sorted(Counter(verdict.end or "" for verdict in arrays.verdicts).items())),
        reach=points[settings.cap - 1].reach,
        curve=points,
        outcomes={name: share() for name, share in outcomes.items()},
        outcome_stability={name: told() for name, told in stable.items()},
        nodes=nodes(),
        edges=edges(),
        minefields=minefields(),
        fabricated=fabricated(),
        missing_information=missing(),
        diagnoses=diagnoses(),
        grid=grid(arrays, means),
        findings=(),
    )


def _minefields(arrays: VerdictArrays, means: ScenarioMeans) -> Later[dict[str, Estimate]]:
    """Minefield → share of runs that hit it; a run in which that is unknown is left out."""
    names = dict.fromkeys(name for verdict in arrays.verdicts for name in verdict.minefields)
    shares = {name: means.of_runs(_hits(arrays, name)) for name in names}
    return lambda: {name: share() for name, share in shares.items()}


def _hits(arrays: VerdictArrays, name: str) -> Floats:
    hits = [verdict.minefields.get(name) for verdict in arrays.verdicts]
    return np.array([np.nan if hit is None else float(hit) for hit in hits])


def _fabricated(arrays: VerdictArrays) -> Floats:
    """[N] fabricated / known `ref` leaves."""
    known = np.array([verdict.ref_leaves - verdict.unknown_leaves for verdict in arrays.verdicts], dtype=np.float64)
    bad = np.array([verdict.fabricated_leaves for verdict in arrays.verdicts], dtype=np.float64)
    return ratio(bad, known)
