from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.judge import judge_in_full
from prm.reach.labels.errors import what_is_illegal
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from tests.reach.labels.desk_logs import draft, failed, trajectory

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "generate_action",
            "parameters": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["ship", "refund"]},
                    "qty": {"type": "integer"},
                    "gift": {"type": "boolean"},
                },
                "required": ["action", "sku"],
            },
        },
    }
]


def illegal(tools: list[dict[str, Any]], **changed: Any) -> str:
    spec = shipped_spec("ticket")
    name, arguments, _ = draft(**changed)
    given = {key: value for key, value in arguments.items() if value != "LEFT OUT"}
    run = run_of_trajectory(trajectory((name, given, failed("refused")), tools=tools), spec.envelope)
    _, judged = judge_in_full(run, spec)
    return what_is_illegal(judged, judged.run.calls[0])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ""),
        ({"sku": ""}, "sku is blank"),
        ({"address": "  "}, "address is blank"),
        ({"sku": None}, "sku is blank"),
        ({"sku": "LEFT OUT"}, "sku is absent"),
        ({"action": "send"}, "action is none of the declared values"),
        ({"qty": "two"}, "qty is no integer"),
        ({"qty": True}, "qty is no integer"),
        ({"gift": 1}, "gift is no boolean"),
        ({"qty": 2.0}, ""),
    ],
)
def test_what_the_agent_could_have_known_to_be_wrong(changed: dict[str, Any], words: str) -> None:
    assert illegal(TOOLS, **changed) == words


def test_a_tool_that_is_not_declared_does_not_exist_and_without_declarations_nothing_is_known() -> None:
    other = [{"type": "function", "function": {"name": "read_ticket"}}]
    assert illegal(other) == "there is no tool generate_action"
    assert illegal([], action="send", qty="two") == ""


@pytest.mark.parametrize(
    "tools", [[{}], [{"function": None}], [{"function": {"name": "generate_action", "parameters": 3}}]]
)
def test_broken_declarations_say_nothing(tools: list[dict[str, Any]]) -> None:
    assert illegal(tools, qty="two") == ""
