from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.comparison import holm_corrected
from prm.reach.metrics.comparison_values import Comparison, PairedDifference
from prm.reach.metrics.estimate import Arm, Settings
from prm.reach.metrics.report import compare_sets
from tests.reach.metrics.hand_verdicts import fabricated, verdict

SETTINGS = Settings(15, 400, 0)


def compared(old: Sequence[RunVerdict], new: Sequence[RunVerdict], settings: Settings = SETTINGS) -> Comparison:
    (found,) = compare_sets(old, new, settings).comparisons
    return found


def simulated(rng: random.Random, quality: dict[str, Sequence[float]], repeats: int = 3) -> list[RunVerdict]:
    """Runs of every scenario; quality: its chance to reach each milestone."""
    return [
        verdict("".join("r" if rng.random() < chance else rng.choice("tm") for chance in chances), scenario, run)
        for scenario, chances in quality.items()
        for run in range(repeats)
    ]


def qualities(rng: random.Random, scenarios: int = 40, templates: int = 10) -> dict[str, Sequence[float]]:
    return {f"t{number % templates}-{number}": [rng.uniform(0.3, 1) for _ in range(5)] for number in range(scenarios)}


def test_the_means_and_their_difference_are_over_paired_scenarios() -> None:
    old = [verdict("rt", "a"), verdict("rt", "b"), verdict("rr", "only-old")]
    new = [verdict("rr", "a"), verdict("rt", "b"), verdict("rt", "b", 1)]
    found = compared(old, new)
    reached = found.milestones[1].reached
    assert (reached.old, reached.new, reached.difference) == (0.0, 0.5, 0.5)
    assert (reached.pairs, reached.changed, reached.p_value, reached.test) == (2, 1, 1.0, "exact")
    assert (found.scenarios, found.only_old) == (2, ("only-old",))
    assert found.metrics["reach"].difference == pytest.approx(0.25)


def test_five_scenarios_that_all_gain_by_hand() -> None:
    old, new = ([verdict(word, f"{name}-1") for name in "abcde"] for word in ("rt", "rr"))
    reached = compared(old, new).milestones[1].reached
    assert reached.p_value == 2 / 32
    assert reached.p_holm == 4 / 32
    assert (reached.verdict, reached.ci95) == ("not distinguishable", (1.0, 1.0))


def test_what_cannot_be_scored_on_one_side_is_no_pair() -> None:
    reached = compared([verdict("r?", "a"), verdict("rt", "b")], [verdict("rr", "a"), verdict("rr", "b")]).milestones[1]
    assert (reached.reached.pairs, reached.reached.difference) == (1, 1.0)


def test_without_any_pair_a_difference_is_undefined_with_a_reason() -> None:
    difference = compared([verdict("r?")], [verdict("rr")]).milestones[1].reached
    assert (difference.difference, difference.p_value, difference.verdict) == (None, None, None)
    assert difference.undefined is not None


def test_the_milestone_that_moved_is_named_and_no_other() -> None:
    rng = random.Random(5)
    before = {name: [1.0, 0.9, 0.4, 0.9, 0.9] for name in qualities(rng, 60)}
    after = {name: [1.0, 0.9, 0.8, 0.9, 0.9] for name in before}
    found = compared(simulated(rng, before), simulated(rng, after))
    assert [change.name for change in found.milestones if change.reached.verdict == "better"] == ["M3"]
    moved = found.milestones[2].reached
    assert moved.ci95 is not None
    assert moved.ci95[0] < 0.4 < moved.ci95[1]
    assert any(finding.startswith("M3 moved:") for finding in found.findings)


def test_a_loss_is_named_worse() -> None:
    rng = random.Random(6)
    before = {name: [1.0, 0.9] for name in qualities(rng, 60)}
    after = {name: [1.0, 0.3] for name in before}
    assert compared(simulated(rng, before), simulated(rng, after)).milestones[1].reached.verdict == "worse"


def test_with_no_real_difference_the_test_stays_quiet() -> None:
    """At 5 % 200 pairs without a difference give 10 alarms; above 18 it would be beyond chance (p < 0.01)."""
    rng = random.Random(0)
    alarms = {"reach": 0, "milestones": 0}
    for _ in range(200):
        quality = qualities(rng, 20)
        found = compared(simulated(rng, quality), simulated(rng, quality), Settings(15, 0, 0))
        alarms["reach"] += found.metrics["reach"].verdict != "not distinguishable"
        alarms["milestones"] += any(c.reached.verdict != "not distinguishable" for c in found.milestones)
    assert alarms["reach"] <= 18
    assert alarms["milestones"] <= 18
    assert alarms["reach"] > 0  # a test that never speaks would pass too


def test_a_gain_comes_from_where_the_chain_breaks_less_often_not_from_all_that_follows() -> None:
    old = [verdict("rrtmm", f"{number}-1") for number in range(8)]
    new = [verdict("rrrrr", f"{number}-1") for number in range(8)]
    found = compared(old, new)
    assert [change.name for change in found.milestones if change.reached.verdict == "better"] == ["M3", "M4", "M5"]
    assert [change.name for change in found.milestones if change.held.verdict == "better"] == ["M3"]
    expected = "the change comes from where the chain breaks less often: M3 (100 % → 0 % of runs)"
    assert expected in found.findings


def test_holm_over_three_milestones_by_hand() -> None:
    tested = PairedDifference(0.0, 0.5, 0.5, None, 9, 9, 0.01, None, "exact", None)
    untested = PairedDifference(None, None, None, None, 0, 0, None, None, None, None, "no pair")
    given = [tested, replace(tested, p_value=0.04, difference=-0.5), untested, replace(tested, p_value=0.03)]
    found = holm_corrected(given)
    assert [item.p_holm for item in found] == pytest.approx([0.03, 0.06, None, 0.06])
    assert [item.verdict for item in found] == ["better", "not distinguishable", None, "not distinguishable"]


def test_the_change_to_make_next_is_the_new_sides() -> None:
    old = [verdict("rtrrr", f"{name}-1") for name in "abcd"]
    new = [verdict("rrtrr", f"{name}-1", diagnoses=(fabricated(batch=4),)) for name in "abcd"]
    found = compared(old, new)
    assert found.next_change is not None
    assert found.next_change.milestone == "M3"
    assert found.next_change.words in found.findings


def test_sides_are_named_by_what_they_are() -> None:
    found = compared([verdict("r", variant="plain")], [verdict("r", variant="structured")])
    assert (found.old, found.new) == (Arm("agent", "plain"), Arm("agent", "structured"))


def test_scenarios_of_one_template_widen_the_interval_of_the_difference() -> None:
    changed = [verdict("r", f"{name}-{number}") for name in "abcd" for number in range(10)]
    before = [verdict("m" if item.template in "ab" else "r", item.scenario) for item in changed]
    alone = compared(
        [replace(v, template=v.scenario) for v in before], [replace(v, template=v.scenario) for v in changed]
    )
    clustered = compared(before, changed)
    width = {name: item.milestones[0].reached.ci95 for name, item in (("alone", alone), ("clustered", clustered))}
    assert width["alone"] is not None
    assert width["clustered"] is not None
    assert width["clustered"][1] - width["clustered"][0] > 2 * (width["alone"][1] - width["alone"][0])
