from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.bindings import Places
from prm.reach.judging.conditions import Seen, first_failure, holds
from prm.reach.judging.logic import Truth
from prm.reach.log.run import ToolCall, ToolResult
from prm.reach.spec.conditions import Condition


def seen(arguments: Any = None, value: Any = None, grounded: Truth = True, **result: Any) -> Seen:
    """A call with its result; the result is missing where nothing is said of it."""
    call = ToolCall(0, 1, "c0", "find", arguments, "")
    found = {"ok": True, "value": value, **result} if result or value is not None else None
    returned = None if found is None else ToolResult(index=2, call_id="c0", **found)
    return Seen(call, returned, grounded, Places((), ()), ("#",))


def check(condition: dict[str, Any], call: Seen) -> Truth:
    return holds(Condition.model_validate(condition), call)


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ({"args.sku": "lamp-4"}, True),
        ({"args.sku": "lamp-5"}, False),
        ({"args.qty": {"ge": 2}, "result.stock": 0}, True),
        ({"result.stock": {"gt": 0}}, False),
        ({"result.none": {"exists": False}}, True),
        ({"result.sku": {"exists": False}}, True),
        ({"args": {"exists": True}}, True),
        ({"status": "ok", "ok": True}, True),
        ({"any": [{"args.sku": "x"}, {"args.qty": 2}]}, True),
        ({"all": [{"args.sku": "x"}, {"args.qty": 2}]}, False),
        ({"not": {"args.sku": "x"}}, True),
        ({"args.sku": {"not": "lamp-4"}}, False),
        ({"args.sku": {"not": {"in": ["a", "b"]}, "exists": True}}, True),
        ({"grounded": True}, True),
        ({"grounded": False}, False),
    ],
)
def test_conditions_of_a_call_that_is_fully_logged(condition: dict[str, Any], truth: Truth) -> None:
    call = seen({"sku": "lamp-4", "qty": 2}, {"stock": 0, "sku": "la##"}, status="ok")
    assert check(condition, call) is truth


@pytest.mark.parametrize(
    "condition",
    [{"result.stock": 0}, {"status": "ok"}, {"ok": True}, {"result.stock": {"not": 0}}, {"not": {"truncated": True}}],
)
def test_a_missing_result_leaves_open_what_is_asked_of_it(condition: dict[str, Any]) -> None:
    assert check(condition, seen({"sku": "x"})) is None


def test_a_missing_result_does_not_undo_a_wrong_argument() -> None:
    assert check({"args.sku": "y", "result.stock": 0}, seen({"sku": "x"})) is False


def test_broken_arguments_are_unknown_not_wrong() -> None:
    assert check({"args.sku": "x"}, seen(None, {"stock": 0})) is None
    assert check({"args.sku": "x", "result.stock": 1}, seen(None, {"stock": 0})) is False


def test_what_a_cut_answer_does_not_hold_is_unknown() -> None:
    cut = seen({}, {"stock": 0}, truncated=True)
    assert check({"result.sku": {"exists": False}}, cut) is None
    assert check({"result.stock": 0}, cut) is True


def test_a_log_without_a_status_does_not_say_how_it_went() -> None:
    call = seen({}, {"stock": 0}, ok=None)
    assert check({"status": "ok"}, call) is None
    assert check({"ok": True}, call) is None


def test_all_values_of_an_argument_must_pass_and_one_of_a_result() -> None:
    call = seen({"flights": [{"no": "A1"}, {"no": "B2"}]}, [{"no": "A1"}, {"no": "B2"}])
    assert check({"args.flights.no": "A1"}, call) is False
    assert check({"args.flights.no": {"in": ["A1", "B2"]}}, call) is True
    assert check({"result.no": "B2"}, call) is True


def test_unknown_grounding_stays_unknown() -> None:
    assert check({"grounded": True}, seen({}, {}, grounded=None)) is None


def test_the_first_failure_is_told_with_its_value() -> None:
    condition = Condition.model_validate({"args.qty": 2, "any": [{"args.sku": "a"}, {"args.sku": "b"}]})
    assert first_failure(condition, seen({"qty": 2, "sku": "c"}, {})) == "args.sku is 'c'"
    assert first_failure(condition, seen({"sku": "a"}, {})) == "args.qty is absent"
    assert first_failure(condition, seen({"qty": 2, "sku": "b"}, {})) == ""
