"""prm's own JSONL: trajectory records, taken as they are."""

from __future__ import annotations

from collections.abc import Iterator

from prm.data.readers.row import Row, read_jsonl_rows, unchanged


def read(source: str) -> Iterator[Row]:
    """The rows of a JSONL file of trajectory records."""
    return read_jsonl_rows(source, unchanged)
