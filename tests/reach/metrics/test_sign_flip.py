from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.reach.metrics.sign_flip import DRAWS, MAX_EXACT, SignFlip, p_exact, sign_flip_tests

NAN = float("nan")


def test_by_hand_all_of_five_pairs_better_is_two_patterns_of_thirty_two() -> None:
    assert sign_flip_tests(np.full((5, 1), 0.5), 0) == [SignFlip(2 / 32, "exact")]


def test_by_hand_one_of_three_pairs_the_other_way_round() -> None:
    # sums of ±1 ±1 ±1: 3 once, 1 three times, −1 three times, −3 once; seen is 1
    assert p_exact(np.array([1.0, 1.0, -1.0])) == 1.0
    assert p_exact(np.array([3.0, 1.0, -1.0])) == 6 / 8


@settings(max_examples=60)
@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 1 / 3, 0.25, 1.0]), min_size=1, max_size=9))
def test_the_exact_p_value_is_the_share_of_all_patterns(differences: list[float]) -> None:
    seen = abs(sum(differences)) - 1e-9
    patterns = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _signs(len(differences))]
    assert p_exact(np.array(differences)) == pytest.approx(sum(value >= seen for value in patterns) / len(patterns))


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=count))


def test_no_difference_at_all_is_p_one() -> None:
    assert sign_flip_tests(np.zeros((30, 1)), 0) == [SignFlip(1.0, "exact")]


def test_without_pairs_there_is_no_test() -> None:
    assert sign_flip_tests(np.array([[NAN, 1.0]]), 0)[0] is None
    assert sign_flip_tests(np.zeros((0, 2)), 0) == [None, None]


def test_up_to_twenty_pairs_it_is_exact_and_beyond_drawn() -> None:
    values = np.ones((MAX_EXACT + 1, 2))
    values[0, 1] = NAN
    drawn, exact = sign_flip_tests(values, 0)
    assert exact == SignFlip(2.0 ** (1 - MAX_EXACT), "exact")
    assert drawn == SignFlip(1 / (DRAWS + 1), "drawn")


def test_the_drawn_p_value_is_near_the_exact_one_and_the_seed_fixes_it() -> None:
    rng = np.random.default_rng(3)
    values = rng.choice([-1.0, 0.5, 1.0], size=(MAX_EXACT, 1))
    exact = p_exact(values[:, 0])
    tiny = np.full((40, 1), 1e-12)  # pairs that differ, and change no sum to speak of
    (drawn,) = sign_flip_tests(np.vstack([values, tiny]), 7)
    assert drawn is not None
    assert drawn.test == "drawn"
    assert drawn.p_value == pytest.approx(exact, abs=0.02)
    assert sign_flip_tests(np.vstack([values, tiny]), 7) == [drawn]


def test_swapping_old_and_new_changes_nothing() -> None:
    values = np.random.default_rng(0).normal(size=(60, 3))
    assert sign_flip_tests(values, 1) == sign_flip_tests(-values, 1)


def test_many_pairs_are_drawn_in_parts_and_counted_whole() -> None:
    values = np.random.default_rng(0).normal(0.0, 1.0, size=(5_000, 2))
    values[:, 1] += 0.1
    chance, real = sign_flip_tests(values, 0)
    assert chance is not None
    assert real is not None
    assert chance.p_value > 0.01
    assert real.p_value < 0.001


@pytest.mark.parametrize("pairs", [15, 60])
def test_two_hundred_pairs_of_sides_without_a_difference_give_few_alarms(pairs: int) -> None:
    """10 are expected at 5 %; above 18 would be beyond chance (p < 0.01)."""
    rng = np.random.default_rng(1)
    quality = rng.uniform(size=(pairs, 200))
    old, new = (rng.binomial(3, quality) / 3 for _ in range(2))
    alarms = sum(found is not None and found.p_value <= 0.05 for found in sign_flip_tests(new - old, 0))
    assert 0 < alarms <= 18
