"""Rows of a JSONL or CSV file as (place, row): what an operation log is kept in."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from prm.data.jsonl import read_jsonl, require_file
from prm.errors import RecordError

PlacedRow: TypeAlias = tuple[str, Mapping[str, Any]]
"""(``<file>:<line>``, the row)."""

CSV_ENDINGS = (".csv", ".tsv")
MAX_CELL_CHARACTERS = 10_000_000


def read_table(source: str) -> Iterator[PlacedRow]:
    """The rows of a table: CSV by its ending (``.tsv``: with tabs), else JSONL. An empty CSV cell is None.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A row cannot be read; the message names file and line.
    """
    path = Path(source)
    if path.suffix.lower() in CSV_ENDINGS:
        yield from _read_csv(path, source)
        return
    for number, row in read_jsonl(path):
        yield f"{source}:{number}", row


def _read_csv(path: Path, source: str) -> Iterator[PlacedRow]:
    require_file(path)
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        try:
            yield from _placed_rows(reader, source)
        except UnicodeDecodeError as error:
            wrong = error.object[error.start : error.end]
            raise RecordError.at(source, "must be UTF-8", wrong, "save the file as UTF-8") from None
        except csv.Error as error:
            raise RecordError.at(f"{source}:{reader.line_num}", "must be CSV", str(error), "fix the row") from None


def _placed_rows(reader: Any, source: str) -> Iterator[PlacedRow]:
    header = next(reader, None)
    if header is None:
        return
    if len(set(header)) != len(header):
        raise RecordError.at(f"{source}:1", "column names must differ", header, "rename one")
    for cells in reader:
        where = f"{source}:{reader.line_num}"
        if len(cells) > len(header):
            rule = f"a row must have at most {len(header)} cells"
            raise RecordError.at(where, rule, len(cells), "quote cells that hold the separator")
        if any(cells):
            yield where, {name: cell or None for name, cell in zip(header, cells, strict=False)}
