from __future__ import annotations

from typing import Any

from prm.reach.judging.bindings import Places
from prm.reach.judging.logic import Truth
from prm.reach.spec.conditions import First
from prm.reach.spec.places import parse_place

ID, NAME = "ticket.result.customer_id", "ticket.result.ship_to"


def places(*names: str) -> Places:
    return Places(map(parse_place, names), ("#",))


def holds(held: Places, value: Any, *targets: str | First, arguments: Any = None) -> Truth:
    return held.holds(targets, value, arguments)


def test_nothing_seen_binds_nothing() -> None:
    assert holds(places(ID), "C70", ID) is False


def test_a_returned_value_binds_in_normal_form_as_a_whole() -> None:
    held = places(ID)
    held.add_values("ticket", "result", {"customer_id": "C70"}, certain=True, is_whole=True)
    assert holds(held, "Ｃ70", ID) is True
    assert holds(held, "C7", ID) is False
    assert holds(held, None, ID) is False


def test_a_value_may_stand_as_a_word_in_a_text() -> None:
    held = places("user", "ask.result.answer")
    held.add_text("user", "Please handle T41.")
    held.add_values("ask", "result", {"answer": "It is 12 Elm St, Boston."}, certain=True, is_whole=True)
    assert holds(held, "T41", "user") is True
    assert holds(held, "T4", "user") is False
    assert holds(held, "12 Elm St, Boston", "ask.result.answer") is True
    assert holds(held, "Elm St, Austin", "ask.result.answer") is False


def test_later_texts_are_searched_for_a_value_that_was_not_there() -> None:
    held = places("user")
    held.add_text("user", "Hello.")
    assert holds(held, "T41", "user") is False
    held.add_text("user", "It is T41.")
    assert holds(held, "T41", "user") is True


def test_what_is_missing_from_the_log_makes_a_no_unknown_and_leaves_a_yes() -> None:
    held = places(ID)
    held.add_values("ticket", "result", {"customer_id": "C70"}, certain=True, is_whole=True)
    held.add_missing("ticket", "result")
    assert holds(held, "C70", ID) is True
    assert holds(held, "C99", ID) is None


def test_values_of_a_call_that_may_be_meant_are_unknown() -> None:
    held = places(ID)
    held.add_values("ticket", "result", {"customer_id": "C70"}, certain=False, is_whole=True)
    assert holds(held, "C70", ID) is None
    assert holds(held, "C99", ID) is False


def test_the_first_place_with_a_value_decides() -> None:
    held = places(NAME, ID)
    held.add_values("ticket", "result", {"customer_id": "C70", "ship_to": "C12"}, certain=True, is_whole=True)
    first = First(first=(NAME, ID))
    assert holds(held, "C12", first) is True
    assert holds(held, "C70", first) is False


def test_without_a_value_in_the_first_place_the_next_one_decides() -> None:
    held = places(NAME, ID)
    held.add_values("ticket", "result", {"customer_id": "C70", "ship_to": "C#"}, certain=True, is_whole=True)
    assert holds(held, "C70", First(first=(NAME, ID))) is True


def test_a_first_place_that_is_missing_from_the_log_leaves_the_next_one_unknown() -> None:
    held = places(NAME, ID)
    held.add_missing("ticket", "result")
    assert holds(held, "C70", First(first=(NAME, ID))) is None


def test_an_argument_of_the_same_call_can_be_meant() -> None:
    held = places("args.to")
    assert holds(held, "X", "args.to", arguments={"to": ["X", "Y"]}) is True
    assert holds(held, "Z", "args.to", arguments={"to": ["X", "Y"]}) is False


def test_objects_and_lists_are_never_bound() -> None:
    held = places("user")
    held.add_text("user", "a b c")
    assert holds(held, ["a"], "user") is False
