"""The trajectory record of a live run.

It is a trajectory record as any other (messages, tools, question, identity), and its keys beside that are those of the
scripted runs: `template`, and a `reach` object. Of an agent whose labels nobody knows all `step_labels` are null;
`final_label` is the world's own outcome, null where it cannot tell. The id is ``scenario/agent/variant/run``: runs of
several agents and variants may stand in one file. `reach` holds

    scenario, template, run, agent, variant, seed, habit    who ran what; the habit of a scripted agent, else null
    end           final (a last message without calls), cap (its calls were used up) or error
    outcome       right final state by the world itself: 1, -1 or null
    job           digest of everything that fixes the run: agent, variant, task, tools, dirt, cap
    cap           the call cap
    error         {kind, message}, where it ended in one
    unexecuted    the message whose calls were beyond the cap
    plan          "json" where plans were asked for
    model         the agent's settings, without secrets
    started, seconds                                        of the run
    requests      each request of the model: index of its message, purpose, started, seconds, attempts and their
                  errors, usage, finish_reason, the answer verbatim
    calls         each call: id, index of its result, started, seconds, injected (the dirt put into its return)

The last six are of chat models only. Messages of the assistant and the tools carry a `timestamp` (UTC, ISO 8601).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prm.reach.agents.conversation import Planning, RunLog
from prm.reach.agents.task import Task
from prm.reach.desk.variants import Variant
from prm.types import RunIdentity, StepLabel, Trajectory


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run that is to be made.

    Attributes:
        task: What is asked.
        run: Number of the repeat, from 0.
        agent: Its name in the records.
        variant: What it is told.
    """

    task: Task
    run: int
    agent: str
    variant: Variant

    @property
    def id(self) -> str:
        """Unique in a file."""
        return f"{self.task.id}/{self.agent}/{self.variant.name}/{self.run}"


def trajectory_of_log(
    order: RunOrder,
    log: RunLog,
    success: bool | None,
    *,
    dataset: str,
    max_calls: int,
    settings: Mapping[str, Any],
    planning: Planning = "none",
) -> Trajectory:
    """The record of a chat model's run.

    Args:
        order: What was to be made.
        log: What happened.
        success: Whether the world is as the task wants it.
        dataset: Name of the world.
        max_calls: The call cap.
        settings: The model's.
        planning: Whether plans were asked for.
    """
    optional = {"error": log.error, "unexecuted": log.unexecuted, "plan": None if planning == "none" else planning}
    reach = {
        **_who(order),
        "habit": None,
        "end": log.end,
        "outcome": _outcome(success),
        "cap": max_calls,
        **{key: value for key, value in optional.items() if value is not None},
        "model": dict(settings),
        "started": log.started,
        "seconds": log.seconds,
        "requests": log.requests,
        "calls": log.calls,
    }
    steps = [index for index, message in enumerate(log.messages) if message["role"] == "assistant"]
    return Trajectory(
        identity=_identity(order, dataset),
        messages=tuple(log.messages),
        step_labels=dict.fromkeys(steps, None),
        final_label=_outcome(success),
        tools=tuple(order.variant.tools),
        question=order.task.request,
        extra={"template": order.task.template, "reach": reach},
    )


def trajectory_of_scripted(order: RunOrder, made: Trajectory, success: bool, max_calls: int) -> Trajectory:
    """A scripted agent's labelled run with the keys of a live one; its labels stay as they are.

    Args:
        order: What was to be made.
        made: The run as `prm.reach.desk.generate` writes it.
        success: Whether the ticket is in the right state.
        max_calls: The call cap.
    """
    is_final = made.messages[-1]["role"] == "assistant"
    end = {"end": "final" if is_final else "cap", "outcome": _outcome(success), "cap": max_calls}
    reach = {**made.extra["reach"], **_who(order), **end}
    identity = _identity(order, str(made.identity.dataset))
    return replace(made, identity=identity, extra={**made.extra, "reach": reach})


def with_job(trajectory: Trajectory, job: str) -> Trajectory:
    """The trajectory with the digest of what fixed its run."""
    reach = {**trajectory.extra["reach"], "job": job}
    return replace(trajectory, extra={**trajectory.extra, "reach": reach})


def _who(order: RunOrder) -> dict[str, Any]:
    task = order.task
    about = {"scenario": task.id, "template": task.template, "run": order.run, "agent": order.agent}
    return {**about, "variant": order.variant.name, "seed": task.seed}


def _identity(order: RunOrder, dataset: str) -> RunIdentity:
    return RunIdentity(dataset, order.task.id, order.run, id=order.id, dataset=dataset, generator=order.agent)


def _outcome(success: bool | None) -> StepLabel | None:
    return None if success is None else 1 if success else -1
