"""Broken, huge and odd logs get labels or masks, in bounded time, and nobody is accused of what is not in the log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prm.reach.labels.rules import label_trajectory
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from prm.types import RunIdentity, Trajectory
from tests.reach.labels.desk_logs import REQUEST, ok


def label(*messages: dict[str, Any]) -> Trajectory:
    every = ({"role": "user", "content": REQUEST}, *messages)
    steps = {i: None for i, m in enumerate(every) if m["role"] == "assistant"}
    spec = shipped_spec("ticket")
    run = run_of_trajectory(Trajectory(RunIdentity(id="r"), every, steps), spec.envelope)
    return label_trajectory(run, spec)[0]


def call(name: str, arguments: Any, call_id: str | None = "c") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) or arguments is None else json.dumps(arguments, ensure_ascii=False)
    made = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": "", "tool_calls": [made]}


def result(content: Any, call_id: str = "c") -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": content if isinstance(content, str) else json.dumps(content),
    }


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"ticket_id": "T41"}
    for _ in range(depth):
        value = {"a": [value]}
    return value


TICKET = ok({"ticket_id": "T41", "customer_id": "C70", "sku": "apple-4", "qty": 2})

LOGS: dict[str, list[dict[str, Any]]] = {
    "no result": [call("read_ticket", {"ticket_id": "T41"})],
    "cut-off result": [call("read_ticket", {"ticket_id": "T41"}), result('{"status": "ok", "record": {"cust')],
    "empty result": [call("read_ticket", {"ticket_id": "T41"}), result("")],
    "result before its call": [result(TICKET), call("read_ticket", {"ticket_id": "T41"})],
    "full-width digits": [call("read_ticket", {"ticket_id": "T４１"}), result(TICKET)],
    "no call at all": [{"role": "assistant", "content": None}],
    "Chinese": [{"role": "assistant", "content": "工单已经处理完毕。"}],
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_proves_nothing_accuses_nobody_of_making_things_up(name: str) -> None:
    run = label(*LOGS[name])
    rules = {note["rule"] for note in run.label_notes.values()}
    assert not rules & {"fabricated_ref", "minefield", "tainted", "false_claim", "wrong_entity", "illegal_argument"}


ODD: dict[str, Any] = {
    "broken": '{"ticket_id": ',
    "null": None,
    "a list": "[1]",
    "a null argument": {"ticket_id": None},
    "deep": nested(50),
    "empty": "",
    "NaN": '{"ticket_id": NaN}',
}


@pytest.mark.parametrize("name", ODD)
def test_odd_arguments_get_a_label_or_a_mask(name: str) -> None:
    for returned in (TICKET, {"status": "not_found", "record": None}, "Error: what?"):
        run = label(call("read_ticket", ODD[name]), result(returned), {"role": "assistant", "content": "Done."})
        assert set(run.step_labels) == {1, 3}


def test_repeated_call_ids_are_told_apart() -> None:
    run = label(*[m for _ in range(3) for m in (call("read_ticket", {"ticket_id": "T41"}), result(TICKET))])
    assert list(run.step_labels.values()) == [0, 0, -1]


def test_a_run_of_5000_calls_is_labelled_and_each_invented_value_accused_once() -> None:
    made: list[dict[str, Any]] = []
    for number in range(5_000):
        sku = f"apple-{number % 997}"
        made += [
            call("check_inventory", {"sku": sku}, f"c{number}"),
            result(ok({"sku": sku, "stock": 1}), f"c{number}"),
        ]
    run = label(*made)
    assert len(run.step_labels) == 5_000
    rules = [note["rule"] for note in run.label_notes.values()]
    assert set(rules[:997]) == {"fabricated_ref"}
    assert set(rules[997:]) == {"tainted"}
