"""Validated trajectories from any sources, and what happens to bad records: refused, or set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from prm.data.jsonl import atomic_file, dump_line
from prm.data.readers.registry import read_rows
from prm.data.readers.row import Row, parse_row
from prm.errors import RecordError
from prm.types import Trajectory


class BadRecords(Protocol):
    """What takes the records that break a rule."""

    def put(self, row: Row, error: RecordError) -> None:
        """Takes one bad record, or raises."""


class RefuseBad:
    """The first bad record is the end."""

    def put(self, row: Row, error: RecordError) -> None:
        """Raises `error`."""
        raise error


class SetBadAside:
    """Writes bad records to a stream (where, reason, the record as it was); `count` says how many."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def put(self, row: Row, error: RecordError) -> None:
        """Writes one record."""
        self.count += 1
        self._stream.write(dump_line({"where": row.where, "reason": str(error), "raw": _as_json(row.raw)}))


@contextmanager
def handle_bad(path: Path | None) -> Iterator[RefuseBad | SetBadAside]:
    """Refuses bad records where `path` is None; else sets them aside in that file."""
    if path is None:
        yield RefuseBad()
        return
    with atomic_file(path) as stream:
        yield SetBadAside(stream)


def _as_json(raw: Any) -> Any:
    """A line as text, a JSON value as it is, anything else as Python shows it."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "surrogateescape")
    try:
        dump_line({"raw": raw})
    except (TypeError, ValueError):
        return repr(raw)
    return raw


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid trajectory, where it stood, and the row it came from."""

    trajectory: Trajectory
    row: Row
    source: str

    @property
    def where(self) -> str:
        """See `Row.where`."""
        return self.row.where


def load_trajectories(
    sources: Sequence[str], reader: str | None = None, bad: BadRecords | None = None
) -> Iterator[Loaded]:
    """The validated trajectories of files and hub ids, in order, one at a time.

    Args:
        sources: Paths or hub ids.
        reader: Reader for all of them; None finds each one's own (`detect_reader`).
        bad: Takes bad records; None refuses the first.

    Raises:
        MissingFileError: A file does not exist.
        RecordError: A record breaks a rule, and `bad` refuses.
    """
    bad = bad or RefuseBad()
    for source in sources:
        for row in read_rows(source, reader):
            try:
                trajectory = parse_row(row)
            except RecordError as error:
                bad.put(row, error)
                continue
            yield Loaded(trajectory, row, source)
