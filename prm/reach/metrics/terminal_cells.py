"""Cells and frames that the tables of reports, comparisons and stability share on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from prm.evaluation.table import WIDTH, one_line, percent
from prm.reach.metrics.estimate import Estimate

MAX_NAME = 30


def frame(title: str, first: str, columns: Sequence[str]) -> Table:
    """An empty table with one column of names, which wrap, and columns of numbers."""
    table = Table(title=title, title_justify="left", width=WIDTH, pad_edge=False, box=None, header_style="bold")
    table.add_column(first, overflow="fold", ratio=1)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def name_cell(text: str) -> str:
    """A name out of a log, harmless to the terminal and not too long."""
    line = one_line(text)
    return escape(line if len(line) <= MAX_NAME else line[: MAX_NAME - 1] + "…")


def share_cell(estimate: Estimate) -> str:
    """In percent with one decimal; "–" where undefined."""
    return percent(estimate.value)


def interval_cell(estimate: Estimate) -> str:
    """The same with its 95 % interval."""
    if estimate.ci95 is None:
        return share_cell(estimate)
    return escape(f"{share_cell(estimate)} [{percent(estimate.ci95[0])}, {percent(estimate.ci95[1])}]")
