"""What `prm reach report` says of verdicts, as values: everything that is measured, per agent × variant.

Every number is a mean over scenarios: first over the runs of a scenario, then over the scenarios that have one.
Undefined is None, with its reason in `Estimate.undefined`. Knows no formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prm.reach.judging.verdict import DiagnosisName, Standing
from prm.reach.metrics.comparison_values import Comparison
from prm.reach.metrics.estimate import Arm, Estimate, Settings
from prm.reach.metrics.node_values import Ability, EdgeReport, NodeReport, Stability

SCHEMA = "prm.reach.report/1"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Reach@K: the mean share of a run's required milestones reached within K calls, and how often it is all."""

    k: int
    reach: Estimate
    all_reached: Estimate


@dataclass(frozen=True, slots=True)
class MissingInformationReport:
    """What the agent does where information is missing; a run with several gaps may do several things.

    Attributes:
        fact: What is missing; None = anything.
        asks, refuses, invents, other: Shares of the runs in which it is.
    """

    fact: str | None
    asks: Estimate
    refuses: Estimate
    invents: Estimate
    other: Estimate


@dataclass(frozen=True, slots=True)
class DiagnosisReport:
    """How often one diagnosis is made.

    Attributes:
        name, subject, kind: Of the diagnosis.
        share: Of runs that have it at least once.
        runs: How many.
        times: How often in all.
        habit: A detour whose tool is called needlessly in two or more runs; None for all other diagnoses.
        words: What it is, in words.
    """

    name: DiagnosisName
    subject: str
    kind: str
    share: Estimate
    runs: int
    times: int
    habit: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class GridCell:
    """One run in the stability grid.

    Attributes:
        run: Number of the repeat.
        key: Of the trajectory; see `RunIdentity.key`.
        standings: Of the milestones, in the order of `ArmReport.nodes`.
        outcomes: Outcome (`OUTCOMES`) → whether; None = unknown.
        calls, end: As in the verdict.
    """

    run: int | str
    key: tuple[str, ...]
    standings: tuple[Standing, ...]
    outcomes: Mapping[str, bool | None]
    calls: int
    end: str | None


@dataclass(frozen=True, slots=True)
class GridRow:
    """One scenario in the stability grid: its runs, and its ability at each milestone (None = too few runs)."""

    scenario: str
    template: str
    cells: tuple[GridCell, ...]
    abilities: tuple[Ability | None, ...]


@dataclass(frozen=True, slots=True)
class ArmReport:
    """Everything of one agent × variant.

    Attributes:
        runs, scenarios, templates: How many.
        ends: Why runs ended ("" = unknown) → how many.
        reach: Reach@K at the cap.
        curve: Reach@K from 1 to the cap or to the longest run's last call, whichever is more.
        outcomes: Of `OUTCOMES` → share of runs.
        outcome_stability: Of `OUTCOMES` → how alike repeats are.
        nodes: In the spec's order.
        edges: In the order of their targets.
        minefields: Name → share of runs that hit it.
        fabricated: Share of a run's `ref` argument leaves that are fabricated; leaves of unknown origin are no part.
        missing_information: Anything first, then by fact.
        diagnoses: Most frequent first.
        grid: By scenario.
        findings: What to read first, in plain words.
    """

    arm: Arm
    runs: int
    scenarios: int
    templates: int
    ends: Mapping[str, int]
    reach: Estimate
    curve: tuple[CurvePoint, ...]
    outcomes: Mapping[str, Estimate]
    outcome_stability: Mapping[str, Stability]
    nodes: tuple[NodeReport, ...]
    edges: tuple[EdgeReport, ...]
    minefields: Mapping[str, Estimate]
    fabricated: Estimate
    missing_information: tuple[MissingInformationReport, ...]
    diagnoses: tuple[DiagnosisReport, ...]
    grid: tuple[GridRow, ...]
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The content of reach.json.

    Attributes:
        schema: `SCHEMA`.
        prm_version: Of the package.
        spec, spec_sha256: What the runs were judged by.
        settings: How it was measured.
        arms: One part for each agent × variant, in order of their names.
        comparisons: Of every two that share scenarios.
        findings: What to read first, in plain words.
        notes: Verdict notes (what could not be judged, and why) → runs that have it.
    """

    schema: str
    prm_version: str
    spec: str
    spec_sha256: str
    settings: Settings
    arms: tuple[ArmReport, ...]
    comparisons: tuple[Comparison, ...]
    findings: tuple[str, ...]
    notes: Mapping[str, int]
