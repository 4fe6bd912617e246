"""Stability as tables for the terminal, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from prm.reach.metrics.node_values import Stability
from prm.reach.metrics.outcome_stability import ArmStability, StabilityFile
from prm.reach.metrics.terminal_cells import frame, interval_cell, name_cell
from prm.reach.metrics.words import counted

MAX_K = 8
"""Rows of one curve; the JSON has all."""


def stability_tables(found: StabilityFile) -> RenderableType:
    """For each agent × variant: all of k, any of k and the flip rate, and how many scenarios are how stable."""
    parts: list[RenderableType] = []
    for arm in found.arms:
        parts.append(_curves(arm))
        if _has_repeats(arm):
            parts.append(_abilities(arm))
        parts += [Text(note, style="dim") for note in _notes(arm)]
    return Group(*parts)


def _has_repeats(arm: ArmStability) -> bool:
    return any(max(told.repeats, default=0) > 1 for told in _all(arm).values())


def _title(arm: ArmStability) -> str:
    clusters = f" of {counted(arm.templates, 'template')}" if arm.templates < arm.scenarios else ""
    runs = f"{counted(arm.runs, 'run')} of {counted(arm.scenarios, 'scenario')}{clusters}"
    return f"{name_cell(arm.arm.name)}: {runs} (percent)"


def _curves(arm: ArmStability) -> Table:
    table = frame(_title(arm), "what", ["k", "all of k [95 % CI]", "any of k [95 % CI]", "scenarios"])
    for name, told in arm.outcomes.items():
        for point in told.curve[:MAX_K]:
            first = name_cell(name) if point.k == 1 else ""
            cells = [interval_cell(point.all_of), interval_cell(point.any_of), str(point.all_of.scenarios)]
            table.add_row(first, str(point.k), *cells)
    return table


def _abilities(arm: ArmStability) -> Table:
    columns = ["flip rate [95 % CI]", "stable", "unstable", "undetermined", "bottleneck"]
    table = frame("\nScenarios by how sure their runs are", "what", columns)
    for name, told in _all(arm).items():
        kinds = [str(told.abilities[kind]) for kind in ("stable", "unstable", "undetermined", "bottleneck")]
        table.add_row(name_cell(name), interval_cell(told.flip_rate), *kinds)
    return table


def _all(arm: ArmStability) -> Mapping[str, Stability]:
    return {**arm.outcomes, **arm.milestones}


def _notes(arm: ArmStability) -> Iterator[str]:
    for name, told in arm.outcomes.items():
        left_out = told.curve[0].all_of.left_out
        if left_out:
            yield f"{name}: unknown in {left_out} runs, which are left out."
        if len(told.repeats) > 1:
            counts = ", ".join(f"{scenarios} with {runs}" for runs, scenarios in told.repeats.items())
            yield f"{name}: scenarios have unequal numbers of runs ({counts}); fewer than k are no part of k."
        if max(told.repeats, default=0) < 2 and _has_repeats(arm):
            yield f"{name}: no scenario was run twice by the same agent; nothing can be said of stability."
    if not _has_repeats(arm):
        yield "no scenario was run twice by the same agent; nothing can be said of stability."
