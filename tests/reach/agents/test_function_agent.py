"""One's own function as an agent."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from prm.reach.agents.chat import AgentError, ChatRequest, Turn
from prm.reach.agents.function_agent import FunctionAgent, reply_of_message

ASKED = ChatRequest((Turn({"role": "user", "content": "u"}),), ({"function": {"name": "f"}},))


def test_text_is_the_answer() -> None:
    assert FunctionAgent(lambda messages, tools: "Done.", "f").answer(ASKED).text == "Done."


def test_it_is_given_messages_and_tools_and_may_call() -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        name = tools[0]["function"]["name"]
        return {
            "content": None,
            "tool_calls": [{"function": {"name": name, "arguments": {"said": messages[0]["content"]}}}],
        }

    reply = FunctionAgent(agent, "f").answer(ASKED)
    assert reply.text == ""
    assert json.loads(reply.calls[0].arguments) == {"said": "u"}


def test_what_it_does_to_its_arguments_stays_with_it() -> None:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        messages[0]["content"] = "changed"
        messages.clear()
        return "x"

    FunctionAgent(agent, "f").answer(ASKED)
    assert ASKED.turns[0].message["content"] == "u"


def test_one_that_hangs_is_given_up() -> None:
    never = threading.Event()
    agent = FunctionAgent(lambda messages, tools: str(never.wait(30)), "f")
    with pytest.raises(AgentError) as caught:
        agent.answer(ChatRequest(ASKED.turns, (), timeout_seconds=0.05))
    assert caught.value.kind == "timeout"
    never.set()


@pytest.mark.parametrize(
    "said", [None, 3, [], {"content": 3}, {"content": [{}]}, {"tool_calls": {}}, {"tool_calls": [3]}]
)
def test_another_answer_is_garbage(said: Any) -> None:
    with pytest.raises(AgentError) as caught:
        reply_of_message(said)
    assert caught.value.kind == "garbage"
