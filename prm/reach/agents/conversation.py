"""One run: a chat model works a task with the tools of an environment until it answers, breaks, or has used its calls.

Everything is written down as it happens; see `RunLog`, and `prm.reach.agents.record` for what a record holds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from prm.errors import ConfigError
from prm.reach.agents.chat import AgentError, ChatModel, ChatRequest, Reply, RequestedCall, Turn
from prm.reach.agents.deadline import now
from prm.reach.agents.plan import ACT, ASK, plan_text, stated_plan
from prm.reach.agents.worlds.envelopes import failed
from prm.reach.agents.worlds.world import WorldRun
from prm.reach.desk.environment import DEFAULT_MAX_CALLS, Call, Envelope
from prm.reach.desk.variants import Variant
from prm.reach.log.json_text import object_in

Planning = Literal["none", "json"]
"""``json``: a plan is asked for before every batch of calls."""

End = Literal["final", "cap", "error"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use.

    Attributes:
        max_calls: Tool calls; a batch beyond them ends the run and is not made.
        request_seconds: For one attempt of one request.
        run_seconds: For the whole run.
    """

    max_calls: int = DEFAULT_MAX_CALLS
    request_seconds: float = 120.0
    run_seconds: float = 900.0

    def __post_init__(self) -> None:
        for option, value in (
            ("--cap", self.max_calls),
            ("--request-timeout", self.request_seconds),
            ("--run-timeout", self.run_seconds),
        ):
            if not value > 0:
                raise ConfigError.at(option, "must be more than 0", value, "raise it")


@dataclass(slots=True)
class RunLog:
    """What happened.

    Attributes:
        messages: OpenAI-style; those of the assistant and the tools with a `timestamp`.
        requests: One for each request of the model: the index of the message it gave (None = none), the purpose,
            started, seconds, and what the model tells of it (attempts, usage, finish_reason, the answer verbatim …).
        calls: One for each call: id, index of its result, started, seconds, and what was injected into it.
        end: final, cap or error.
        error: Where it is an error: its kind (see `prm.reach.agents.chat.FailureKind`) and text.
        unexecuted: The message whose calls were beyond the cap.
        started, seconds: Of the run.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    end: End = "error"
    error: dict[str, str] | None = None
    unexecuted: dict[str, Any] | None = None
    started: str = ""
    seconds: float = 0.0


class Conversation:
    """One run under way.

    Args:
        model: Answers.
        environment: Where its calls are made.
        variant: System prompt, tool descriptions and envelope.
        limits: What it may use.
        planning: Whether plans are asked for.
        seed: Fixes the model's draws, where it can.
    """

    def __init__(
        self,
        model: ChatModel,
        environment: WorldRun,
        variant: Variant,
        limits: Limits,
        planning: Planning = "none",
        seed: int = 0,
    ) -> None:
        self._model, self._environment, self._variant = model, environment, variant
        self._limits, self._planning, self._seed = limits, planning, seed
        self._deadline = time.monotonic() + limits.run_seconds
        self._turns: list[Turn] = []
        self._ids: set[str] = set()
        self.log = RunLog(started=now())

    def run(self, request: str) -> RunLog:
        """Works the user's request to its end; only a `ConfigError` is raised."""
        start = time.monotonic()
        self._hear({"role": "system", "content": self._variant.system})
        self._hear({"role": "user", "content": request})
        try:
            self.log.end = self._work()
        except AgentError as error:
            self.log.error = {"kind": error.kind, "message": str(error)}
        self.log.seconds = round(time.monotonic() - start, 3)
        return self.log

    def _work(self) -> End:
        while True:
            plan = self._ask_plan() if self._planning == "json" else None
            reply = self._ask("act", [] if plan is None else [*plan, _user(ACT)])
            if not reply.calls:
                self._say(reply, None, [])
                return "final"
            calls = [self._recorded(call, number) for number, call in enumerate(reply.calls)]
            if len(self.log.calls) + len(calls) > self._limits.max_calls:
                self.log.requests[-1]["index"] = None
                self.log.unexecuted = {"role": "assistant", "content": reply.text, "tool_calls": calls}
                return "cap"
            self._say(reply, plan, calls)
            for call in calls:
                self._execute(call)

    # The model

    def _ask_plan(self) -> list[Turn]:
        """The question for a plan and its answer, as turns; the second holds no text where no plan was stated."""
        reply = self._ask("plan", [_user(ASK)])
        plan = stated_plan(reply.text)
        self.log.requests[-1] |= {"index": None, "plan": plan, "text": reply.text}
        text = "" if plan is None else plan_text(plan)
        return [_user(ASK), Turn({"role": "assistant", "content": text or reply.text}, (reply.memory,))]

    def _ask(self, purpose: Literal["act", "plan"], asides: Sequence[Turn]) -> Reply:
        """One request, written down whatever becomes of it."""
        record: dict[str, Any] = {"index": len(self.log.messages), "purpose": purpose, "started": now()}
        self.log.requests.append(record)
        start = time.monotonic()
        request = ChatRequest(
            turns=(*self._turns, *asides),
            tools=self._variant.tools,
            purpose=purpose,
            timeout_seconds=min(self._limits.request_seconds, self._deadline - start),
            deadline=self._deadline,
            seed=self._seed + len(self.log.requests),
        )
        try:
            reply = self._answer(request)
            record |= dict(reply.about)
            return reply
        except AgentError as error:
            record |= {**error.about, "index": None, "error": str(error)}
            raise
        finally:
            record["seconds"] = round(time.monotonic() - start, 3)

    def _answer(self, request: ChatRequest) -> Reply:
        if request.timeout_seconds <= 0:
            raise AgentError("timeout", f"the run took longer than {self._limits.run_seconds:g} s")
        try:
            return self._model.answer(request)
        except (AgentError, ConfigError):
            raise
        except Exception as error:
            raise AgentError("exception", f"{type(error).__name__}: {error}") from error

    # The record and the model's view of it

    def _hear(self, message: dict[str, Any]) -> None:
        self.log.messages.append(message)
        self._turns.append(Turn(message))

    def _say(self, reply: Reply, plan: Sequence[Turn] | None, calls: list[dict[str, Any]]) -> None:
        """The assistant's message: its plan where it stated one, its text, its calls."""
        stated = stated_plan(str(plan[1].message["content"])) if plan else None
        text = reply.text if stated is None else "\n".join(filter(None, (plan_text(stated), reply.text)))
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = calls
        memory = (*(plan[1].memory if plan and stated is not None else ()), reply.memory)
        self._turns.append(Turn(message, memory))
        self.log.messages.append({**message, "timestamp": now()})

    def _recorded(self, call: RequestedCall, number: int) -> dict[str, Any]:
        """A call as it is recorded, with an id that no other call of the run has."""
        call_id = call.id
        if call_id is None or call_id in self._ids:
            call_id = f"call_{len(self.log.calls) + number + 1}"
            while call_id in self._ids:
                call_id += "_"
        self._ids.add(call_id)
        return {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}

    # The environment

    def _execute(self, call: dict[str, Any]) -> None:
        """Makes one call and writes its result down."""
        name, started, start = call["function"]["name"], now(), time.monotonic()
        envelope, injected = self._returned(name, call["function"]["arguments"])
        record = {"id": call["id"], "index": len(self.log.messages), "started": started}
        record["seconds"] = round(time.monotonic() - start, 3)
        self.log.calls.append({**record, "injected": injected} if injected else record)
        content = json.dumps(envelope.shown(self._variant), ensure_ascii=False, separators=(",", ":"))
        message = {"role": "tool", "tool_call_id": call["id"], "name": name, "content": content}
        self._turns.append(Turn(message))
        self.log.messages.append({**message, "timestamp": now()})

    def _returned(self, name: str, arguments: str) -> tuple[Envelope, list[str]]:
        """What a call returns, and the dirt that was put into it."""
        parsed = object_in(arguments)
        if parsed is None:
            return failed("invalid", "arguments must be a JSON object"), []
        try:
            (envelope,) = self._environment.execute([Call(name, parsed)])
        except Exception as error:
            raise AgentError("environment", f"{name}: {type(error).__name__}: {error}") from error
        return envelope, list(getattr(self._environment, "last_injected", ()))


def _user(text: str) -> Turn:
    return Turn({"role": "user", "content": text})
