from __future__ import annotations

import pytest

from prm.reach.log.plan import plan_in


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "read", "why": "to see it"}',
        'I will read it.\n```json\n{"tool": "read", "why": "to see it"}\n```\nGoing.',
        '```\n{"tool": "read", "why": "to see it"}\n```',
        'First {not json} then {"tool": "read", "why": "to see it"} and {"b": 1}',
        '<think>{"tool": "wrong"}</think>{"tool": "read", "why": "to see it"}',
        '{"plan": {"tool": "read", "why": "to see it"}}',
    ],
)
def test_a_stated_object_before_calls_is_the_plan(text: str) -> None:
    assert plan_in(text, has_calls=True) == {"tool": "read", "why": "to see it"}


@pytest.mark.parametrize(
    "text", ["", "no plan", "{}", "{ }", "{broken", '["a"]', "<think>{'a': 1}</think>", '{"a": NaN}']
)
def test_text_without_an_object_states_no_plan(text: str) -> None:
    assert plan_in(text, has_calls=True) is None


def test_an_answer_in_json_is_no_plan_but_one_that_names_its_plan_is() -> None:
    assert plan_in('{"answer": 4}', has_calls=False) is None
    assert plan_in('{"plan": {"next": "stop"}, "answer": 4}', has_calls=False) == {"next": "stop"}


def test_calls_written_as_text_are_no_plan() -> None:
    assert plan_in('<tool_call>{"name": "read", "arguments": {}}</tool_call>', has_calls=True) is None


@pytest.mark.parametrize(
    "text", ["{" * 200_000, '{"a":' * 100_000, "```" * 100_000, "<think>" * 50_000 + "{", "```" + "a" * 200_000 + "{"]
)
def test_hostile_text_holds_no_plan(text: str) -> None:
    assert plan_in(text, has_calls=True) is None
