"""Comparisons as text for the terminal: findings first, then a table at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from prm.evaluation.table import one_line, percent
from prm.reach.metrics.comparison_values import Comparison, ComparisonFile, PairedDifference
from prm.reach.metrics.terminal_cells import frame, name_cell
from prm.reach.metrics.words import counted, p_words

MAX_SHOWN = 5
"""Comparisons with a table of their own; the JSON has all."""


def comparison_tables(found: ComparisonFile) -> RenderableType:
    """Of each comparison what to read first, and what moved."""
    parts: list[RenderableType] = []
    for comparison in found.comparisons[:MAX_SHOWN]:
        parts.append(Text(f"{one_line(comparison.new.name)} against {one_line(comparison.old.name)}", style="bold"))
        parts += [Text(one_line(finding)) for finding in comparison.findings]
        parts.append(_table(comparison))
    return Group(*parts, *(Text(note, style="dim") for note in _notes(found)))


def _table(comparison: Comparison) -> Table:
    columns = ["old", "new", "difference [95 % CI]", "p", "p (Holm)", "test"]
    table = frame(f"\n{counted(comparison.scenarios, 'scenario')}, paired (percent)", "what", columns)
    for metric, difference in comparison.metrics.items():
        table.add_row(name_cell(metric), *_cells(difference))
    for change in comparison.milestones:
        for name, difference in (("touched", change.touched), ("reached", change.reached), ("holds", change.held)):
            if _differs(difference):
                style = "" if name == "touched" else _style(difference)
                table.add_row(name_cell(f"{change.name} {name}"), *_cells(difference), style=style)
    return table


def _differs(difference: PairedDifference) -> bool:
    """Whether the sides are apart at all; rows of nothing but zeros hide the others."""
    return difference.difference != 0 or any(difference.ci95 or ())


def _style(difference: PairedDifference) -> str:
    return "bold" if difference.verdict in ("better", "worse") else ""


def _cells(difference: PairedDifference) -> list[str]:
    if difference.difference is None:
        return ["–"] * 6
    interval = ""
    if difference.ci95 is not None:
        interval = f" [{100 * difference.ci95[0]:+.1f}, {100 * difference.ci95[1]:+.1f}]"
    p_values = [
        "–" if value is None else p_words(value).removeprefix("p ").removeprefix("= ")
        for value in (difference.p_value, difference.p_holm)
    ]
    moved = escape(f"{100 * difference.difference:+.1f}{interval}")
    return [percent(difference.old), percent(difference.new), moved, *p_values, difference.test or "–"]


def _notes(found: ComparisonFile) -> Iterator[str]:
    if len(found.comparisons) > MAX_SHOWN:
        yield f"{len(found.comparisons) - MAX_SHOWN} more comparisons are in the JSON (--json)."
    for side, arms in (("OLD", found.unmatched_old), ("NEW", found.unmatched_new)):
        if arms:
            yield f"only in {side}, not compared: {', '.join(one_line(arm.name) for arm in arms)}."
    yield "Milestones without any difference are left out; the JSON has them."
    yield "holds: share of runs whose chain does not break at the milestone: where a change comes from."
    yield "Holm: metrics over the comparisons that differ in the same, milestones over the milestones."
