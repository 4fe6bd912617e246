"""Labelled runs of scripted agents on the ticket desk: the built-in data set.

Labels are known by construction: the agent that breaks something knows that it did.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from prm.errors import ConfigError
from prm.reach.desk.environment import DEFAULT_MAX_CALLS, TicketDesk
from prm.reach.desk.habits import HABITS
from prm.reach.desk.late_habits import LATE_HABITS
from prm.reach.desk.policies import CarefulWalk
from prm.reach.desk.scenarios import LATE_TEMPLATES, TEMPLATES, Scenario, build_scenario, draw_template
from prm.reach.desk.ticket_data import ticket_data
from prm.reach.desk.transcript import Transcript
from prm.reach.desk.variants import VARIANTS, Variant, load_variant
from prm.types import RunIdentity, Trajectory

DATASET = "ticket_desk"
DEFAULT_REPEATS = 4
MIXED = ("plain", "structured")
"""The variants that ``mixed`` alternates between, by scenario."""

AGENTS: tuple[str, ...] = tuple(name for name, spec in ticket_data("agents").items() if not spec.get("late"))
"""The names of the scripted agents."""

LATE_AGENTS: tuple[str, ...] = tuple(name for name, spec in ticket_data("agents").items() if spec.get("late"))
"""Those that run only where they are named; see `late_habits`."""

_EVERY_HABIT = {**HABITS, **LATE_HABITS}

Fires: TypeAlias = Mapping[str, Mapping[str, float]]
"""Agent → variant → how often its habit shows there; what is absent is as often as ``ticket/agents.yaml`` says."""

WEAKENED: Fires = {name: spec.get("weakened", {}) for name, spec in ticket_data("agents").items()}
"""Agents that heed what a variant says of their habit; runs are drawn like this only where it is asked for."""


def generate_runs(
    runs: int,
    seed: int = 0,
    *,
    variant: str = "plain",
    repeats: int = DEFAULT_REPEATS,
    agents: Sequence[str] = AGENTS,
    templates: Sequence[str] = TEMPLATES,
    max_calls: int = DEFAULT_MAX_CALLS,
    fires: Fires | None = None,
) -> Iterator[Trajectory]:
    """Yields `runs` labelled trajectories; the same arguments give the same ones, and more runs only append.

    Args:
        runs: How many.
        seed: Draws scenarios, agents and texts.
        variant: One of `VARIANTS`, or "mixed".
        repeats: Runs of one scenario, by different agents as far as there are enough.
        agents: Scripted agents to draw from; `LATE_AGENTS` may be named too.
        templates: Scenario templates to draw from; `LATE_TEMPLATES` may be named too.
        max_calls: Tool-call cap of a run.
        fires: How often habits show under a variant, such as `WEAKENED`; None = as often under all.

    Raises:
        ConfigError: An argument is out of range or names nothing that exists.
    """
    _check_numbers(runs, repeats, max_calls)
    _check_names("agents", agents, (*AGENTS, *LATE_AGENTS))
    _check_names("templates", templates, (*TEMPLATES, *LATE_TEMPLATES))
    variants = [load_variant(name) for name in (MIXED if variant == "mixed" else (variant,))]
    run_one = partial(run_agent, max_calls=max_calls, fires=fires)
    return _draw_runs(runs, seed, variants, repeats, tuple(agents), tuple(templates), run_one)


def _draw_runs(
    runs: int,
    seed: int,
    variants: Sequence[Variant],
    repeats: int,
    agents: tuple[str, ...],
    templates: tuple[str, ...],
    run_one: Callable[[str, Scenario, Variant, int], Trajectory],
) -> Iterator[Trajectory]:
    for number in range(-(-runs // repeats)):
        rng = random.Random(f"query/{seed}/{number}")
        scenario = build_scenario(draw_template(rng, templates), seed * 1_000_000 + number)
        variant = variants[number % len(variants)]
        chosen = draw_agents(rng, repeats, scenario, agents)
        for run in range(min(repeats, runs - number * repeats)):
            yield run_one(chosen[run], scenario, variant, run)


def draw_agents(rng: random.Random, count: int, scenario: Scenario, agents: tuple[str, ...] = AGENTS) -> list[str]:
    """`count` agents for a scenario; none comes twice before all have come once.

    Weights are those of ``ticket/agents.yaml``, times how well the scenario suits the agent's habits: one
    whose habit cannot show is drawn rarely, and its run is a clean one.
    """
    drawn: list[str] = []
    left: list[str] = []
    for _ in range(count):
        left = left or list(agents)
        weights = [_agent_weight(agent, scenario) for agent in left]
        drawn.append(left.pop(rng.choices(range(len(left)), weights)[0]))
    return drawn


def _agent_weight(agent: str, scenario: Scenario) -> float:
    spec = ticket_data("agents")[agent]
    suits = [_EVERY_HABIT[name].relevance(scenario) for name in spec["habits"]]
    return float(spec["weight"]) * min(2.0, max(suits, default=1.0) or 0.15)


def run_agent(
    agent: str,
    scenario: Scenario,
    variant: Variant,
    run: int,
    *,
    max_calls: int = DEFAULT_MAX_CALLS,
    fires: Fires | None = None,
) -> Trajectory:
    """One run of `agent` on `scenario`; its habit shows as often as `fires`, else ``ticket/agents.yaml``, says."""
    rng = random.Random(f"run/{scenario.id}/{agent}/{run}")
    often = (fires or {}).get(agent, {}).get(variant.name)
    habit = draw_habit(agent, scenario, rng, often)
    return run_habit(habit, scenario, variant, run, agent=agent, max_calls=max_calls)


def draw_habit(agent: str, scenario: Scenario, rng: random.Random, fires: float | None = None) -> str | None:
    """The habit that shows in this run, or None for a clean one; `fires`: how often it does, None = as usual."""
    spec = ticket_data("agents")[agent]
    often = spec["fires"] if fires is None else fires
    weights: dict[str, float] = {
        name: weight * _EVERY_HABIT[name].relevance(scenario) for name, weight in spec["habits"].items()
    }
    if rng.random() >= often or not any(weights.values()):
        return None
    return rng.choices(list(weights), list(weights.values()))[0]


def run_habit(
    habit: str | None,
    scenario: Scenario,
    variant: Variant,
    run: int,
    *,
    agent: str = "careful",
    max_calls: int = DEFAULT_MAX_CALLS,
) -> Trajectory:
    """One run in which `habit` shows (None: a clean run), as a trajectory with its labels."""
    rng = random.Random(f"walk/{scenario.id}/{agent}/{run}/{habit}")
    desk = TicketDesk(scenario, rng.randrange(1 << 30), max_calls)
    transcript = Transcript(desk, variant, scenario.request, rng)
    walk = (CarefulWalk if habit is None else _EVERY_HABIT[habit])(transcript, scenario, rng)
    outcome = walk.run()
    about = {
        "scenario": scenario.id,
        "run": run,
        "agent": agent,
        "variant": variant.name,
        "seed": scenario.seed,
    }
    return Trajectory(
        identity=RunIdentity(
            data_source=DATASET, query_index=scenario.id, sample_index=run, dataset=DATASET, generator=agent
        ),
        messages=tuple(transcript.messages),
        step_labels=transcript.labels,
        final_label=outcome,
        tools=variant.tools,
        question=scenario.request,
        protocol="error_propagation",
        label_source="rule",
        label_notes={str(index): note for index, note in transcript.notes.items()},
        extra={
            "template": scenario.template,
            "reach": {**about, "template": scenario.template, "habit": habit},
        },
    )


def _check_numbers(runs: int, repeats: int, max_calls: int) -> None:
    for name, value in (("runs", runs), ("repeats", repeats), ("max_calls", max_calls)):
        if value < 1:
            raise ConfigError.at(name, "must be at least 1", value, "give a larger number")


def _check_names(where: str, given: Sequence[str], known: Sequence[str]) -> None:
    if not given:
        raise ConfigError.at(where, "must name at least one", list(given), f"choose from {', '.join(known)}")
    for name in given:
        if name not in known:
            raise ConfigError.at(where, f"must be among {', '.join(known)}", name, "fix the name")


__all__ = [
    "AGENTS",
    "DATASET",
    "LATE_AGENTS",
    "LATE_TEMPLATES",
    "TEMPLATES",
    "VARIANTS",
    "WEAKENED",
    "draw_agents",
    "draw_habit",
    "generate_runs",
    "run_agent",
]
