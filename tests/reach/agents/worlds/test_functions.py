"""Python functions in place of the simulator: declarations, returns, failures, fresh worlds."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from prm.errors import ConfigError
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.declare import FunctionTool
from prm.reach.agents.worlds.docstring import described
from prm.reach.agents.worlds.functions import FunctionRun, FunctionWorld
from prm.reach.desk.conformance import conformance_violations
from prm.reach.desk.environment import Call, Envelope

TASK = Task("t", "Do.", "t", data={"start": 5})


@dataclass
class Line:
    """One line of an order."""

    sku: str
    quantity: int = 1


def order(
    member: str, lines: list[Line], kind: Literal["now", "later"] = "now", title: str | None = None
) -> dict[str, Any]:
    """Order things.

    Nothing is paid yet.

    Args:
        member: Who orders,
            by number.
        lines: What.
        title: Of the order.

    Returns:
        The order's number.

    Raises:
        ValueError: Never.
    """
    return {"number": f"O-{len(lines)}", "first": lines[0].sku, "kind": kind}


def run_of(source: Any, seconds: float = 30.0) -> FunctionRun:
    return FunctionWorld(source, "own", seconds).open(TASK, 0, 15)


def returned(function: Any, **arguments: Any) -> Envelope:
    run = run_of(function)
    return run.execute([Call(run.tools[0], arguments)])[0]


def test_hints_and_docstring_become_the_declaration() -> None:
    function = FunctionTool("order", order).declaration["function"]
    assert function["description"] == "Order things. Nothing is paid yet. Returns: The order's number."
    schema = function["parameters"]
    assert schema["required"] == ["member", "lines"]
    assert schema["properties"]["member"] == {"type": "string", "description": "Who orders, by number."}
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["now", "later"], "default": "now"}
    assert schema["properties"]["title"]["description"] == "Of the order."
    assert schema["properties"]["lines"]["items"] == {"$ref": "#/$defs/Line"}
    assert schema["$defs"]["Line"]["required"] == ["sku"]


def test_a_function_without_anything_is_declared_too() -> None:
    def ping(): ...  # type: ignore[no-untyped-def]

    declared = FunctionTool("ping", ping).declaration["function"]
    assert declared["description"] == ""
    assert declared["parameters"]["type"] == "object"
    assert declared["parameters"]["properties"] == {}


def test_a_docstring_may_be_anything() -> None:
    assert described(None).text == ""
    assert described("Args:\n    x: y\n").parameters == {"x": "y"}
    assert described("Does.\n\nArgs:\n  x (int): the\n    one\n  *rest: others\nReturns:\n  z").parameters == {
        "x": "the one",
        "rest": "others",
    }


def test_arguments_are_converted_to_the_hints() -> None:
    record = returned(order, member="M", lines=[{"sku": "a", "quantity": "2"}]).record
    assert record == {"number": "O-1", "first": "a", "kind": "now"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"member": 3, "lines": []},
        {"member": "M", "lines": "x"},
        {"member": "M", "lines": [], "more": 1},
        {"self": 1},
    ],
)
def test_arguments_that_do_not_fit_are_invalid_and_the_function_is_not_called(arguments: dict[str, Any]) -> None:
    envelope = returned(order, **arguments)
    assert envelope.status == "invalid"
    assert envelope.record is not None
    assert "\n" not in envelope.record["error"]


def test_what_is_returned_becomes_the_record() -> None:
    assert returned(lambda: {"a": 1}) == Envelope("ok", "complete", False, {"a": 1})
    assert returned(lambda: {"a": None}) == Envelope("ok", "partial", False, {"a": None})
    assert returned(lambda: [1, 2]).record == {"result": [1, 2]}
    assert returned(lambda: None) == Envelope("ok", "partial", False, {"result": None})
    assert returned(lambda: Line("s")).record == {"sku": "s", "quantity": 1}


def test_a_function_that_returns_nothing_by_its_hint_has_succeeded() -> None:
    def send() -> None:
        """Sends."""

    assert returned(send) == Envelope("ok", "complete", False, {})


def test_a_tool_may_return_an_envelope_of_its_own() -> None:
    assert returned(lambda: {"status": "not_found", "record": None}) == Envelope("not_found", "partial", False, None)
    cut = returned(lambda: {"status": "ok", "record": {"a": 1}, "is_truncated": True})
    assert (cut.ok, cut.is_truncated, cut.data_quality) == (False, True, "partial")
    assert returned(lambda: {"status": "shipped", "record": {}}).record == {"status": "shipped", "record": {}}


def test_an_exception_is_told_and_breaks_nothing() -> None:
    def fail() -> None:
        raise KeyError("x")

    assert returned(fail) == Envelope("error", "partial", False, {"error": "KeyError: 'x'"})


@pytest.mark.parametrize("value", [float("nan"), {1, 2, object()}, object()])
def test_a_return_that_is_no_json_is_an_error(value: Any) -> None:
    assert returned(lambda: value).status == "error"


def test_a_tool_that_hangs_times_out() -> None:
    never = threading.Event()
    run = run_of({"wait": lambda: never.wait(30)}, seconds=0.05)
    assert run.execute([Call("wait", {})])[0].status == "timeout"
    never.set()


def test_a_coroutine_is_awaited() -> None:
    async def fetch(n: int) -> int:
        return n + 1

    assert returned(fetch, n=1).record == {"result": 2}


class Counter:
    """Counts from the task's start."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.value = task["start"]

    def add(self, n: int = 1) -> int:
        """Adds."""
        self.value += n
        return int(self.value)

    def final_success(self) -> bool:
        return bool(self.value == 7)

    def _hidden(self) -> None: ...


def test_a_class_is_made_anew_for_each_run_with_the_task() -> None:
    world = FunctionWorld(Counter, "counting")
    assert [tool["function"]["name"] for tool in world.declarations] == ["add"]
    first, second = world.open(TASK, 0, 15), world.open(TASK, 1, 15)
    assert [r.record for r in first.execute([Call("add", {}), Call("add", {})])] == [{"result": 6}, {"result": 7}]
    assert second.execute([Call("add", {})])[0].record == {"result": 6}
    assert (first.final_success(), second.final_success()) == (True, False)


def test_a_world_that_cannot_tell_says_nothing() -> None:
    assert run_of(order).final_success() is None


@pytest.mark.parametrize("source", [3, [], {}, "order", [3], {"a": 3}, None])
def test_what_holds_no_functions_is_refused(source: Any) -> None:
    with pytest.raises(ConfigError):
        FunctionWorld(source, "own")


def test_parameters_without_names_and_odd_hints_are_refused() -> None:
    def rest(*things: int) -> None: ...

    def odd(thing: threading.Lock) -> None: ...  # type: ignore[valid-type]

    for function in (rest, odd):
        with pytest.raises(ConfigError) as caught:
            FunctionWorld(function, "own")
        assert "\n" not in str(caught.value)


def test_it_conforms() -> None:
    def find(name: str) -> dict[str, Any] | None:
        """Finds."""
        return {"name": name, "age": None} if name else None

    batches = [[Call("find", {"name": "a"}), Call("find", {"name": ""})], [Call("find", {"name": 3})]]
    assert conformance_violations(lambda: run_of(find), batches) == []


def test_the_world_of_a_name_is_found_and_another_is_refused() -> None:
    world = FunctionWorld.load("tests.reach.agents.worlds.test_functions:Counter")
    assert world.name == "tests.reach.agents.worlds.test_functions"
    assert world.settings["code"]
    for name in ("no_such_module:x", "json:no_such", "json", ":x"):
        with pytest.raises(ConfigError) as caught:
            FunctionWorld.load(name)
        assert "\n" not in str(caught.value)
