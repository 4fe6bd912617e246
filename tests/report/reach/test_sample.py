"""Which runs the page holds: all of a few, of many those that fail, in proportion."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from prm.report.reach.sample import sampled
from tests.report.reach.examples import verdict


def test_all_runs_are_held_where_there_is_room() -> None:
    assert sampled([verdict("rrrrr")] * 5, most=5) == [0, 1, 2, 3, 4]


def test_of_many_nine_in_ten_fail_and_the_places_are_in_proportion() -> None:
    verdicts = [verdict("rrrrr")] * 600 + [verdict("rrtrr")] * 300 + [verdict("tttmm")] * 100
    letters = ["covered"] * 600 + ["M3"] * 300 + ["M1"] * 100
    counts = Counter(letters[number] for number in sampled(verdicts, most=100))
    assert counts.total() == 100
    assert 8 <= counts["covered"] <= 12
    assert 64 <= counts["M3"] <= 69  # three quarters of the failing ninety, one of each kind first
    assert 21 <= counts["M1"] <= 25


def test_a_rare_failure_of_a_rare_agent_is_among_them() -> None:
    verdicts = [verdict("rrtrr")] * 2_000 + [verdict("mmmmm", agent="rare")]
    assert 2_000 in sampled(verdicts, most=20)


def test_wanted_runs_are_always_among_them() -> None:
    verdicts = [verdict("rrrrr")] * 1_000
    assert set(sampled(verdicts, [3, 77, 999], most=10)) >= {3, 77, 999}


def test_runs_are_spread_over_their_kind_and_the_same_each_time() -> None:
    verdicts = [verdict("rrtrr")] * 1_000
    chosen = sampled(verdicts, most=10)
    assert chosen == sampled(verdicts, most=10)
    assert max(chosen) - min(chosen) > 800


@given(
    st.lists(st.sampled_from(["rrrrr", "rrtrr", "tttmm", "rr?rr"]), max_size=60),
    st.integers(1, 30),
    st.sets(st.integers(0, 59)),
)
def test_as_many_as_there_is_room_for_and_none_twice(letters: list[str], most: int, wanted: set[int]) -> None:
    verdicts = [verdict(one) for one in letters]
    chosen = sampled(verdicts, {number for number in wanted if number < len(letters)}, most)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(most, len(letters))
    assert all(0 <= number < len(letters) for number in chosen)
