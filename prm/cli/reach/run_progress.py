"""What ``prm reach run`` shows: a bar while runs are made, and a table of how they ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SHOWN_ERRORS = 3


class Summary:
    """How the runs ended, as they come in.

    Args:
        advance: Called for each run with the number of runs so far that broke off.
    """

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._rows: dict[tuple[str, str], dict[str, int]] = {}
        self._errors: dict[str, int] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Takes in the record of a run."""
        reach = record["reach"]
        row = self._rows.setdefault((reach["agent"], reach["variant"]), {})
        for name in ("runs", str(reach["end"]), f"outcome {reach['outcome']}"):
            row[name] = row.get(name, 0) + 1
        row["calls"] = row.get("calls", 0) + sum(len(m.get("tool_calls") or ()) for m in record["messages"])
        if reach.get("error"):
            shown = f"{reach['error']['kind']}: {reach['error']['message']}"
            self._errors[shown] = self._errors.get(shown, 0) + 1
        self._advance(sum(row.get("error", 0) for row in self._rows.values()))

    def all_broke_off(self) -> bool:
        """Whether no run came to an end of its own."""
        return all(row.get("error") == row["runs"] for row in self._rows.values())

    def show(self, out: Path) -> None:
        """Prints the table, the most frequent errors, and where the runs are."""
        from rich.markup import escape
        from rich.table import Table

        from prm.cli.terminal import show
        from prm.evaluation.table import one_line

        table = Table(title=f"{sum(row['runs'] for row in self._rows.values())} runs")
        for column in ("agent", "variant", "runs", "right final state", "calls a run", "final", "cap", "error"):
            table.add_column(column, justify="left" if column in ("agent", "variant") else "right")
        for (agent, variant), row in self._rows.items():
            told = row.get("outcome 1", 0) + row.get("outcome -1", 0)
            right = f"{row.get('outcome 1', 0)} of {told}" if told else "not told"
            ends = [str(row.get(end, 0)) for end in ("final", "cap", "error")]
            names = (escape(one_line(name)) for name in (agent, variant))
            table.add_row(*names, str(row["runs"]), right, f"{row['calls'] / row['runs']:.1f}", *ends)
        errors = sorted(self._errors.items(), key=lambda item: -item[1])
        lines = [f"  {count} x {one_line(error)}" for error, count in errors[:_SHOWN_ERRORS]]
        lines += ["  (the same command makes them again)"] if errors else []
        show(table, [*lines, f"Written to {out}"])


@contextmanager
def run_progress(total: int) -> Iterator[Summary]:
    """A bar for `total` runs on stderr, which nothing of stays; yields what takes the runs in."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("running"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[errors]} errors"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("running", total=total, errors=0)
        yield Summary(lambda errors: progress.update(task, advance=1, errors=errors))
