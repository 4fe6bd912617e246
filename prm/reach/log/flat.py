"""The flat log: one JSON object a call, one call a line. Reader.

    round_id    the run; rows of several runs may stand mixed
    step        number of the call in the run, from 1; rows come in this order, or in the file's where one has none
    call_id     unique within the run
    batch       equal for calls made in one assistant message; a row without one is a batch of its own
    tool        name
    input       the arguments: an object, or the text as recorded; null = not recorded
    result      a JSON value, or text; null = not recorded
    source, target          ids of the calls whose results it used, and of those that used its result (see `flat_rows`)
    result_status           the tool's own word for how it went
    milestones_reached      names of the milestones that were reached at this call
    timestamp   ISO 8601, or seconds

`source`, `target` and `milestones_reached` are verdicts: they are written, and on reading left to the judge. Rows may
also carry `scenario, template, run, agent, variant, seed, end, outcome` and `request`, what the user asked for; the
run's first row counts. Keys that are not named here are ignored.

What the flat form does not hold, and a round trip through it loses: what system, user and assistant said and planned,
but for the request (the run is `calls_only`: a value that nothing explains may have been said); messages without
calls; results that answer no call; tool declarations; labels; the numbers of the batches (batches stay apart and in
order); and whether a status ``ok`` or ``error`` was the tool's own word or only its meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prm.data.fields import parse_text
from prm.data.jsonl import read_jsonl
from prm.data.readers.row import Record, Row
from prm.errors import RecordError
from prm.reach.log.interleaved import grouped
from prm.reach.log.message_parts import text_id
from prm.reach.log.to_trajectory import LoggedCall, SynthesisedMessages, trajectory_record

SOURCE = "flat_log"
ABOUT_KEYS = ("scenario", "template", "run", "agent", "variant", "seed", "end", "outcome")

_Placed = tuple[str, Mapping[str, Any]]


def is_flat(record: Mapping[str, Any]) -> bool:
    """Whether the first record of a file is a row of a flat log."""
    return "round_id" in record and "tool" in record


def read(source: str) -> Iterator[Row]:
    """The runs of a flat log as trajectory records.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A line is no row; the message names it.
    """
    keys = [_round_of(row, where) for where, row in _rows(source)]
    repeats: Counter[str] = Counter()
    for round_id, rows in grouped(lambda: _rows(source), keys):
        yield Row(rows[0][0], [row for _, row in rows], _record(round_id, rows, repeats))


def _rows(source: str) -> Iterator[_Placed]:
    for number, row in read_jsonl(Path(source)):
        yield f"{source}:{number}", row


def _round_of(row: Mapping[str, Any], where: str) -> str:
    key = text_id(row.get("round_id"))
    if key is None:
        todo = "name the run that the call belongs to"
        raise RecordError.at(f"{where}: round_id", "must be text or a whole number", row.get("round_id"), todo)
    return key


def _record(round_id: str, rows: list[_Placed], repeats: Counter[str]) -> Record:
    """`repeats` counts the runs of each scenario: the number of a run that has none."""
    where, first = rows[0]
    about = _checked({key: first.get(key) for key in ABOUT_KEYS}, where)
    scenario, run = text_id(about.pop("scenario")) or round_id, about.pop("run")
    synthesised = SynthesisedMessages()
    synthesised.add_text("user", parse_text(first, "request", where) or "")
    for batch in _batches(_in_order(rows)):
        synthesised.add_batch([_call(row, where) for where, row in batch])
    repeats[scenario] += 1
    return trajectory_record(
        synthesised.messages,
        source=SOURCE,
        scenario=scenario,
        run=run if text_id(run) is not None else repeats[scenario] - 1,
        about={**about, "calls_only": True},
        record_id=f"{SOURCE}:{round_id}",
    )


def _checked(about: dict[str, Any], where: str) -> dict[str, Any]:
    if about["outcome"] not in (None, 1, -1) or isinstance(about["outcome"], bool | float):
        raise RecordError.at(f"{where}: outcome", "must be 1, -1 or null", about["outcome"], "fix the outcome")
    for key in ("template", "agent", "variant", "end"):
        parse_text(about, key, where)
    return about


def _in_order(rows: list[_Placed]) -> list[_Placed]:
    steps = [row.get("step") for _, row in rows]
    if any(isinstance(step, bool) or not isinstance(step, int) for step in steps):
        return rows
    return sorted(rows, key=lambda placed: placed[1]["step"])


def _batches(rows: list[_Placed]) -> list[list[_Placed]]:
    """Rows with one `batch` are one batch, at the place of its first row."""
    batches: dict[Any, list[_Placed]] = {}
    for number, (where, row) in enumerate(rows):
        batch = text_id(row.get("batch"))
        batches.setdefault(("alone", number) if batch is None else batch, []).append((where, row))
    return list(batches.values())


def _call(row: Mapping[str, Any], where: str) -> LoggedCall:
    if not isinstance(row.get("tool"), str):
        raise RecordError.at(f"{where}: tool", "must be text", row.get("tool"), "give the tool's name")
    arguments, status = row.get("input"), row.get("result_status")
    if not (arguments is None or isinstance(arguments, str | dict)):
        raise RecordError.at(f"{where}: input", "must be an object, text or null", arguments, "give the arguments")
    if not (status is None or isinstance(status, str)):
        raise RecordError.at(f"{where}: result_status", "must be text or null", status, "fix the status")
    when = row.get("timestamp")
    return LoggedCall(
        tool=row["tool"],
        id=text_id(row.get("call_id")),
        arguments=arguments,
        result=row.get("result"),
        status=status,
        called_at=when if isinstance(when, str | int | float) and not isinstance(when, bool) else None,
    )
