from __future__ import annotations

from prm.reach.judging.normal_forms import tokens_of
from prm.reach.judging.provenance_records import Source
from prm.reach.judging.visible_values import MAX_PLACES, VisibleValues
from prm.reach.log.run import ToolCall, ToolResult


def call(id: str, batch: int = 0, **arguments: object) -> ToolCall:
    return ToolCall(0, batch, id, "t", arguments, "")


def returned(id: str, value: object, index: int = 1, envelope: object = None) -> ToolResult:
    return ToolResult(index, id, True, value, envelope=envelope)


def test_a_value_is_found_where_it_stands_as_a_whole() -> None:
    seen = VisibleValues()
    seen.add_text("user", 0, "Send it to 12 Elm St, Boston.")
    seen.add_result(returned("c", {"to": ["12 Elm St"]}))
    places = seen.places(tokens_of("12 elm st"))
    assert places.of("user") == (Source(0),)
    assert places.of("result") == (Source(1, "c", ("to", 0)),)
    assert not seen.places(tokens_of("12 Elm Lane")).of("user")
    assert not seen.places(tokens_of("Elm 12")).of("user")


def test_a_key_is_a_value_too() -> None:
    seen = VisibleValues()
    seen.add_result(returned("c", {"cards": {"gift_card_5634230": {"amount": 67}}}))
    assert seen.places(tokens_of("gift_card_5634230")).of("result") == (Source(1, "c", ("cards", "gift_card_5634230")),)
    assert not seen.places(tokens_of("credit_card_5634230")).of("result")
    assert not seen.places(tokens_of("5634230")).of("result")


def test_what_repeats_an_argument_of_its_own_call_is_an_echo() -> None:
    seen = VisibleValues()
    seen.add_call(call("c", sku="lamp-4"))
    seen.add_result(returned("c", {"sku": "lamp-4", "next": "lamp-5"}))
    assert seen.places(tokens_of("lamp-4")).of("result") == ()
    assert seen.places(tokens_of("lamp-4")).of("echo") == (
        Source(0, None, ("sku",)),
        Source(1, "c", ("sku",), echo=True),
    )
    assert seen.places(tokens_of("lamp-5")).of("result") == (Source(1, "c", ("next",)),)


def test_the_rest_of_an_envelope_is_seen_too() -> None:
    record = {"sku": "lamp-4"}
    seen = VisibleValues()
    seen.add_result(returned("c", record, envelope={"record": record, "hint": "see T99"}))
    assert seen.places(tokens_of("T99")).of("result") == (Source(1, "c", ("hint",)),)
    assert len(seen.places(tokens_of("lamp-4")).of("result")) == 1


def test_a_value_is_brought_up_to_date_and_keeps_its_first_and_last_places() -> None:
    seen = VisibleValues()
    for index in range(100):
        seen.add_text("user", index, "lamp-4")
        seen.places(tokens_of("lamp-4"))
    indices = [place.index for place in seen.places(tokens_of("lamp-4")).of("user")]
    assert indices == [*range(MAX_PLACES), *range(100 - MAX_PLACES, 100)]


def test_parts_must_be_whole_leaves_of_one_result() -> None:
    seen = VisibleValues()
    seen.add_result(returned("c", {"first": "James", "last": "Taylor"}))
    seen.add_result(returned("d", {"first": "Ivan", "street": "12 Elm St"}))
    assert seen.holder_of_parts(tokens_of("James Taylor")) == "c"
    assert seen.holder_of_parts(tokens_of("Taylor, James")) == "c"
    assert seen.holder_of_parts(tokens_of("Ivan Taylor")) is None
    assert seen.holder_of_parts(tokens_of("Ivan Elm")) is None
    assert seen.holder_of_parts(tokens_of("James")) is None


def test_a_short_value_is_found_under_its_name_alone() -> None:
    seen = VisibleValues()
    seen.add_result(returned("c", {"id": 7, "stock": 7, "text": "id 7"}))
    seen.add_text("user", 4, "Take ticket 7, room 8.")
    assert seen.places_by_name(("7",), "ticket_id").of("result") == (Source(1, "c", ("id",)),)
    assert seen.places_by_name(("7",), "ticket_id").of("user") == (Source(4),)
    assert seen.places_by_name(("8",), "ticket_id").of("user") == ()


def test_years_and_last_digits_are_known() -> None:
    seen = VisibleValues()
    seen.add_text("system", 0, "It is 2024-05-15. Cards: card_4421486.")
    assert seen.has_year("2024")
    assert not seen.has_year("2025")
    assert list(seen.tokens_ending_in("1486")) == ["card_4421486"]
    assert list(seen.tokens_ending_in("21486")) == ["card_4421486"]
    assert list(seen.tokens_ending_in("91486")) == []
