"""What is said of two agents or variants on the same scenarios, as values. Knows no formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prm.reach.metrics.estimate import Arm, Estimate, Settings
from prm.reach.metrics.node_values import MissCause

SCHEMA = "prm.reach.comparison/1"

METRICS = ("reach", "all_reached", "covered", "final_success", "legal_success")
"""What two sides are compared on as a whole; `reach` is Reach@K at the cap."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One metric on both sides, over the scenarios that have it on both.

    Attributes:
        old, new: Means over those scenarios.
        difference: new − old.
        ci95: Paired bootstrap interval of the difference, whole templates resampled.
        pairs: Scenarios with a value on both sides; `changed` of them differ.
        p_value: Sign-flip test of "no difference", two-sided.
        p_holm: The same, corrected over what was tested beside it (Holm): of a milestone over all milestones; of a
            metric over all comparisons in the file that differ in the same (the variant, the agent or both).
        test: ``exact`` (every pattern of signs) or ``drawn`` (10,000 patterns); None = no test.
        verdict: At 5 % after the correction; None = no test.
        undefined: Why there is no difference.
    """

    old: float | None
    new: float | None
    difference: float | None
    ci95: tuple[float, float] | None
    pairs: int
    changed: int
    p_value: float | None
    p_holm: float | None
    test: Literal["exact", "drawn"] | None
    verdict: Literal["better", "worse", "not distinguishable"] | None
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class MilestoneChange:
    """What moved at one milestone; each of the three is corrected over the milestones.

    Attributes:
        name: The milestone.
        touched, reached: Shares of runs.
        held: Share of runs whose chain does not break here: it is reached, or a prerequisite is open already. What
            is reached moves with everything before it; this says where a change comes from.
    """

    name: str
    touched: PairedDifference
    reached: PairedDifference
    held: PairedDifference


@dataclass(frozen=True, slots=True)
class NextChange:
    """The one change most worth making next, on the new side; for the rule see `next_change`.

    Attributes:
        milestone: The one to work on.
        lost: Mean share of a run's required milestones that are lost here: it, and the open ones that hang on it.
        step: What fails: ``call`` (the tool is not called) or ``use`` (it is, and its return is not used).
        step_share: The share of those runs in which that is what fails.
        cause: What is found most often in the runs that do not reach it; None = nothing.
        words: The same in plain words.
    """

    milestone: str
    lost: Estimate
    step: Literal["call", "use"]
    step_share: float
    cause: MissCause | None
    words: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides, new against old.

    Attributes:
        old, new: The two; agent or variant ``*`` = all of them together.
        scenarios: How many both have, with the same seed.
        only_old, only_new: Scenarios that only one side has.
        other_seed: Scenarios that both have, with different seeds; they are not compared.
        metrics: Of `METRICS`.
        milestones: In the spec's order.
        next_change: None where nothing is open on the new side.
        findings: What to read first, in plain words.
    """

    old: Arm
    new: Arm
    scenarios: int
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    other_seed: tuple[str, ...]
    metrics: Mapping[str, PairedDifference]
    milestones: tuple[MilestoneChange, ...]
    next_change: NextChange | None
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonFile:
    """The content of what `prm reach compare --json` prints.

    Attributes:
        schema: `SCHEMA`.
        prm_version: Of the package.
        spec, spec_sha256: What the runs were judged by.
        settings: How it was measured.
        comparisons: All agents and variants that could be matched, and, where there are several, all together first.
        unmatched_old, unmatched_new: Sides that have no counterpart.
    """

    schema: str
    prm_version: str
    spec: str
    spec_sha256: str
    settings: Settings
    comparisons: tuple[Comparison, ...]
    unmatched_old: tuple[Arm, ...]
    unmatched_new: tuple[Arm, ...]
