"""One's own agent: any Python function that is given the conversation and answers with its next message.

    def agent(messages: list[dict], tools: list[dict]) -> str | dict

Text ends the run. A message ``{"content": …, "tool_calls": [{"function": {"name": …, "arguments": …}}]}`` makes calls;
arguments may be an object or its JSON text. With ``--plan json`` the last message then asks for a plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from prm.data.own_code import code_digest, load_object
from prm.errors import ConfigError
from prm.reach.agents.chat import AgentError, ChatRequest, Reply, RequestedCall
from prm.reach.agents.deadline import within

AgentFunction = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Any]


class FunctionAgent:
    """A `prm.reach.agents.chat.ChatModel` made of a function.

    Args:
        function: See above; several threads may call it at once.
        name: What it is called in the records' settings.
    """

    def __init__(self, function: AgentFunction, name: str) -> None:
        self._function, self._name = function, name

    @classmethod
    def load(cls, name: str) -> FunctionAgent:
        """The agent of ``module:function``.

        Raises:
            ConfigError: There is no such function.
        """
        function = load_object("--agent", name)
        if not callable(function):
            raise ConfigError.at("--agent", "must be a function of messages and tools", name, "name a function")
        return cls(function, name)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its name, and a digest of its module."""
        return {"function": self._name, "code": code_digest(self._function)}

    def answer(self, request: ChatRequest) -> Reply:
        """See `ChatModel.answer`."""
        messages = [dict(turn.message) for turn in request.turns]
        tools = [dict(tool) for tool in request.tools] if request.purpose == "act" else []
        try:
            said = within(request.timeout_seconds, lambda: self._function(messages, tools))
        except TimeoutError as error:
            raise AgentError("timeout", str(error)) from None
        return reply_of_message(said)


def reply_of_message(said: Any) -> Reply:
    """The reply of a chat message (or plain text), whoever wrote it.

    Raises:
        AgentError: It is neither, or a call in it names no tool.
    """
    message = {"content": said} if isinstance(said, str) else said
    if not isinstance(message, Mapping):
        raise AgentError("garbage", f"an answer must be text or a message, got {_shown(said)}")
    content, calls = message.get("content"), message.get("tool_calls")
    if not (content is None or isinstance(content, str)) or not (calls is None or isinstance(calls, list | tuple)):
        raise AgentError("garbage", f"a message must hold text and a list of calls, got {_shown(said)}")
    return Reply(content or "", tuple(map(requested_call, calls or ())))


def requested_call(call: Any) -> RequestedCall:
    """The call of one entry of ``tool_calls``.

    Raises:
        AgentError: It names no tool.
    """
    function = call.get("function") if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str) or not name:
        raise AgentError("garbage", f"a tool call that names no tool: {_shown(call)}")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False, default=str)
    call_id = call.get("id")
    return RequestedCall(call_id if isinstance(call_id, str) and call_id else None, name, arguments.strip() or "{}")


def _shown(value: Any) -> str:
    return repr(value)[:200]
