"""Trajectories as a `datasets.Dataset` that Arrow cannot alter, ready for ``push_to_hub``, and back.

What has keys of its own in each record (messages, tools, notes, every further key) is JSON text; labels are
two parallel lists. So nothing is united over rows and filled in with nulls. Knows nothing of the hub itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.data.records import dump_trajectory, parse_trajectory, read_trajectories
from prm.data.split import PARTS
from prm.errors import MissingFileError, RecordError
from prm.types import Trajectory

if TYPE_CHECKING:
    import datasets

_TEXT = ("id", "dataset", "generator", "data_source", "protocol", "label_source")
_JSON = ("query_index", "sample_index", "question", "messages", "tools", "step_label_probs", "label_notes")
_COLUMNS = (*_TEXT, *_JSON, "step_index", "step_label", "final_label", "other")


def dataset_of(trajectories: Iterable[Trajectory]) -> datasets.Dataset:
    """One row a trajectory; `trajectories_of` gives equal trajectories back.

    Columns: `id`, `dataset`, `generator`, `data_source`, `protocol`, `label_source` (text); `query_index`,
    `sample_index`, `question`, `messages`, `tools`, `step_label_probs`, `label_notes` and `other` (JSON text,
    null where absent); `step_index` and `step_label` (parallel lists, null = unknown); `final_label`.

    Raises:
        RecordError: A name holds a lone surrogate, which Arrow has no place for.
    """
    import datasets

    rows = [row_of(trajectory) for trajectory in trajectories]
    columns = {name: [row[name] for row in rows] for name in _COLUMNS}
    return datasets.Dataset.from_dict(columns, features=_features())


def dataset_of_build(folder: Path) -> datasets.DatasetDict:
    """The train, validation and test files of a build (or of one fold's folder in it) as splits.

    Raises:
        MissingFileError: The folder holds none of them.
    """
    import datasets

    files = {part: folder / f"{part}.jsonl" for part in PARTS if (folder / f"{part}.jsonl").is_file()}
    if not files:
        raise MissingFileError(
            f"{folder}: must hold train.jsonl, validation.jsonl or test.jsonl, found none; check the path"
        )
    return datasets.DatasetDict({part: dataset_of(read_trajectories(path)) for part, path in files.items()})


def trajectories_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[Trajectory]:
    """The trajectories of a dataset that `dataset_of` made.

    Raises:
        RecordError: A row was changed into something that is no trajectory.
    """
    for number, row in enumerate(rows):
        where = f"row {number}"
        yield parse_trajectory(record_of_row(row, where), where)


def row_of(trajectory: Trajectory) -> dict[str, Any]:
    """The row of one trajectory."""
    record = dump_trajectory(trajectory)
    labels = record.pop("step_labels")
    row = {name: _encodable(record.pop(name, None), name, trajectory) for name in _TEXT}
    row.update({name: _json_text(record.pop(name)) if name in record else None for name in _JSON})
    return {
        **row,
        "step_index": [int(index) for index in labels],
        "step_label": list(labels.values()),
        "final_label": record.pop("final_label"),
        "other": _json_text(record) if record else None,
    }


def is_own_row(row: Mapping[str, Any]) -> bool:
    """Whether a row has the columns that `dataset_of` writes."""
    return all(name in row for name in _COLUMNS)


def record_of_row(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The trajectory record of one row.

    Raises:
        RecordError: A JSON column is not JSON, or the label lists differ in length.
    """
    record = {name: row[name] for name in _TEXT if row[name] is not None}
    record.update({name: _parse(row[name], f"{where}: {name}") for name in _JSON if row[name] is not None})
    if row["other"] is not None:
        record.update(_parse(row["other"], f"{where}: other"))
    indices, labels = row["step_index"], row["step_label"]
    if len(indices) != len(labels):
        rule = f"must have as many entries as step_index ({len(indices)})"
        raise RecordError.at(f"{where}: step_label", rule, len(labels), "fix the row")
    step_labels = {str(index): label for index, label in zip(indices, labels, strict=True)}
    return {**record, "step_labels": step_labels, "final_label": row["final_label"]}


def _features() -> datasets.Features:
    from datasets import Features, List, Value

    text = dict.fromkeys((*_TEXT, *_JSON, "other"), Value("string"))
    return Features(
        {
            **text,
            "step_index": List(Value("int32")),
            "step_label": List(Value("int8")),
            "final_label": Value("int8"),
        }
    )


def _json_text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if _is_unicode(text) else json.dumps(value, allow_nan=False)


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text, which it cannot where a lone surrogate stands."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _encodable(value: Any, name: str, trajectory: Trajectory) -> Any:
    if isinstance(value, str) and not _is_unicode(value):
        where = f"{' / '.join(trajectory.key)}: {name}"
        raise RecordError.at(where, "must not hold a lone surrogate", value, "rename it")
    return value


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RecordError.at(where, f"must be JSON text ({error})", text, "fix the row") from None
