"""What a report says of one milestone, and of the way to it. Knows no formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prm.reach.judging.verdict import DiagnosisName, Standing
from prm.reach.metrics.estimate import Estimate

Ability = Literal["bottleneck", "undetermined", "unstable", "stable"]
"""How sure a scenario's runs are of something; see `repeats.ability`."""


@dataclass(frozen=True, slots=True)
class StabilityPoint:
    """All of k and any of k runs; scenarios with fewer than k scorable runs are no part of either."""

    k: int
    all_of: Estimate
    any_of: Estimate


@dataclass(frozen=True, slots=True)
class Stability:
    """How alike the runs of one scenario turn out.

    Attributes:
        repeats: Scorable runs of a scenario → how many scenarios have so many.
        curve: From k = 1 to the most repeats that any scenario has.
        flip_rate: How often two runs of one scenario differ.
        abilities: Scenarios by `Ability`.
        single: Scenarios with one scorable run: too few to say.
    """

    repeats: Mapping[int, int]
    curve: tuple[StabilityPoint, ...]
    flip_rate: Estimate
    abilities: Mapping[Ability, int]
    single: int


@dataclass(frozen=True, slots=True)
class FirstReach:
    """After how many calls a milestone is first reached.

    Attributes:
        quartiles: First quartile, median and third quartile, in calls, of the runs that reach it, every scenario
            weighing the same; None where none does.
        restricted_mean: Mean of min(calls, cap), in calls; a run that never reaches it counts as the cap.
        cap: In calls.
        curve: Share of runs that have reached it by the K-th call, K from 1; its last entry is that of the longest run.
    """

    quartiles: tuple[float, float, float] | None
    restricted_mean: Estimate
    cap: int
    curve: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MissCause:
    """Something found in runs that do not reach a milestone.

    Attributes:
        diagnosis: Its name.
        subject, kind: As in the diagnosis; "" = none.
        share: Of the runs that do not reach the milestone.
        runs: How many.
        words: What it is, in words, such as "an invented SKU".
    """

    diagnosis: DiagnosisName
    subject: str
    kind: str
    share: Estimate
    runs: int
    words: str


@dataclass(frozen=True, slots=True)
class NodeReport:
    """What became of one milestone.

    Attributes:
        name: The milestone.
        title: What it is, in words; "" = unknown.
        required: Whether coverage asks for it (in any run).
        after: Its prerequisites.
        standings: Runs by standing.
        touched, reached: Shares of the runs that can be scored.
        gap: touched − reached.
        reached_given_prerequisites: Share of those runs whose prerequisites are all reached.
        first_reach: When.
        stability: Of reaching it.
        reasons: never_called | called_wrong → share of the runs that do not reach it.
        causes: What is found in the runs that do not reach it, most frequent first.
    """

    name: str
    title: str
    required: bool
    after: tuple[str, ...]
    standings: Mapping[Standing, int]
    touched: Estimate
    reached: Estimate
    gap: Estimate
    reached_given_prerequisites: Estimate
    first_reach: FirstReach
    stability: Stability
    reasons: Mapping[str, Estimate]
    causes: tuple[MissCause, ...]


@dataclass(frozen=True, slots=True)
class EdgeReport:
    """The way from a prerequisite to a milestone.

    Attributes:
        source: The prerequisite; None = the start of the run, for a milestone without any.
        target: The milestone.
        passed: Share of runs that reach both.
        ended: Share of runs that reach the source and every other prerequisite, and not the target.
    """

    source: str | None
    target: str
    passed: Estimate
    ended: Estimate
