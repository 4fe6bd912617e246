"""A file of records that come in any order, each under a key: it survives a kill, and is gone on with.

A record is appended to ``.<name>.journal`` at once; what was torn by a kill is cut off by the next opening. When all
are there, the file is written in the order asked for, beside and then renamed. Knows nothing of what the records are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from prm.data.jsonl import atomic_file, dump_line, parse_json_object
from prm.errors import ConfigError, RecordError


class KeyedJournal:
    """The records that are there so far, by key.

    Args:
        out: The file that all this is for.
        key_of: The key of a record; None for one that does not belong here, as if it were not there.
    """

    def __init__(self, out: Path, key_of: Callable[[Mapping[str, Any]], str | None]) -> None:
        self._out = out
        self._path = out.with_name(f".{out.name}.journal")
        self._key_of = key_of
        self._places: dict[str, tuple[int, int]] = {}
        out.parent.mkdir(parents=True, exist_ok=True)
        self._end = self._cut_and_index()

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the records that are there."""
        return frozenset(self._places)

    def append(self, record: Mapping[str, Any]) -> None:
        """Writes a record down, to the disk; a later one of the same key replaces it."""
        line = dump_line(record)
        with self._path.open("ab") as stream:
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
        self._note(record, len(line))

    def read(self, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yields the records of `keys`, in their order."""
        for number, line in enumerate(self._lines(keys), start=1):
            yield parse_json_object(line, f"{self._path}: record {number}")

    def finish(self, keys: Sequence[str]) -> None:
        """Writes the records of `keys` to the file, in their order, and removes the journal."""
        with atomic_file(self._out) as stream:
            stream.writelines(self._lines(keys))
        self._path.unlink(missing_ok=True)

    def _lines(self, keys: Sequence[str]) -> Iterator[bytes]:
        if not keys:
            return
        with self._path.open("rb") as stream:
            for key in keys:
                offset, length = self._places[key]
                stream.seek(offset)
                yield stream.read(length)

    def _cut_and_index(self) -> int:
        """Cuts a torn last line off and notes the others; returns the length of what is left."""
        if not self._path.is_file():
            return 0
        self._end = 0
        with self._path.open("r+b") as stream:
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                self._note(_readable(line), len(line))
            stream.truncate(self._end)
        return self._end

    def _note(self, record: Mapping[str, Any] | None, length: int) -> None:
        key = None if record is None else self._key_of(record)
        if key is not None:
            self._places[key] = (self._end, length)
        self._end += length


@contextmanager
def only_writer(out: Path) -> Iterator[None]:
    """While open, no other process writes the same file through this.

    Raises:
        ConfigError: One does already.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out.with_name(f".{out.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        todo = "wait for it, end it, or name another file"
        raise ConfigError.at(str(out), "one process may write it at a time", "another one at work", todo) from None
    try:
        yield
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _readable(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None where the disk kept something else: it is then made again."""
    try:
        return parse_json_object(line, "journal")
    except RecordError:
        return None
