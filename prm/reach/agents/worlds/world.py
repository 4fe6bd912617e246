"""The world of a job: it opens a fresh environment for each run. Two protocols, and the cap on calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from prm.reach.agents.task import Task
from prm.reach.desk.environment import CallCapReached, Environment


class WorldRun(Environment, Protocol):
    """The environment of one run."""

    def final_success(self) -> bool | None:
        """Whether the world is now as the task wants it; None = the world cannot tell."""

    def close(self) -> None:
        """The run is over; nothing is called any more."""


class World(Protocol):
    """Opens environments."""

    @property
    def name(self) -> str:
        """The data set's name in the records."""

    @property
    def declarations(self) -> tuple[Mapping[str, Any], ...]:
        """OpenAI-style declarations of its tools, with its own descriptions."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the runs depend on besides task and variant, as JSON values."""

    def open(self, task: Task, run: int, max_calls: int) -> WorldRun:
        """A fresh environment: what another run has written is not in it.

        Raises:
            ConfigError: The world cannot be opened at all.
        """


def refuse_beyond_cap(calls: int, left: int) -> None:
    """Raises CallCapReached where a batch of `calls` is more than the calls that are left to the run."""
    if calls > left:
        raise CallCapReached.at("tools", "calls must stay under the cap", calls, f"{left} are left")
