"""Which reader reads a source: by name, by ``module:function``, or by what the first record looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from prm.data.jsonl import parse_json_object, read_lines, require_file
from prm.data.own_code import load_object
from prm.data.readers import agentprocessbench, chat, hub, stepwise, taubench, trajectory
from prm.data.readers.hub_rows import is_hub_id
from prm.data.readers.row import Row, parse_row
from prm.errors import ConfigError, InputError, RecordError, complaint
from prm.types import Trajectory

Reader: TypeAlias = Callable[[str], Iterable[Any]]
"""A source (path or hub id) → its records.

One's own reader yields trajectory records as plain objects, or (where, record) pairs, or `Row`s; with the
last it can also yield a record that could not be read, so that ``--skip-bad`` goes on after it.
"""

GROUP = "prm.readers"
BUILT_IN: Mapping[str, Reader] = {
    "trajectory": trajectory.read,
    "agentprocessbench": agentprocessbench.read,
    "chat": chat.read,
    "hub": hub.read,
    "stepwise": stepwise.read,
    "stepwise_binary": stepwise.read_binary,
    "taubench": taubench.read,
}


def read_rows(source: str, reader: str | None = None) -> Iterator[Row]:
    """The rows of a source, read by the named reader or by the one that `detect_reader` finds.

    Raises:
        MissingFileError: The file does not exist.
        ConfigError: There is no such reader.
        InputError: The source holds no record, or one's own reader failed.
    """
    name = reader if reader is not None else detect_reader(source)
    empty = True
    for row in _run_reader(load_reader(name), source, own=name not in BUILT_IN):
        empty = False
        yield row
    if empty:
        raise InputError.at(source, "must hold at least one record", "none", "check the file")


def iterate_all(sources: Sequence[str], reader: str | None = None) -> Iterator[Trajectory]:
    """The valid trajectories of all sources, in order, one at a time; the first bad record is refused.

    Raises:
        MissingFileError: A file does not exist.
        RecordError: A record breaks a rule.
    """
    for source in sources:
        for row in read_rows(source, reader):
            yield parse_row(row)


def read_all(sources: Sequence[str], reader: str | None = None) -> list[Trajectory]:
    """See `iterate_all`; all in memory."""
    return list(iterate_all(sources, reader))


def refuse_missing(sources: Sequence[str]) -> None:
    """Raises MissingFileError where a source is neither a file, a folder nor a hub id."""
    for source in sources:
        if not (Path(source).is_dir() or is_hub_id(source)):
            require_file(Path(source))


def load_reader(name: str) -> Reader:
    """The reader of a built-in name, of an entry point in group ``prm.readers``, or of ``module:function``.

    Raises:
        ConfigError: There is no such reader.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    for entry_point in entry_points(group=GROUP, name=name):
        return _as_reader(entry_point.load(), name)
    if ":" not in name:
        known = ", ".join(BUILT_IN)
        raise ConfigError.at("--reader", f"must be one of {known}, or module:function", name, "name a reader")
    return _as_reader(load_object("--reader", name), name)


def _as_reader(value: Any, name: str) -> Reader:
    if not callable(value):
        raise ConfigError.at("--reader", "must be a function of one source", name, "name a function")
    reader: Reader = value
    return reader


def _run_reader(reader: Reader, source: str, own: bool) -> Iterator[Row]:
    if not own:
        yield from reader(source)
        return
    number = 0
    try:
        for number, item in enumerate(reader(source), start=1):
            yield as_row(item, f"{source}: record {number}")
    except InputError:
        raise
    except Exception as error:
        where, shown = f"{source}: record {number + 1}", f"{type(error).__name__}: {error}"
        raise InputError.at(where, "the reader must not fail", shown, "fix the reader") from error


def as_row(item: Any, where: str) -> Row:
    """The row of what one's own reader yields: a `Row`, a (where, record) pair or a record."""
    if isinstance(item, Row):
        return item
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        where, item = item
    if isinstance(item, Mapping):
        return Row(where, item, item)
    error = RecordError(complaint(where, "a reader must yield objects or (where, object)", item, "fix the reader"))
    return Row(where, repr(item), None, error)


def detect_reader(source: str) -> str:
    """The name of the built-in reader for a source, by its name or its first record.

    Raises:
        MissingFileError: There is no such file.
        RecordError: The first record is not JSON.
    """
    path = Path(source)
    if source.partition(":")[0] == agentprocessbench.HUB_ID and not path.exists():
        return "agentprocessbench"
    if path.is_dir() or is_hub_id(source):
        return "hub"
    require_file(path)
    for number, line in read_lines(path):
        if line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
            return "taubench"
        return _reader_of_record(line, f"{source}:{number}")
    return "trajectory"


def _reader_of_record(line: bytes, where: str) -> str:
    try:
        record = parse_json_object(line, where)
    except RecordError:
        # The record's own reader says what is wrong with it, and where.
        return "trajectory"
    if "completions" in record and "messages" not in record:
        return "stepwise"
    if agentprocessbench.is_own_record(record):
        return "agentprocessbench"
    if "messages" in record and all(record.get(key) is None for key in chat.IDENTITY_KEYS):
        return "chat"
    return "trajectory"
