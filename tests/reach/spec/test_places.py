from __future__ import annotations

import pytest

from prm.reach.spec.places import Place, parse_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("M1.result.sku", Place("M1", "result", ("sku",))),
        ("ticket.result", Place("ticket", "result", ())),
        ("book.args.flights.0.no", Place("book", "args", ("flights", "0", "no"))),
        ("args.qty", Place("", "args", ("qty",))),
        ("args", Place("", "args", ())),
        ("user", Place("user", None, ())),
        ("request", Place("request", None, ())),
        ("look_up-1.result.*.id", Place("look_up-1", "result", ("*", "id"))),
    ],
)
def test_places_are_parsed(text: str, place: Place) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize(
    "text", ["", "result.sku", "M1", "M1.value.sku", "M1.result.", "M 1.result", "user.name", "args."]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a place is"):
        parse_place(text)
