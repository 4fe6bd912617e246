from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.errors import ConfigError
from prm.reach.labels.sample import draw_sample, strata_of
from prm.types import Trajectory
from tests.reach.labels.labelled_runs import labelled_run

COMMON = [("milestone", 1)] * 5


def many(common: int, rare: int) -> list[Trajectory]:
    runs = [labelled_run(query, COMMON) for query in range(common)]
    return runs + [labelled_run(common + query, [*COMMON, ("false_claim", -1)]) for query in range(rare)]


def test_a_runs_stratum_is_its_rarest_rule_and_label() -> None:
    runs = many(3, 1)
    strata = strata_of(runs)
    assert [strata[run.key] for run in runs] == [("milestone", 1)] * 3 + [("false_claim", -1)]


def test_a_fifth_of_each_stratum_is_drawn_and_a_rare_rule_is_not_left_out() -> None:
    drawn = draw_sample(many(100, 3), min_steps=0)
    assert Counter(len(run.step_labels) for run in drawn) == {5: 20, 6: 1}


def test_at_least_the_asked_number_of_steps_is_drawn_if_there_are_as_many() -> None:
    drawn = draw_sample(many(40, 2), min_steps=100)
    assert 100 <= sum(len(run.step_labels) for run in drawn) <= 106
    few = many(4, 1)
    assert len(draw_sample(few, min_steps=1000)) == 5


def test_the_draw_depends_on_the_runs_and_the_seed_alone() -> None:
    runs = many(60, 5)
    once = draw_sample(runs, seed=1)
    assert draw_sample(runs[::-1], seed=1) == once
    assert draw_sample(runs, seed=2) != once


def test_the_order_says_nothing_of_the_stratum() -> None:
    drawn = draw_sample(many(100, 100), min_steps=0)
    kinds = [len(run.step_labels) for run in drawn]
    assert kinds not in (sorted(kinds), sorted(kinds, reverse=True))


@settings(max_examples=50, deadline=None)
@given(common=st.integers(0, 60), rare=st.integers(0, 20), share=st.floats(0.01, 1), steps=st.integers(0, 500))
def test_the_share_and_the_steps_are_always_met(common: int, rare: int, share: float, steps: int) -> None:
    runs = many(common, rare)
    if not runs:
        return
    drawn = draw_sample(runs, share=share, min_steps=steps)
    assert len(drawn) >= share * len(runs) - 1e-9
    assert len({run.key for run in drawn}) == len(drawn)
    every = sum(len(run.step_labels) for run in runs)
    assert sum(len(run.step_labels) for run in drawn) >= min(steps, every)


@pytest.mark.parametrize("options", [{"share": 0}, {"share": 1.5}, {"min_steps": -1}, {"seed": -1}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        draw_sample(many(2, 0), **options)  # type: ignore[arg-type]


def test_nothing_to_draw_from_is_refused() -> None:
    with pytest.raises(ConfigError, match="there must be runs"):
        draw_sample([])
