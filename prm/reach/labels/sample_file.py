"""The file that a person fills in: the drawn runs, blind to every verdict, as JSON lines or as a table (CSV).

JSONL holds trajectory records whose labels are all unknown, with ``milestones`` {name: null} and ``notes`` {}. CSV
holds a row a message, and below it one for the outcome and for each milestone; labels go into the column ``label``.
Nothing that tells how the run was judged, or which agent it is of, is written: ids are neutral, and `agree` finds the
runs by them (see `neutral_id`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prm.data.jsonl import atomic_file, write_jsonl
from prm.data.records import dump_trajectory
from prm.data.render import calls_of, content_text
from prm.reach.labels.neutral_id import neutral_identity
from prm.reach.labels.records import milestones_of
from prm.types import Message, Trajectory

COLUMNS = ("id", "data_source", "query_index", "sample_index", "message", "kind", "text", "label", "note")
STEP, OUTCOME, MILESTONE = "step", "outcome", "milestone"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""A cell that begins so gets an apostrophe before it: spreadsheets would run it as a formula, or eat it."""


def blind_record(run: Trajectory) -> dict[str, Any]:
    """The record of a run with nothing in it that tells a verdict."""
    blind = replace(
        run,
        identity=neutral_identity(run.identity),
        step_labels=dict.fromkeys(run.step_labels, None),
        final_label=None,
        step_label_probs={},
        label_source="human",
        label_notes=None,
        extra={"milestones": dict.fromkeys(milestones_of(run), None), "notes": {}},
    )
    return dump_trajectory(blind)


def write_sample(path: Path, runs: Iterable[Trajectory], titles: Mapping[str, str]) -> int:
    """Writes the drawn runs to `path`: a table where its name ends in ``.csv``, else JSON lines. Returns how many.

    Args:
        path: The file.
        runs: As drawn.
        titles: Milestone → what it means, for the table.
    """
    if path.suffix.lower() != ".csv":
        return write_jsonl(path, map(blind_record, runs))
    count = 0
    with atomic_file(path) as stream:
        # The mark at the start tells spreadsheets that it is UTF-8.
        stream.write("\ufeff".encode())
        stream.write(_csv_line(COLUMNS))
        for run in runs:
            count += 1
            stream.writelines(_csv_line(row) for row in _rows(run, titles))
    return count


def _rows(run: Trajectory, titles: Mapping[str, str]) -> Iterator[Sequence[str]]:
    identity = neutral_identity(run.identity)
    key = (identity.id, identity.data_source, identity.query_index, identity.sample_index)
    who = [protect(part) for part in key]
    for index, message in enumerate(run.messages):
        kind = STEP if index in run.step_labels else str(message["role"])
        yield (*who, str(index), kind, protect(_text(message)), "", "")
    yield (*who, "", OUTCOME, "the run as a whole: 1 or -1", "", "")
    for name in milestones_of(run):
        shown = f"{name}: {titles[name]}" if titles.get(name) else name
        yield (*who, protect(name), MILESTONE, protect(shown), "", "")


def _text(message: Message) -> str:
    """What a person reads of a message: its text, and its calls as ``-> tool(arguments)``."""
    calls = [f"-> {name}({arguments})" for name, arguments in calls_of(message)]
    return "\n".join([text for text in (content_text(message),) if text] + calls)


def protect(value: str | int | None) -> str:
    """A value as a cell that no spreadsheet takes for a formula; `restore` undoes it."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def restore(cell: str) -> str:
    """What was given to `protect`, as text."""
    return cell[1:] if cell.startswith("'") else cell


def _csv_line(row: Sequence[str]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(row)
    # Lone surrogates are no UTF-8; a person reads their escapes.
    return buffer.getvalue().encode("utf-8", "backslashreplace")
