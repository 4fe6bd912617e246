"""The rules against the labels known by construction, on seeds that no rule was written with."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from prm.reach.desk.generate import generate_runs, run_habit
from prm.reach.desk.habits import HABITS
from prm.reach.desk.scenarios import build_scenario, draw_template
from prm.reach.desk.variants import load_variant
from prm.reach.labels.known_labels import KnownComparison, relabel_by_rules
from prm.types import Trajectory


def compared(runs: Iterator[Trajectory]) -> KnownComparison:
    found = KnownComparison()
    for run in relabel_by_rules(runs):
        found.add(run)
    return found


@pytest.mark.parametrize("variant", ["plain", "bare_envelope"])
def test_rule_labels_are_the_known_ones_on_97_of_100_steps_and_hardly_any_is_masked(variant: str) -> None:
    found = compared(generate_runs(300, seed=77_001, variant=variant))
    assert found.overall.steps > 1_800
    assert (found.overall.agreement or 0) >= 0.97, found.differences.most_common(10)
    assert (found.overall.masked_share or 0) <= 0.05
    assert found.overall.outcomes_same >= 0.97 * found.overall.runs


@pytest.mark.parametrize("habit", [None, *HABITS])
def test_every_habit_is_seen_by_itself(habit: str | None) -> None:
    found = compared(runs_of(habit, 25))
    assert (found.overall.agreement or 0) >= 0.95, found.differences.most_common(10)
    assert (found.overall.masked_share or 0) <= 0.05


def runs_of(habit: str | None, count: int) -> Iterator[Trajectory]:
    """Runs in which the habit can show."""
    rng, seed, plain = random.Random(f"unseen/{habit}"), 77_002_000, load_variant("plain")
    while count:
        seed += 1
        scenario = build_scenario(draw_template(rng), seed)
        if habit is None or HABITS[habit].relevance(scenario):
            count -= 1
            yield run_habit(habit, scenario, plain, count)


def test_the_comparison_counts_same_different_and_masked_steps() -> None:
    (run,) = relabel_by_rules(generate_runs(1, seed=1))
    known = run.extra["reach"]["known"]["step_labels"]
    first, second, *_ = known
    known[first] = -known[first]
    run.step_labels[int(second)] = None  # type: ignore[index]
    found = KnownComparison()
    found.add(run)
    assert (found.overall.same, found.overall.different, found.overall.masked) == (len(known) - 2, 1, 1)
    assert found.overall.agreement == pytest.approx((len(known) - 2) / (len(known) - 1))
    assert sum(found.differences.values()) == 2


def test_relabelling_keeps_the_known_labels_and_reads_none_of_them() -> None:
    (run,) = generate_runs(1, seed=4)
    (labelled,) = relabel_by_rules([run])
    known = labelled.extra["reach"]["known"]
    assert known["step_labels"] == {str(index): label for index, label in run.step_labels.items()}
    assert known["label_notes"] == run.label_notes
    assert labelled.messages == run.messages
