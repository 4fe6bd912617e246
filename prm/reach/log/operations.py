"""A plain operation log of a real system: time, actor, operation, object id, params, outcome. JSONL or CSV.

Nobody logged what the agent was told (but perhaps the request), what it said, or which calls it made at once: each
operation is a batch of its own, in order of time, and the runs are `calls_only`. An outcome that is a bare word for
how it went (ok, failed …) says just that: what the operation returned is then unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prm.data.readers.row import Record, Row
from prm.errors import RecordError
from prm.reach.log.envelope import ok_of_status
from prm.reach.log.instants import seconds_of
from prm.reach.log.interleaved import grouped
from prm.reach.log.json_text import NO_JSON, json_in, object_in
from prm.reach.log.message_parts import text_id
from prm.reach.log.operation_columns import OperationColumns
from prm.reach.log.tables import PlacedRow, read_table
from prm.reach.log.to_trajectory import LoggedCall, SynthesisedMessages, trajectory_record

SOURCE = "operation_log"
DEFAULT_COLUMNS = OperationColumns()


def is_operation(record: Mapping[str, Any]) -> bool:
    """Whether the first record of a file is a row of an operation log with the default columns."""
    return DEFAULT_COLUMNS.operation in record and (DEFAULT_COLUMNS.time in record or DEFAULT_COLUMNS.actor in record)


def read(source: str, columns: OperationColumns = DEFAULT_COLUMNS) -> Iterator[Row]:
    """The runs of an operation log as trajectory records.

    Args:
        source: A JSONL file, or CSV by its ending.
        columns: Their names.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A row cannot be read or lacks what its run is told by; the message names it.
    """
    keys = _run_keys(source, columns)
    for key, rows in grouped(lambda: read_table(source), keys):
        yield Row(rows[0][0], [row for _, row in rows], _record(key, rows, columns))


def _run_keys(source: str, columns: OperationColumns) -> list[str]:
    """For each row of the file the name of its run."""
    if columns.run_columns:
        return [_declared_run(row, where, columns.run_columns) for where, row in read_table(source)]
    timed: list[tuple[str, float]] = []
    for where, row in read_table(source):
        timed.append((_actor(row, where, columns), _seconds(row, where, columns)))
    return _runs_by_pause(timed, columns.gap_minutes * 60)


def _declared_run(row: Mapping[str, Any], where: str, names: tuple[str, ...]) -> str:
    parts = [text_id(_cell(row, where, name, "run")) for name in names]
    for name, part in zip(names, parts, strict=True):
        if part is None:
            raise RecordError.at(f"{where}: {name}", "must name the run", row.get(name), "fill it in")
    if len(parts) == 1:
        return str(parts[0])
    return "/".join(str(part).replace("/", "%2F") for part in parts)


def _runs_by_pause(timed: list[tuple[str, float]], gap_seconds: float) -> list[str]:
    """(actor, seconds) of each row → its run: the rows of an actor, in order of time, cut at every long pause."""
    latest: dict[str, tuple[float, int]] = {}
    runs = [""] * len(timed)
    for number in sorted(range(len(timed)), key=lambda number: timed[number][1]):
        actor, seconds = timed[number]
        before, run = latest.get(actor, (seconds, 0))
        run += seconds - before > gap_seconds
        latest[actor] = (seconds, run)
        runs[number] = f"{actor}/{run}"
    return runs


def _actor(row: Mapping[str, Any], where: str, columns: OperationColumns) -> str:
    actor = text_id(_cell(row, where, columns.actor, "actor"))
    if actor is None:
        todo = "fill it in, or declare the column of the run"
        raise RecordError.at(f"{where}: {columns.actor}", "must name who did it", row.get(columns.actor), todo)
    return actor


def _seconds(row: Mapping[str, Any], where: str, columns: OperationColumns) -> float:
    seconds = seconds_of(_cell(row, where, columns.time, "time"))
    if seconds is None:
        todo = "write ISO 8601 or a number, or declare the column of the run"
        raise RecordError.at(f"{where}: {columns.time}", "must be a time", row.get(columns.time), todo)
    return seconds


def _cell(row: Mapping[str, Any], where: str, name: str, declared: str) -> Any:
    """What the row has in a column that it cannot do without."""
    if name not in row:
        todo = f"declare its name: --reader 'operations?{declared}=COLUMN'"
        raise RecordError.at(where, f"must have a column {name!r}", list(row), todo)
    return row[name]


def _record(key: str, rows: list[PlacedRow], columns: OperationColumns) -> Record:
    ordered = _in_time(rows, columns)
    synthesised = SynthesisedMessages()
    asked = (row[columns.request] for _, row in ordered if isinstance(row.get(columns.request), str))
    synthesised.add_text("user", next(asked, ""))
    for where, row in ordered:
        synthesised.add_batch([_call(row, where, columns)])
    first = ordered[0][1]
    return trajectory_record(
        synthesised.messages,
        source=SOURCE,
        scenario=text_id(first.get(columns.scenario)) or key,
        run=key,
        about={"agent": text_id(first.get(columns.actor)), "calls_only": True},
        record_id=f"{SOURCE}:{key}",
    )


def _in_time(rows: list[PlacedRow], columns: OperationColumns) -> list[PlacedRow]:
    """By time where every row has one that can be read, else as in the file."""
    times = [seconds_of(row.get(columns.time)) for _, row in rows]
    known = [seconds for seconds in times if seconds is not None]
    if len(known) < len(rows):
        return rows
    return [rows[number] for number in sorted(range(len(rows)), key=known.__getitem__)]


def _call(row: Mapping[str, Any], where: str, columns: OperationColumns) -> LoggedCall:
    operation, when = _cell(row, where, columns.operation, "operation"), row.get(columns.time)
    if not isinstance(operation, str):
        todo = "name what was done"
        raise RecordError.at(f"{where}: {columns.operation}", "must be text", operation, todo)
    result, status, failed = _outcome(row.get(columns.outcome))
    return LoggedCall(
        tool=operation,
        arguments=_arguments(row, columns),
        result=result,
        status=status,
        failed=failed,
        called_at=when if isinstance(when, str | int | float) and not isinstance(when, bool) else None,
    )


def _outcome(recorded: Any) -> tuple[Any, str | None, bool | None]:
    """(what was returned, the word for how it went, whether it failed); None where the outcome does not say."""
    value = json_in(recorded) if isinstance(recorded, str) else recorded
    if isinstance(value, bool):
        return None, None, not value
    if isinstance(value, int):
        # A count, or a code such as 404: nobody knows, and nobody is blamed.
        return value, str(value), None
    if isinstance(recorded, str) and ok_of_status(recorded, None) is not None:
        return None, recorded.strip().lower(), None
    return recorded, None, None


def _arguments(row: Mapping[str, Any], columns: OperationColumns) -> dict[str, Any] | str | None:
    """The object id and the params as one object; params that break off leave the arguments unknown."""
    params, object_id = row.get(columns.params), row.get(columns.object_id)
    named = {} if object_id is None else {columns.object_id: object_id}
    if params is None:
        return named or None
    given = object_in(params)
    if given is not None:
        return {**named, **given}
    if isinstance(params, str) and params.lstrip().startswith("{"):
        return params
    value = json_in(params) if isinstance(params, str) else params
    return {**named, columns.params: params if value is NO_JSON else value}
