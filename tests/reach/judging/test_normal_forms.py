from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.reach.judging.normal_forms import (
    alternatives_of,
    is_same,
    is_spaceless,
    normal_form,
    spoken_form,
    tokens_of,
    tokens_of_value,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("T41", "t41"),
        ("T41", "Ｔ４１"),
        ("#W123", "W123"),
        ("$1,134.50", 1134.5),
        ("1,134.00", 1134),
        (161.0, 161),
        (-414, "414"),
        ("12 Elm St,  Boston", "12 elm st Boston"),
        ("one_way", "one-way"),
        ("lamp‑4", "lamp-4"),
        ("james\u200btaylor", "jamestaylor"),
        ("**HAT284**", "HAT284"),
        (True, "true"),
    ],
)
def test_the_same_value_written_otherwise_is_the_same(one: Any, other: Any) -> None:
    assert is_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("credit_card_5634230", "gift_card_5634230"),
        ("credit_card_5634230", "5634230"),
        ("lamp-4", "lamp 4"),
        ("lamp-4", "lamp_4"),
        ("007", 7),
        ("T41", "T410"),
        (None, ""),
        ("", " "),
    ],
)
def test_other_values_are_not(one: Any, other: Any) -> None:
    assert not is_same(one, other)


def test_an_identifier_is_one_token_and_punctuation_is_none() -> None:
    assert tokens_of("(ID: james_taylor_7043), see `1N99U6`.Please") == (
        "id",
        "james_taylor_7043",
        "see",
        "1n99u6",
        "please",
    )
    assert tokens_of("write to a.b4@example.com.") == ("write", "to", "a.b4@example.com")
    assert tokens_of("LAS–IAH, HAT1/HAT2") == ("las", "iah", "hat1", "hat2")


def test_a_script_without_spaces_has_a_token_a_character_and_identifiers_stay_whole() -> None:
    assert tokens_of("订单号W123在") == ("订", "单", "号", "w123", "在")
    assert is_spaceless("订")
    assert not is_spaceless("a")


def test_leaves_that_are_no_text_have_tokens_too() -> None:
    assert tokens_of_value(None) == ()
    assert tokens_of_value({}) == ()
    assert tokens_of_value(1134.50) == ("1134.5",)
    assert normal_form(False) == "false"


def test_what_else_a_token_of_a_source_may_stand_for() -> None:
    assert alternatives_of("jfk-sea") == ("jfk", "sea")
    assert alternatives_of("50usd") == ("50",)
    assert alternatives_of("yara_garcia_1905@gmail.com") == ("yara_garcia_1905",)
    assert alternatives_of("lamp-4") == ()
    assert alternatives_of("lamp-blue") == ()


def test_joined_words_are_said_apart_and_identifiers_are_not() -> None:
    assert spoken_form(tokens_of("basic_economy")) == ("basic", "economy")
    assert spoken_form(tokens_of("lamp-4")) is None
    assert spoken_form(tokens_of("two words")) is None


@given(st.text())
def test_the_normal_form_of_a_normal_form_is_itself_but_for_digits_marks(text: str) -> None:
    once = normal_form(text)
    assert normal_form(once).split() == once.split() or any(character.isdigit() for character in once)


@given(st.text(), st.text())
def test_any_two_texts_compare_both_ways(one: str, other: str) -> None:
    assert is_same(one, other) is is_same(other, one)


@given(st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text()))
def test_every_leaf_has_a_normal_form(value: Any) -> None:
    assert isinstance(normal_form(value), str)
