"""TRL's former stepwise supervision format: `prompt`, `completions` (one text a step) and `labels`.

Booleans mean right and wrong: true → +1, false → −1. Whole numbers are read as they stand (−1, 0, +1, null);
a file that writes wrong steps as 0 is read by `read_binary`, since no row can say which of the two it means.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from prm.data.readers.chat import hash_of_first_user_message
from prm.data.readers.row import Record, Row, read_jsonl_rows
from prm.errors import RecordError

log = logging.getLogger(__name__)


def read(source: str) -> Iterator[Row]:
    """The rows of a stepwise JSONL file with boolean labels, or labels −1, 0, +1."""
    values: set[Any] = set()
    for number, row in enumerate(read_jsonl_rows(source, partial(_named, source)), start=1):
        if row.record is not None:
            values.update(v for v in row.record["step_labels"].values() if isinstance(v, int))
        yield _numbered(row, number)
    if 0 in values and -1 not in values:
        log.warning(
            "%s: no label is -1, and 0 was read as neutral; if 0 means wrong, use --reader stepwise_binary",
            source,
        )


def read_binary(source: str) -> Iterator[Row]:
    """The rows of a stepwise JSONL file whose labels are 1 (right) and 0 (wrong)."""
    for number, row in enumerate(read_jsonl_rows(source, partial(_named_binary, source)), start=1):
        yield _numbered(row, number)


def _named(source: str, record: Record, where: str) -> Record:
    return trajectory_of_stepwise(record, where, Path(source).stem)


def _named_binary(source: str, record: Record, where: str) -> Record:
    labels = record.get("labels")
    if isinstance(labels, list) and any(type(label) is int and label not in (0, 1) for label in labels):
        raise RecordError.at(f"{where}: labels", "binary labels must be 0 or 1", labels, "use --reader stepwise")
    binary = [bool(label) if type(label) is int else label for label in labels] if isinstance(labels, list) else labels
    return _named(source, {**record, "labels": binary}, where)


def _numbered(row: Row, number: int) -> Row:
    """The row with the line's ordinal as its sample index, where the record does not name its own."""
    if row.record is None or row.record.get("sample_index") is not None:
        return row
    return Row(row.where, row.raw, {**row.record, "sample_index": number - 1})


def trajectory_of_stepwise(record: Record, where: str, data_source: str) -> dict[str, Any]:
    """The trajectory record of one row: the prompt is a user message, each completion an assistant message.

    Raises:
        RecordError: Not the format, or not one label a completion.
    """
    prompt, completions, labels = (record.get(key) for key in ("prompt", "completions", "labels"))
    if not isinstance(prompt, str):
        raise RecordError.at(f"{where}: prompt", "must be text", prompt, "give the question as text")
    if not isinstance(completions, list) or not all(isinstance(text, str) for text in completions):
        raise RecordError.at(f"{where}: completions", "must be a list of texts", completions, "give one text a step")
    if not isinstance(labels, list) or len(labels) != len(completions):
        rule = f"must be a list of {len(completions)} labels, one a completion"
        raise RecordError.at(f"{where}: labels", rule, labels, "fix the labels")
    messages = [
        {"role": "user", "content": prompt},
        *({"role": "assistant", "content": text} for text in completions),
    ]
    identity = {key: record[key] for key in ("id", "query_index", "sample_index", "generator") if key in record}
    return {
        "data_source": record.get("data_source", data_source),
        "query_index": hash_of_first_user_message(messages),
        **identity,
        "question": prompt,
        "messages": messages,
        "step_labels": {str(i): _ternary(label) for i, label in enumerate(labels, start=1)},
        "final_label": record.get("final_label"),
        **{key: record[key] for key in ("dataset", "protocol", "label_source") if key in record},
    }


def _ternary(label: Any) -> Any:
    """+1 / −1 for booleans; anything else as it is, for the record's own rules to judge."""
    if isinstance(label, bool):
        return 1 if label else -1
    return label
