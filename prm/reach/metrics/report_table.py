"""A report as text for the terminal: findings first, then tables at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from prm.evaluation.table import one_line
from prm.reach.metrics.node_values import NodeReport
from prm.reach.metrics.report_values import ArmReport, Report
from prm.reach.metrics.terminal_cells import frame, interval_cell, name_cell, share_cell

MAX_ARMS = 4
"""Agents × variants with a milestone table of their own on the terminal; the page and the JSON have all."""


def report_tables(report: Report) -> RenderableType:
    """Findings, agents × variants, and the milestones of the first few."""
    parts: list[RenderableType] = [Text(one_line(finding)) for finding in report.findings]
    parts.append(_arms(report))
    parts += [_nodes(arm) for arm in report.arms[:MAX_ARMS]]
    return Group(*parts, *(Text(one_line(note), style="dim") for note in _notes(report)))


def _arms(report: Report) -> Table:
    columns = ["runs", f"Reach@{report.settings.cap} [95 % CI]", "all", "covered", "legal", "success"]
    table = frame("\nAgents × variants (percent, means over scenarios)", "agent / variant", columns)
    for arm in report.arms:
        shares = [share_cell(arm.outcomes[n]) for n in ("all_reached", "covered", "legal_success", "final_success")]
        table.add_row(name_cell(arm.arm.name), str(arm.runs), interval_cell(arm.reach), *shares)
    return table


def _nodes(arm: ArmReport) -> Table:
    columns = ["touched", "reached [95 % CI]", "gap", "given prereq.", "call", "all of k", "flips"]
    table = frame(f"\nMilestones: {name_cell(arm.arm.name)}", "milestone", columns)
    for node in arm.nodes:
        cells = [share_cell(node.touched), interval_cell(node.reached), share_cell(node.gap)]
        given = share_cell(node.reached_given_prerequisites)
        table.add_row(name_cell(node.name), *cells, given, _median(node), _all_of(node), _flips(node))
    return table


def _median(node: NodeReport) -> str:
    quartiles = node.first_reach.quartiles
    return "–" if quartiles is None else f"{quartiles[1]:g}"


def _all_of(node: NodeReport) -> str:
    """All of as many runs as the curve has."""
    point = node.stability.curve[-1]
    return f"{share_cell(point.all_of)} ({point.k})"


def _flips(node: NodeReport) -> str:
    return share_cell(node.stability.flip_rate)


def _notes(report: Report) -> Iterator[str]:
    shown = len(report.arms) - MAX_ARMS
    if shown > 0:
        yield f"The milestones of {shown} more agents × variants are in reach.json."
    yield "all: reaches every required milestone; covered: and hits no minefield;"
    yield "success: ends in the right state; legal: and hits no minefield;"
    yield "gap: touched less reached; given prereq.: of the runs that reach those before it;"
    yield "call: median call of the first reach, of the runs that reach it; all of k: that k runs all reach it."
    for arm in report.arms:
        unknown = {name: share.left_out for name, share in arm.outcomes.items() if share.left_out}
        if unknown:
            told = ", ".join(f"{name} in {runs}" for name, runs in unknown.items())
            yield f"{arm.arm.name}: unknown and left out: {told} of {arm.runs} runs."
