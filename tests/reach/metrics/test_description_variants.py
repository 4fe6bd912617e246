"""Scripted agents under two descriptions of their tools, judged by the shipped spec and compared."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from prm.reach.desk.generate import run_habit
from prm.reach.desk.habits import HABITS
from prm.reach.desk.scenarios import build_scenario
from prm.reach.desk.variants import load_variant
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.metrics.comparison_values import Comparison
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.report import compare_sets
from prm.reach.spec.load import load_spec

SPEC = load_spec("ticket")
FIRST_REPEATS, OTHER_REPEATS = range(3), range(3, 6)


def judged(
    habit: str, fires: float, variant: str, repeats: Sequence[int], templates: Sequence[str], scenarios: int
) -> list[RunVerdict]:
    """Verdicts of an agent whose one habit shows so often; other repeats are other draws of the same agent."""
    told, verdicts = load_variant(variant), []
    for number in range(scenarios):
        scenario = build_scenario(templates[number % len(templates)], 900_000 + number)
        for run in repeats:
            rng = random.Random(f"{habit}/{scenario.id}/{variant}/{run}")
            shows = habit if rng.random() < fires and HABITS[habit].relevance(scenario) else None
            trajectory = run_habit(shows, scenario, told, run, agent="habitual")
            verdicts.append(judge_run(run_of_trajectory(trajectory, SPEC.envelope), SPEC))
    return verdicts


def compared(old: list[RunVerdict], new: list[RunVerdict]) -> Comparison:
    (found,) = compare_sets(old, new, Settings(15, 400, 0)).comparisons
    return found


CASES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "ignore_stock": (("out_of_stock_backorder", "out_of_stock_refund", "out_of_stock_substitute"), "M3"),
    "wrong_sku": (("related_ticket", "ship_or_substitute"), "M3"),
    "wrong_address": (("gift", "related_ticket"), "M2"),
    "guess_action_id": (("ship_simple", "gift", "ship_or_refund"), "M4"),
    "invent_sku": (("missing_sku", "corrupted_sku", "missing_sku_unanswered"), "M4"),
}


@pytest.mark.parametrize("habit", CASES)
def test_a_habit_that_weakens_under_structured_shows_the_gain_and_the_right_milestone(habit: str) -> None:
    templates, milestone = CASES[habit]
    old = judged(habit, 0.95, "plain", FIRST_REPEATS, templates, 20)
    new = judged(habit, 0.35, "structured", FIRST_REPEATS, templates, 20)
    found = compared(old, new)
    reach = found.metrics["reach"]
    assert reach.verdict == "better"
    assert reach.ci95 is not None
    assert 0 < reach.ci95[0] <= (reach.difference or 0.0) <= reach.ci95[1]
    held = {change.name: change.held.difference or 0.0 for change in found.milestones}
    assert max(held, key=lambda name: held[name]) == milestone
    assert next(c for c in found.milestones if c.name == milestone).held.verdict == "better"
    assert any("comes from" in finding and f"less often: {milestone} (" in finding for finding in found.findings)


def test_with_no_real_difference_desk_runs_raise_few_alarms() -> None:
    """15 pairs of sides: at 5 % more than 2 alarms would be beyond chance (p < 0.04)."""
    alarms = 0
    for number, (habit, (templates, _)) in enumerate(list(CASES.items()) * 3):
        shift = 10 * number
        sides = [
            judged(habit, 0.6, variant, [shift + run for run in repeats], templates, 8)
            for variant, repeats in (("plain", FIRST_REPEATS), ("structured", OTHER_REPEATS))
        ]
        found = compared(*sides)
        verdicts = {found.metrics["reach"].verdict, *(change.reached.verdict for change in found.milestones)}
        alarms += bool(verdicts & {"better", "worse"})
    assert alarms <= 2
