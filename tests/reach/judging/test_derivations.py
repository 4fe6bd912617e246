from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.provenance import trace
from prm.reach.judging.provenance_records import Leaf
from tests.reach.judging.hand_runs import MISSING, ok, run_of, shop, step
from tests.reach.log.messages import user

FIND = step(("find", {"name": "lamp"}, ok({"prices": [120, 130.5], "card": "card_4421486"})))
AGAIN = step(("find", {"name": "lamp"}, ok({"prices": [200]})))


def leaf(value: Any, parameter: dict[str, Any], *messages: Any, **arguments: Any) -> Leaf:
    tools = {
        "find": {"effect": "read", "parameters": {"name": "ref"}},
        "pay": {"effect": "write", "parameters": {"amount": parameter}},
    }
    spec = shop(tools=tools, milestones={"paid": {"source": {"tool": "pay"}, "used": "final"}})
    paid = step(("pay", {"amount": value, **arguments}, ok({})))
    return trace(run_of(spec, user("Two for New York."), *messages, paid), spec).leaves[-1 - len(arguments)]


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ({"sum": ["find.result.prices"]}, 250.5),
        ({"sum": ["find.result.prices", 10]}, "$260.50"),
        ({"difference": ["find.result.prices"]}, -10.5),
        ({"product": ["find.result.prices"]}, 15_660),
        ({"count": ["find.result.prices"]}, 2),
        ({"quotient": ["find.result.prices"]}, 0.9195402298850575),
    ],
)
def test_a_declared_derivation_explains_what_it_yields(way: dict[str, Any], value: Any) -> None:
    found = leaf(value, {"class": "ref", "derive": [way]}, FIND)
    assert (found.origin, found.fabricated) == ("derivation", False)
    assert found.sources[0].call_id == "c0"


def test_another_number_is_not_explained() -> None:
    assert leaf(251, {"class": "ref", "derive": [{"sum": ["find.result.prices"]}]}, FIND).fabricated is True


def test_without_a_declaration_a_sum_comes_from_nowhere() -> None:
    assert leaf(250.5, {"class": "ref"}, FIND).fabricated is True


def test_the_latest_call_alone_may_be_meant() -> None:
    way = {"class": "ref", "derive": [{"sum": ["find.result.prices"]}]}
    assert leaf(450.5, way, FIND, AGAIN).origin == "derivation"
    assert leaf(200, way, FIND, AGAIN).origin == "result"


def test_an_argument_of_the_same_call_can_be_a_term() -> None:
    way = {"class": "ref", "derive": [{"product": ["args.each", 3]}]}
    assert leaf(360, way, FIND, each=120).origin == "derivation"


def test_division_by_nothing_explains_nothing() -> None:
    assert (
        leaf(777, {"class": "ref", "derive": [{"quotient": ["find.result.prices", 0]}]}, FIND).origin == "unsupported"
    )


def test_what_was_not_returned_yet_derives_nothing() -> None:
    way = {"class": "ref", "derive": [{"sum": ["find.result.prices"]}]}
    assert leaf(250.5, way).fabricated is True
    missing = step(("find", {"name": "lamp"}, MISSING))
    assert leaf(250.5, way, missing).fabricated is None


def test_an_alias_stands_for_what_was_said() -> None:
    alias = {"class": "ref", "alias": {"New York": ["JFK", "LGA"]}}
    assert leaf("JFK", alias).origin == "derivation"
    assert leaf("SFO", alias).fabricated is True


def test_the_last_digits_of_a_seen_value_need_a_declaration() -> None:
    declared = {"class": "ref", "format": ["last_digits"]}
    assert leaf("1486", declared, FIND).origin == "derivation"
    assert leaf("1487", declared, FIND).fabricated is True
    assert leaf("1486", {"class": "ref"}, FIND).fabricated is True


def test_numbers_beyond_reason_are_no_amounts() -> None:
    way = {"class": "ref", "derive": [{"sum": ["find.result.prices"]}]}
    huge = step(("find", {"name": "lamp"}, ok({"prices": [10**400, 120]})))
    assert leaf(120.0, way, huge).fabricated is False
    assert leaf(10**401, way, huge).fabricated is True
