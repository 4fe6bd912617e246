"""The ticket desk as a world: each run gets a fresh desk, which remembers what was done in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prm.errors import ConfigError
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.desk_outcome import Exchange, final_success
from prm.reach.desk.environment import Call, Envelope, TicketDesk
from prm.reach.desk.generate import DATASET
from prm.reach.desk.scenarios import Scenario
from prm.reach.desk.variants import load_variant


class DeskWorld:
    """Opens a desk for each run; implements `prm.reach.agents.worlds.world.World`.

    The run's number draws the identifiers of drafts and the wording of answers, so that agents and variants meet the
    same ones.
    """

    name = DATASET

    @property
    def declarations(self) -> tuple[Mapping[str, Any], ...]:
        """Those of the variant ``plain``."""
        return load_variant("plain").tools

    @property
    def settings(self) -> Mapping[str, Any]:
        """It has none."""
        return {"world": DATASET}

    def open(self, task: Task, run: int, max_calls: int) -> DeskRun:
        """See `World.open`."""
        if task.scenario is None:
            raise ConfigError.at("--scenarios", "the desk needs scenarios of its own", task.id, "name its templates")
        return DeskRun(task.scenario, run, max_calls)


class DeskRun:
    """The desk in one run.

    Attributes:
        exchanges: Every call that was made, with what it returned.
    """

    def __init__(self, scenario: Scenario, run: int, max_calls: int) -> None:
        self._scenario = scenario
        self._desk = TicketDesk(scenario, run, max_calls)
        self.exchanges: list[Exchange] = []

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools."""
        return self._desk.tools

    @property
    def calls_left(self) -> int:
        """How many calls are still allowed."""
        return self._desk.calls_left

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """See `Environment.execute`."""
        results = self._desk.execute(calls)
        self.exchanges += zip(calls, results, strict=True)
        return results

    def final_success(self) -> bool:
        """Whether the ticket is in the right state; see `desk_outcome`."""
        return final_success(self._scenario, self.exchanges)

    def close(self) -> None:
        """Nothing is held open."""
