"""What a person filled in: labels of steps, outcomes and milestones, from either form of the sample file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from prm.data.jsonl import read_jsonl, require_file
from prm.data.records import parse_gold
from prm.errors import RecordError
from prm.reach.judging.verdict import Standing
from prm.reach.labels.sample_file import COLUMNS, MILESTONE, OUTCOME, STEP, restore
from prm.types import Key, Prediction, RunIdentity, StepLabel

STANDINGS: tuple[str, ...] = get_args(Standing)
LABEL_TEXTS: Mapping[str, StepLabel] = {"-1": -1, "−1": -1, "0": 0, "1": 1, "+1": 1}
_INDEX = re.compile(r"[0-9]{1,9}")


@dataclass(slots=True)
class HumanRun:
    """What a person said of one run.

    Attributes:
        identity: Of the run.
        steps: Message index → label, where one was given.
        outcome: The run as a whole, None = not given.
        milestones: Name → standing, where one was given.
        notes: Message index → remark.
    """

    identity: RunIdentity
    steps: dict[int, StepLabel] = field(default_factory=dict)
    outcome: StepLabel | None = None
    milestones: dict[str, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)

    @property
    def prediction(self) -> Prediction:
        """Its labels as one rater's word on the run."""
        return Prediction(
            self.identity, dict(self.steps), self.outcome, protocol="error_propagation", extra={"label_source": "human"}
        )


def read_human(path: Path) -> list[HumanRun]:
    """The runs of a filled-in sample file, by its name a table (``.csv``) or JSON lines.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A field holds what is no label or standing, or there is no run; names file, line and value.
    """
    if path.suffix.lower() == ".csv":
        runs = list(_read_table(path).values())
    else:
        runs = [_of_record(record, f"{path}:{number}") for number, record in read_jsonl(path)]
    if not runs:
        raise RecordError.at(str(path), "must hold at least one run", "none", "fill in what prm reach sample wrote")
    return runs


def _of_record(record: Mapping[str, Any], where: str) -> HumanRun:
    run = parse_gold(record, where)
    given = {index: label for index, label in run.step_labels.items() if label is not None}
    milestones = _object(record, "milestones", where)
    notes = _object(record, "notes", where)
    return HumanRun(
        identity=run.identity,
        steps=given,
        outcome=run.final_label,
        milestones={
            name: _standing(value, f"{where}: milestones.{name}")
            for name, value in milestones.items()
            if value is not None
        },
        notes={int(index): str(note) for index, note in notes.items() if _INDEX.fullmatch(str(index)) and note},
    )


def _object(record: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError.at(f"{where}: {name}", "must be an object", value, "fill in the file as it was written")
    return value


def _read_table(path: Path) -> dict[Key, HumanRun]:
    runs: dict[Key, HumanRun] = {}
    for where, row in _rows(path):
        identity = _identity(row, where)
        run = runs.setdefault(identity.key, HumanRun(identity))
        _take_row(run, row, where)
    return runs


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """(place, column → cell) of each row; spreadsheets save with commas, semicolons or tabs."""
    require_file(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError.at(str(path), "must be UTF-8", str(error.reason), "save it as CSV (UTF-8)") from None
    first = text.split("\n", 1)[0]
    lines: Iterable[str] = io.StringIO(text, newline="")
    reader = csv.DictReader(lines, delimiter=max(",;\t", key=first.count), restval="")
    found = list(reader.fieldnames or ())
    if not set(COLUMNS) <= set(found):
        raise RecordError.at(str(path), f"must have the columns {', '.join(COLUMNS)}", found, "keep the first line")
    for row in reader:
        yield f"{path}:{reader.line_num}", {name: row[name] or "" for name in COLUMNS}


def _identity(row: Mapping[str, str], where: str) -> RunIdentity:
    texts = {name: restore(row[name]) for name in ("id", "data_source", "query_index", "sample_index")}
    if not texts["id"] and not (texts["data_source"] and texts["query_index"] and texts["sample_index"]):
        rule = "must have an id, or data_source, query_index and sample_index"
        raise RecordError.at(where, rule, texts, "keep the first columns as they were written")
    return RunIdentity(
        data_source=texts["data_source"],
        query_index=texts["query_index"] or None,
        sample_index=texts["sample_index"] or None,
        id=texts["id"] or None,
    )


def _take_row(run: HumanRun, row: Mapping[str, str], where: str) -> None:
    label, kind = row["label"].strip(), row["kind"].strip()
    if kind == STEP:
        index = _message_index(row["message"], where)
        if label:
            given = _label(label, where)
            _refuse_second(run.steps.get(index, given), given, where)
            run.steps[index] = given
        if row["note"].strip():
            run.notes[index] = row["note"].strip()
    elif kind == OUTCOME and label:
        outcome = _label(label, where)
        _refuse_second(outcome if run.outcome is None else run.outcome, outcome, where)
        run.outcome = outcome
    elif kind == MILESTONE and label:
        name, standing = restore(row["message"]), _standing(label, where)
        _refuse_second(run.milestones.get(name, standing), standing, where)
        run.milestones[name] = standing


def _refuse_second(before: object, given: object, where: str) -> None:
    if before != given:
        rule = f"must be {before!r} as in the row before"
        raise RecordError.at(f"{where}: label", rule, given, "keep one of the rows")


def _message_index(text: str, where: str) -> int:
    if not _INDEX.fullmatch(text.strip()):
        raise RecordError.at(f"{where}: message", "must be the index of a message", text, "keep it as it was written")
    return int(text)


def _label(text: str, where: str) -> StepLabel:
    # A spreadsheet may have put back an apostrophe, or made a decimal number of it.
    plain = text.lstrip("'").removesuffix(".0")
    if plain not in LABEL_TEXTS:
        raise RecordError.at(f"{where}: label", "must be -1, 0, 1 or empty", text, "fix the label")
    return LABEL_TEXTS[plain]


def _standing(value: Any, where: str) -> str:
    text = value.strip().lower() if isinstance(value, str) else value
    if text not in STANDINGS:
        raise RecordError.at(where, f"must be one of {', '.join(STANDINGS)}, or empty", value, "fix the word")
    return str(text)
