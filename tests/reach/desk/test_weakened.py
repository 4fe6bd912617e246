"""Habits that weaken under a variant, where it is asked for; and nowhere else."""

from __future__ import annotations

from collections import Counter

import pytest

from prm.reach.desk.generate import AGENTS, WEAKENED, generate_runs
from prm.reach.desk.variants import VARIANTS
from prm.types import Trajectory


def habits(runs: list[Trajectory]) -> Counter[bool]:
    return Counter(run.extra["reach"]["habit"] is not None for run in runs)


def test_by_default_a_habit_shows_as_often_under_every_variant() -> None:
    plain, structured = (list(generate_runs(200, 1, variant=variant)) for variant in ("plain", "structured"))
    assert [run.extra["reach"]["habit"] for run in plain] == [run.extra["reach"]["habit"] for run in structured]
    assert [run.step_labels for run in plain] == [run.step_labels for run in structured]


def test_a_weakened_habit_shows_less_often_under_its_variant_only() -> None:
    wanted = {"agents": ["inventor"], "fires": WEAKENED}
    plain, structured = (habits(list(generate_runs(300, 1, variant=v, **wanted))) for v in ("plain", "structured"))
    assert structured[True] < 0.6 * plain[True]
    assert plain == habits(list(generate_runs(300, 1, variant="plain", agents=["inventor"])))


def test_where_it_shows_all_the_same_the_run_is_the_same() -> None:
    usual = list(generate_runs(100, 2, variant="structured"))
    weakened = list(generate_runs(100, 2, variant="structured", fires=WEAKENED))
    assert [run.identity for run in usual] == [run.identity for run in weakened]
    same = [a.messages == b.messages for a, b in zip(usual, weakened, strict=True)]
    assert 0 < sum(same) < len(same)
    for before, after in zip(usual, weakened, strict=True):
        habit = after.extra["reach"]["habit"]
        assert habit is None or habit == before.extra["reach"]["habit"]


def test_never_shows_is_a_clean_run() -> None:
    never = {agent: {"plain": 0.0} for agent in AGENTS}
    assert habits(list(generate_runs(60, 3, fires=never)))[True] == 0


@pytest.mark.parametrize("agent", AGENTS)
def test_only_shipped_variants_weaken_and_only_downwards(agent: str) -> None:
    usual = 1.0
    assert set(WEAKENED[agent]) <= set(VARIANTS)
    assert all(0 <= fires < usual for fires in WEAKENED[agent].values())
