"""Runs out of any log: one door for trajectory files, flat logs, OpenTelemetry spans and operation logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from prm.data.jsonl import parse_json_object, read_lines, require_file
from prm.data.readers.registry import BUILT_IN, as_row, detect_reader, iterate_all, load_reader
from prm.data.readers.row import Row, parse_row
from prm.errors import ConfigError, InputError, RecordError
from prm.reach.log import flat, operations, otel
from prm.reach.log.envelope import Envelope
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.operation_columns import columns_of_query
from prm.reach.log.run import Run
from prm.reach.log.tables import CSV_ENDINGS
from prm.types import Trajectory

_DOCUMENT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:$|"resourceSpans")')
"""How the first line of a document of spans begins that goes on after it."""

_VERDICTS = "prm.reach.verdict/"
"""What the schema of a verdict begins with."""

LogReader: TypeAlias = Callable[[str], Iterable[Row]]

LOG_READERS: Mapping[str, LogReader] = {"flat": flat.read, "otel": otel.read, "operations": operations.read}
"""The readers of logs that are no messages; those of trajectory files are in `prm.data.readers.registry`."""


def read_runs(path: str | Path, reader: str | None = None, envelope: Envelope | None = None) -> Iterator[Run]:
    """The runs of a log, one at a time.

    Args:
        path: The log: a file, or whatever the reader takes.
        reader: ``flat``, ``otel``, ``operations`` (with its columns after a ``?``, see `operation_columns`), a reader
            of trajectory files, or ``module:function``: a function of the path that yields runs, trajectories or
            trajectory records. None = by what the log looks like.
        envelope: How results are wrapped; None = recognised (see `prm.reach.log.envelope`).

    Raises:
        MissingFileError: The file does not exist.
        ConfigError: There is no such reader.
        InputError: The log cannot be read, or holds no run; the message names the place.
    """
    source = str(path)
    name = reader if reader is not None else detect_log(source)
    empty = True
    for run in _runs(source, name, envelope):
        empty = False
        yield run
    if empty:
        raise InputError.at(source, "must hold at least one run", "none", "check the file, or name its --reader")


def detect_log(source: str) -> str:
    """The name of the reader of a log, by its name and its first record.

    Raises:
        MissingFileError: There is no such file.
    """
    path = Path(source)
    if path.suffix.lower() in CSV_ENDINGS:
        require_file(path)
        return "operations"
    if path.is_file():
        for number, line in read_lines(path):
            found = _log_of_line(line, f"{source}:{number}")
            return detect_reader(source) if found is None else found
    return detect_reader(source)


def _log_of_line(line: bytes, where: str) -> str | None:
    try:
        record = parse_json_object(line, where)
    except RecordError:
        # A document over several lines begins with a bracket, and perhaps its key; a list of runs is tau-bench's.
        return "otel" if _DOCUMENT.match(line) else None
    if "messages" in record:
        return None
    _refuse_verdicts(record, where)
    if otel.is_document(record):
        return "otel"
    if flat.is_flat(record):
        return "flat"
    return "operations" if operations.is_operation(record) else None


def _refuse_verdicts(record: Mapping[str, Any], where: str) -> None:
    """Raises RecordError where a record is no log but what was found out about one."""
    if str(record.get("schema")).startswith(_VERDICTS) or "resourceLogs" in record:
        raise RecordError.at(where, "must be a log", "verdicts", "give the log that was judged")


def _runs(source: str, name: str, envelope: Envelope | None) -> Iterator[Run]:
    log_reader = _log_reader(name)
    if log_reader is not None:
        for row in log_reader(source):
            yield run_of_trajectory(parse_row(row), envelope)
    elif name in BUILT_IN or ":" not in name:
        _refuse_unknown(name)
        for trajectory in iterate_all([source], name):
            yield run_of_trajectory(trajectory, envelope)
    else:
        yield from _own_runs(source, name, envelope)


def _log_reader(name: str) -> LogReader | None:
    base, _, query = name.partition("?")
    if base == "operations" and query:
        return partial(operations.read, columns=columns_of_query(query))
    if name in LOG_READERS:
        return LOG_READERS[name]
    if ":" not in name and name not in BUILT_IN and base in LOG_READERS:
        raise ConfigError.at("--reader", "takes no declaration", name, f"give {base} alone")
    return None


def _refuse_unknown(name: str) -> None:
    try:
        load_reader(name)
    except ConfigError:
        known = ", ".join((*LOG_READERS, *BUILT_IN))
        rule = f"must be one of {known}, or module:function"
        raise ConfigError.at("--reader", rule, name, "name a reader") from None


def _own_runs(source: str, name: str, envelope: Envelope | None) -> Iterator[Run]:
    """What one's own reader yields, as runs; whatever it raises is reported with the record's number."""
    number = 0
    try:
        for number, item in enumerate(load_reader(name)(source), start=1):
            yield _own_run(item, f"{source}: record {number}", envelope)
    except InputError:
        raise
    except Exception as error:
        where, shown = f"{source}: record {number + 1}", f"{type(error).__name__}: {error}"
        raise InputError.at(where, "the reader must not fail", shown, "fix the reader") from error


def _own_run(item: Any, where: str, envelope: Envelope | None) -> Run:
    if isinstance(item, Run):
        return item
    trajectory = item if isinstance(item, Trajectory) else parse_row(as_row(item, where))
    return run_of_trajectory(trajectory, envelope)
