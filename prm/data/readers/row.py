"""What every reader yields: one record of a source, with where it stands, or why it could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from prm.data.jsonl import parse_json_object, read_lines
from prm.data.records import parse_trajectory
from prm.errors import RecordError
from prm.types import Trajectory

Record: TypeAlias = Mapping[str, Any]
"""A trajectory record as JSON gives it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a source.

    Attributes:
        where: ``<file>:<line>``, or what names the record in a source without lines.
        raw: What the source holds, text or JSON value, so that a bad record can be set aside as it is.
        record: The trajectory record that the reader made of it, not validated yet; None where it could not.
        error: Why `record` is None.
    """

    where: str
    raw: Any
    record: Record | None
    error: RecordError | None = None


Convert: TypeAlias = Callable[[Record, str], Record]
"""(record of the source, where) → trajectory record; raises `RecordError`."""


def read_jsonl_rows(source: str, convert: Convert) -> Iterator[Row]:
    """The rows of a JSONL file; a bad line becomes a row with an error, and the lines after it are read on.

    Raises:
        MissingFileError: The file does not exist.
    """
    for number, line in read_lines(Path(source)):
        where = f"{source}:{number}"
        try:
            yield Row(where, line, convert(parse_json_object(line, where), where))
        except RecordError as error:
            yield Row(where, line, None, error)


def read_value_rows(values: Iterator[tuple[str, Any]], convert: Convert) -> Iterator[Row]:
    """The rows of records that are JSON values already, given as (where, value)."""
    for where, value in values:
        try:
            if not isinstance(value, Mapping):
                raise RecordError.at(where, "must be an object", value, "fix the record")
            yield Row(where, value, convert(value, where))
        except RecordError as error:
            yield Row(where, value, None, error)


def unchanged(record: Record, where: str) -> Record:
    """The record as it is."""
    return record


def parse_row(row: Row) -> Trajectory:
    """The valid trajectory of a row.

    Raises:
        RecordError: The row could not be read, or its record breaks a rule.
    """
    if row.error is not None:
        raise row.error
    return parse_trajectory(row.record or {}, row.where)
