"""Tables as files: CSV with raw values for programs, Markdown with formatted ones for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from prm.report.cells import cell_text, unit
from prm.report.elements import Cell, Column, Estimate, Table


def csv_text(table: Table) -> str:
    """The table as CSV (RFC 4180, lines end in CRLF).

    A column that holds any estimate becomes three: ``title``, ``title low`` and ``title high``, the bounds of its
    95 % interval. Values are raw (fractions, not per cent), an undefined one is empty.
    """
    wide = [any(isinstance(row[number], Estimate) for row in table.rows) for number in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out)
    titles = [column.title for column in table.columns]
    writer.writerow([t for title, three in zip(titles, wide, strict=True) for t in _titles(title, three)])
    for row in table.rows:
        writer.writerow([value for cell, three in zip(row, wide, strict=True) for value in _values(cell, three)])
    return out.getvalue()


def _titles(title: str, three: bool) -> Iterator[str]:
    yield title
    if three:
        yield from (f"{title} low", f"{title} high")


def _values(cell: Cell, three: bool) -> Iterator[str | int | float]:
    parts = (cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else (cell, None, None)
    yield from ("" if part is None else part for part in (parts if three else parts[:1]))


def markdown_text(table: Table) -> str:
    """The table as a GitHub-flavoured Markdown table under its title, its note below it."""
    titles = (_escaped(heading(column)) for column in table.columns)
    aligned = ("---" if column.kind == "text" else "---:" for column in table.columns)
    lines = [f"**{_escaped(table.title)}**", "", _line(titles), _line(aligned)]
    lines += [_line(map(_markdown_cell, row, table.columns)) for row in table.rows]
    if table.note:
        lines += ["", _escaped(table.note)]
    return "\n".join(lines) + "\n"


def heading(column: Column) -> str:
    """The title with its unit: "StepAcc (%)"."""
    return f"{column.title} ({unit(column)})" if unit(column) else column.title


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def _markdown_cell(cell: Cell, column: Column) -> str:
    text = cell_text(cell, column.kind)
    return _escaped(text) if isinstance(cell, str) else text


_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\|`*_<>[]#&$~"})


def _escaped(text: str) -> str:
    """`text` on one line, with nothing in it that Markdown or HTML would act on."""
    return " ".join(text.split()).translate(_SPECIAL)
