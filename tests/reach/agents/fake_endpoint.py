"""A real HTTP server on this machine that speaks the chat-completions protocol with answers from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.reach.agents.local_server import JsonHandler, listening

Answer = tuple[int, Any] | Callable[[dict[str, Any]], "Answer"]
"""Status and body (an object, or text as it is), or a function of the request that gives one."""

KEY = "sk-test-0123456789"


class FakeEndpoint:
    """Gives its answers in order, the last one again and again.

    Attributes:
        requests: The bodies asked with.
        headers: Sent with every answer.
        released: Set at the end; an answer may wait for it.
    """

    def __init__(self, answers: list[Answer]) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: dict[str, str] = {}
        self.released = threading.Event()
        self.url = ""

    def answer(self, asked: dict[str, Any], key: str | None) -> tuple[int, Any]:
        with self._lock:
            self.requests.append(asked)
            self.keys.append(key)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        while callable(answer):
            answer = answer(asked)
        return answer


@contextmanager
def serving(answers: list[Answer]) -> Iterator[FakeEndpoint]:
    """A running endpoint; its `url` is the base URL."""
    endpoint = FakeEndpoint(answers)

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            asked = self.body()
            assert self.path == "/v1/chat/completions"
            status, body = endpoint.answer(asked, self.headers.get("Authorization"))
            self.send(status, body, {"Content-Type": "application/json", **endpoint.headers})

    with listening(Handler) as address:
        endpoint.url = f"{address}/v1"
        try:
            yield endpoint
        finally:
            endpoint.released.set()


def says(text: str | None, *calls: tuple[str, Any], ids: tuple[str, ...] = (), **more: Any) -> tuple[int, Any]:
    """A completion with text and calls (name, arguments: an object or raw text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text, **more}
    if calls:
        message["tool_calls"] = [
            {
                "id": ids[number] if ids else f"srv_{number}",
                "type": "function",
                "function": {"name": name, "arguments": a if isinstance(a, str) else json.dumps(a)},
            }
            for number, (name, a) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return 200, {"id": "c-1", "object": "chat.completion", "model": "fake-1", "choices": [choice], "usage": usage}


def fails(status: int, message: str = "no") -> tuple[int, Any]:
    """An error as providers send it."""
    return status, {"error": {"message": message, "type": "error"}}
