from __future__ import annotations

import pytest

from prm.reach.judging.normal_forms import tokens_of
from prm.reach.judging.right_place import follows_name, is_named, parameter_name


def test_a_leaf_goes_by_its_last_key() -> None:
    assert parameter_name(("flights", 0, "number", 2)) == "number"
    assert parameter_name((0,)) == ""


@pytest.mark.parametrize("key", ["ticket_id", "id", "ticketId", "ticket", "ticket_ids"])
def test_a_key_that_is_a_part_of_the_name_is_the_right_place(key: str) -> None:
    assert is_named((key,), "ticket_id")


@pytest.mark.parametrize("key", ["stock", "", "customer_id", "kid"])
def test_another_key_is_not(key: str) -> None:
    assert not is_named((key,), "ticket_id")


@pytest.mark.parametrize("text", ["ticket 7", "ticket no. 7", "tickets: 7", "ticket id is 7"])
def test_a_value_behind_a_word_of_the_name_is_in_the_right_place(text: str) -> None:
    tokens = tokens_of(text)
    assert follows_name(tokens, len(tokens) - 1, "ticket_id")


@pytest.mark.parametrize("text", ["7", "7 tickets", "room 7", "a ticket for all of us 7"])
def test_a_value_elsewhere_is_not(text: str) -> None:
    tokens = tokens_of(text)
    assert not follows_name(tokens, tokens.index("7"), "ticket_id")
