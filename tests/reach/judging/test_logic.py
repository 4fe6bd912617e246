from __future__ import annotations

import itertools

import pytest

from prm.reach.judging.logic import Truth, every, negation, some

TRUTHS: tuple[Truth, ...] = (True, False, None)


@pytest.mark.parametrize("pair", list(itertools.product(TRUTHS, repeat=2)))
def test_false_beats_unknown_beats_true_in_a_conjunction(pair: tuple[Truth, Truth]) -> None:
    expected = False if False in pair else None if None in pair else True
    assert every(pair) is expected


@pytest.mark.parametrize("pair", list(itertools.product(TRUTHS, repeat=2)))
def test_one_is_the_negation_of_all_negated(pair: tuple[Truth, Truth]) -> None:
    assert some(pair) is negation(every(map(negation, pair)))


def test_nothing_to_hold_holds_and_nothing_to_choose_from_does_not() -> None:
    assert every(()) is True
    assert some(()) is False


def test_a_conjunction_stops_at_the_first_false() -> None:
    def truths() -> object:
        yield False
        raise AssertionError("read on")

    assert every(truths()) is False  # type: ignore[arg-type]
