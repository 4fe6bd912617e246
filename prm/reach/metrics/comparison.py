"""Two agents or variants on the same scenarios: what moved, by how much, and whether by more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prm.evaluation.significance import LEVEL, holm
from prm.reach.metrics.comparison_findings import comparison_findings
from prm.reach.metrics.comparison_values import METRICS, Comparison, MilestoneChange, PairedDifference
from prm.reach.metrics.estimate import OUTCOMES, Arm, Estimate, Settings
from prm.reach.metrics.next_change import next_change
from prm.reach.metrics.pairing import Paired, pair_runs
from prm.reach.metrics.reach_curve import reach_within
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.sign_flip import SignFlip, sign_flip_tests
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays

_OF_MILESTONE = ("touched", "reached", "held")

NO_PAIR = "no scenario has a value on both sides"

Sides = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Positions of the old and of the new runs, one pair for each pair of agents × variants."""


def compare_sides(old: Arm, new: Arm, arrays: VerdictArrays, sides: Sides, settings: Settings) -> Comparison | None:
    """New against old; None where no scenario can be compared.

    Args:
        old, new: What the two are called.
        arrays: Of all runs.
        sides: Which of them are compared.
        settings: Cap, draws and seed.
    """
    paired = pair_runs(arrays, sides)
    if not paired.grouping.names:
        return None
    differences = _paired_differences(arrays, paired, settings)
    touched, reached, held = (
        holm_corrected([differences[f"{what}/{name}"] for name in arrays.milestones]) for what in _OF_MILESTONE
    )
    new_side = arrays.subset(paired.new)
    compared = Comparison(
        old=old,
        new=new,
        scenarios=len(paired.grouping.names),
        only_old=paired.only_old,
        only_new=paired.only_new,
        other_seed=paired.other_seed,
        metrics={metric: holm_corrected([differences[metric]])[0] for metric in METRICS},
        milestones=tuple(map(MilestoneChange, arrays.milestones, touched, reached, held)),
        next_change=next_change(new_side, ScenarioMeans(new_side.grouping, settings)),
        findings=(),
    )
    return replace(compared, findings=comparison_findings(compared))


def _paired_differences(arrays: VerdictArrays, paired: Paired, settings: Settings) -> dict[str, PairedDifference]:
    """Metric, or ``touched/<milestone>`` and so on → its difference, not corrected yet."""
    columns = _columns(arrays, settings.cap)
    old, new, difference = paired.differences(np.column_stack(list(columns.values())))
    tests = sign_flip_tests(difference, settings.seed)
    means = ScenarioMeans(paired.grouping, settings)
    estimates = [means.of_scenarios(column, 0, 0, NO_PAIR) for column in difference.T]
    return {
        name: _difference(old[:, number], new[:, number], difference[:, number], estimates[number], tests[number])
        for number, name in enumerate(columns)
    }


def _columns(arrays: VerdictArrays, cap: int) -> dict[str, Floats]:
    columns = {"reach": reach_within(arrays, cap), **dict(zip(OUTCOMES, arrays.outcomes.T, strict=True))}
    for what, values in zip(_OF_MILESTONE, (arrays.touched, arrays.reached, 1 - arrays.lost), strict=True):
        columns |= {f"{what}/{name}": values[:, column] for column, name in enumerate(arrays.milestones)}
    return columns


def _difference(
    old: Floats, new: Floats, difference: Floats, estimate: Later[Estimate], test: SignFlip | None
) -> PairedDifference:
    measured = estimate()
    if test is None:
        return PairedDifference(None, None, None, None, 0, 0, None, None, None, None, measured.undefined)
    return PairedDifference(
        old=float(np.nanmean(old)),
        new=float(np.nanmean(new)),
        difference=measured.value,
        ci95=measured.ci95,
        pairs=measured.scenarios,
        changed=int(np.count_nonzero(np.nan_to_num(difference))),
        p_value=test.p_value,
        p_holm=None,
        test=test.test,
        verdict=None,
    )


def holm_corrected(differences: Sequence[PairedDifference]) -> list[PairedDifference]:
    """The differences with their p-values corrected for being several, and what that says of each."""
    tested = [item for item in differences if item.p_value is not None]
    corrected = iter(holm([item.p_value for item in tested if item.p_value is not None]))
    return [item if item.p_value is None else _judged(item, next(corrected)) for item in differences]


def _judged(item: PairedDifference, p_holm: float) -> PairedDifference:
    if p_holm > LEVEL:
        return replace(item, p_holm=p_holm, verdict="not distinguishable")
    return replace(item, p_holm=p_holm, verdict="better" if (item.difference or 0) > 0 else "worse")


def corrected_together(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Comparisons made beside each other: each metric is corrected over all that differ in the same."""
    families: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for number, item in enumerate(comparisons):
        families[item.old.agent == item.new.agent, item.old.variant == item.new.variant].append(number)
    corrected = list(comparisons)
    for family in families.values():
        for number, item in zip(family, _corrected([comparisons[number] for number in family]), strict=True):
            corrected[number] = replace(item, findings=comparison_findings(item))
    return tuple(corrected)


def _corrected(family: Sequence[Comparison]) -> list[Comparison]:
    by_metric = {metric: holm_corrected([item.metrics[metric] for item in family]) for metric in METRICS}
    return [
        replace(item, metrics={metric: differences[number] for metric, differences in by_metric.items()})
        for number, item in enumerate(family)
    ]
