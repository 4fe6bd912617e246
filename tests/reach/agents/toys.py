"""Small real agents and worlds for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prm.reach.agents.chat import ChatRequest, Reply, RequestedCall
from prm.reach.agents.conversation import Conversation, Limits, Planning, RunLog
from prm.reach.agents.task import Task, desk_tasks
from prm.reach.agents.worlds.desk import DeskWorld
from prm.reach.agents.worlds.world import World
from prm.reach.desk.variants import Variant, load_variant


class Scripted:
    """A chat model with answers from a list, or from a function of the request; the last one is given again."""

    settings: Mapping[str, Any] = {"model": "scripted"}

    def __init__(self, *replies: Reply | Exception | Callable[[ChatRequest], Reply]) -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []

    def answer(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else reply(request)


def call(tool: str, arguments: str = "{}", call_id: str | None = None) -> RequestedCall:
    return RequestedCall(call_id, tool, arguments)


def desk_task(template: str = "ship_simple", seed: int = 0) -> Task:
    return desk_tasks(template, [seed])[0]


def converse(
    model: Any,
    world: World | None = None,
    *,
    task: Task | None = None,
    variant: Variant | None = None,
    limits: Limits | None = None,
    planning: Planning = "none",
) -> RunLog:
    """One run at the ticket desk, or in another world."""
    world, task, limits = world or DeskWorld(), task or desk_task(), limits or Limits()
    environment = world.open(task, 0, limits.max_calls)
    return Conversation(model, environment, variant or load_variant("plain"), limits, planning).run(task.request)
