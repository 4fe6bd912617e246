"""Calls written as text: what is read, what is not, and a conversation without tools."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.reach.agents.chat import AgentError, Turn
from prm.reach.agents.text_calls import HOW_TO_CALL, calls_in, text_turns, tool_prompt
from prm.reach.desk.variants import load_variant
from tests.reach.work import growth

TOOLS = ("read", "write")


def named(text: str) -> list[tuple[str, str]]:
    return [(call.tool, call.arguments) for call in calls_in(text, TOOLS)[0]]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "read", "arguments": {"a": 1}}</tool_call>',
        '<tool_call>\n{"name": "read", "arguments": {"a": 1}}\n',
        '<tool_call>[{"name": "read", "parameters": {"a": 1}}]</tool_call>',
        '{"name": "read", "arguments": {"a": 1}}',
        'I read.\n```json\n{"name": "read", "arguments": {"a": 1}}\n```',
        '[{"name": "read", "arguments": {"a": 1}}]',
        '{"type": "function", "function": {"name": "read", "arguments": {"a": 1}}}',
        '<tool_call>{"name": "read", "arguments": "{\\"a\\": 1}"}</tool_call>',
    ],
)
def test_the_forms_of_a_call(text: str) -> None:
    assert named(text) == [("read", '{"a": 1}')]


def test_blocks_of_one_message_are_parallel_calls_and_the_rest_is_said() -> None:
    text = 'First. <tool_call>{"name": "read"}</tool_call> and <tool_call>{"name": "write"}</tool_call> go.'
    calls, said = calls_in(text, TOOLS)
    assert [call.tool for call in calls] == ["read", "write"]
    assert said == "First.  and  go."


def test_a_bare_object_counts_only_with_a_known_name_and_arguments() -> None:
    assert named('{"name": "Anna", "arguments": {}}') == []
    assert named('{"name": "read"}') == []
    assert named('The answer is {"name": "read", "age": 3}.') == []
    assert calls_in('{"name": "Anna"}', TOOLS)[1] == '{"name": "Anna"}'


def test_a_block_may_name_an_unknown_tool() -> None:
    assert named('<tool_call>{"name": "erase", "arguments": {}}</tool_call>') == [("erase", "{}")]


def test_broken_json_in_a_block_stays_verbatim_as_the_arguments() -> None:
    assert named('<tool_call>{"name": "read", "arguments": {"a": </tool_call>') == [
        ("read", '{"name": "read", "arguments": {"a":')
    ]


@pytest.mark.parametrize("block", ["", "read", "{}", "[]", "null", '{"arguments": {}}', "[1]", '{"name": 3}'])
def test_a_block_that_names_no_tool_is_garbage(block: str) -> None:
    with pytest.raises(AgentError) as caught:
        calls_in(f"<tool_call>{block}</tool_call>", TOOLS)
    assert caught.value.kind == "garbage"


def test_drafts_in_a_thought_are_no_calls_and_stay_in_the_text() -> None:
    thought = '<think>maybe <tool_call>{"name": "write"}</tool_call></think>'
    calls, said = calls_in(f'{thought}So: <tool_call>{{"name": "read"}}</tool_call>', TOOLS)
    assert [call.tool for call in calls] == ["read"]
    assert said == f"{thought}So:"
    assert calls_in(f"{thought}Done.", TOOLS) == ((), f"{thought}Done.")
    assert calls_in('<think>{"name": "read", "arguments": {}}', TOOLS)[0] == ()


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        calls, said = calls_in(text, TOOLS)
    except AgentError:
        return
    assert calls or said == text


@pytest.mark.parametrize(
    "piece", ['{"a":', "<tool_call>", '[{"a"', "```json\n{", '{"name": "read", "arguments": {', "<think>"]
)
def test_hostile_text_is_read_in_near_linear_time(piece: str) -> None:
    def reading(size: int) -> Callable[[], object]:
        def read() -> None:
            with contextlib.suppress(AgentError):
                calls_in(piece * size, TOOLS)

        return read

    reading(100_000)()
    assert growth(reading, 1_000) < 2.5


def test_a_conversation_without_tools_takes_turns() -> None:
    tools = load_variant("plain").tools
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}
    turns = [
        Turn({"role": "system", "content": "Be good."}),
        Turn({"role": "user", "content": "Go."}),
        Turn({"role": "assistant", "content": "Well.", "tool_calls": [call, call]}, ("m",)),
        Turn({"role": "tool", "name": "read", "tool_call_id": "a", "content": "1"}),
        Turn({"role": "tool", "name": "read", "tool_call_id": "b", "content": "2"}),
        Turn({"role": "user", "content": "Plan?"}),
    ]
    written = text_turns(turns, tools)
    assert [turn.message["role"] for turn in written] == ["system", "user", "assistant", "user"]
    assert written[0].message["content"] == f"Be good.\n\n{tool_prompt(tools)}"
    assert HOW_TO_CALL in written[0].message["content"]
    assert named(str(written[2].message["content"])) == [("read", '{"a": 1}')] * 2
    assert written[2].memory == ("m",)
    last = str(written[3].message["content"])
    assert last == (
        '<tool_response name="read">\n1\n</tool_response>\n\n<tool_response name="read">\n2\n</tool_response>\n\nPlan?'
    )


def test_every_declaration_stands_in_the_prompt_as_json() -> None:
    tools = load_variant("structured").tools
    lines = tool_prompt(tools).splitlines()[1 : 1 + len(tools)]
    assert [json.loads(line) for line in lines] == [tool["function"] for tool in tools]
