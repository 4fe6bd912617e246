"""What makes one run of an agent: a chat model in a world, or a scripted agent at the ticket desk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from prm.errors import ConfigError
from prm.reach.agents.chat import ChatModel
from prm.reach.agents.conversation import Conversation, Limits, Planning, RunLog
from prm.reach.agents.deadline import now
from prm.reach.agents.record import RunOrder, trajectory_of_log, trajectory_of_scripted
from prm.reach.agents.worlds.desk_outcome import Exchange, final_success
from prm.reach.agents.worlds.world import World, WorldRun
from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.generate import AGENTS, LATE_AGENTS, run_agent
from prm.types import Trajectory

_OWN_FAULTS = ("garbage", "context")
"""Failures that are the agent's."""


class Runner(Protocol):
    """Makes runs of one agent; asked by several threads at once."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What fixes its runs besides task and variant, as JSON values."""

    def run(self, order: RunOrder) -> Trajectory:
        """One run; whatever breaks in it stands in the record.

        Raises:
            ConfigError: No run can be made at all.
        """


class ChatRunner:
    """A chat model in a world.

    Args:
        model: Answers.
        world: Opens an environment for each run.
        limits: What a run may use.
        planning: Whether plans are asked for.
        seed: With task and repeat, fixes the model's draws; the same for all variants.
    """

    def __init__(
        self, model: ChatModel, world: World, limits: Limits, planning: Planning = "none", seed: int = 0
    ) -> None:
        self._model, self._world, self._limits = model, world, limits
        self._planning, self._seed = planning, seed

    @property
    def settings(self) -> Mapping[str, Any]:
        """Model, world, cap and planning; time limits are none: they may be raised when going on."""
        about = {"cap": self._limits.max_calls, "plan": self._planning, "model_seed": self._seed}
        return {**about, "model": dict(self._model.settings), "world": dict(self._world.settings)}

    def run(self, order: RunOrder) -> Trajectory:
        """See `Runner.run`."""
        log, success = self._converse(order)
        return trajectory_of_log(
            order,
            log,
            success,
            dataset=self._world.name,
            max_calls=self._limits.max_calls,
            settings=self._model.settings,
            planning=self._planning,
        )

    def _converse(self, order: RunOrder) -> tuple[RunLog, bool | None]:
        try:
            environment = self._world.open(order.task, order.run, self._limits.max_calls)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 (one's own tools)
            return _never_begun(order, error), None
        seed = self._seed * 1_000_003 + order.run * 1_009 + sum(order.task.id.encode())
        conversation = Conversation(self._model, environment, order.variant, self._limits, self._planning, seed)
        log = conversation.run(order.task.request)
        return log, _closed(environment, log)


def _never_begun(order: RunOrder, error: Exception) -> RunLog:
    messages = [{"role": "system", "content": order.variant.system}, {"role": "user", "content": order.task.request}]
    return RunLog(messages=messages, started=now(), error=_environment_error(error))


def _closed(environment: WorldRun, log: RunLog) -> bool | None:
    """Asks the world how it stands and closes it; a world that fails there is noted, where nothing else was."""
    try:
        success = environment.final_success()
        environment.close()
    except Exception as error:  # noqa: BLE001 (one's own tools)
        log.end, log.error = "error", log.error or _environment_error(error)
        return None
    # A run that others broke off says nothing of the agent.
    outside = log.error is not None and log.error["kind"] not in _OWN_FAULTS
    return None if outside and not success else success


def _environment_error(error: Exception) -> dict[str, str]:
    return {"kind": "environment", "message": f"{type(error).__name__}: {error}"}


class ScriptedRunner:
    """A scripted agent at the ticket desk, whose labels are known.

    Args:
        name: One of `prm.reach.desk.generate.AGENTS` or `LATE_AGENTS`.
        max_calls: The call cap.

    Raises:
        ConfigError: There is no such agent.
    """

    def __init__(self, name: str, max_calls: int) -> None:
        if name not in (*AGENTS, *LATE_AGENTS):
            raise ConfigError.at("--agent", f"must be one of {', '.join(AGENTS)}", name, "name a scripted agent")
        self._name, self._max_calls = name, max_calls

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its name and the cap."""
        return {"scripted": self._name, "cap": self._max_calls}

    def run(self, order: RunOrder) -> Trajectory:
        """See `Runner.run`."""
        scenario = order.task.scenario
        if scenario is None:
            raise ConfigError.at("--agent", "scripted agents work the ticket desk alone", self._name, "name another")
        made = run_agent(self._name, scenario, order.variant, order.run, max_calls=self._max_calls)
        return trajectory_of_scripted(order, made, final_success(scenario, _exchanges(made)), self._max_calls)


def _exchanges(run: Trajectory) -> list[Exchange]:
    """Calls and returns of a scripted run, read back from its messages."""
    calls = {
        call["id"]: Call(call["function"]["name"], json.loads(call["function"]["arguments"]))
        for step in run.steps
        for call in step.message.get("tool_calls", ())
    }
    return [
        (calls[message["tool_call_id"]], _envelope(json.loads(message["content"])))
        for message in run.messages
        if message["role"] == "tool"
    ]


def _envelope(shown: Mapping[str, Any]) -> Envelope:
    """An envelope as the ticket desk shows it, bare or marked; what it does not show does not matter here."""
    return Envelope(shown["status"], "complete", bool(shown.get("is_truncated")), shown["record"])
