"""AgentProcessBench (arXiv 2603.14465): its JSONL files, whose record is prm's own, and its hub rows.

What the release says elsewhere is added where the record does not say it: the subset, the protocol, that
people made the labels, and which of the five agents ran (agents are known by sample index only).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prm.data.readers.arrow import undo_arrow
from prm.data.readers.hub_rows import read_hub_rows, split_hub_id
from prm.data.readers.row import Record, Row, read_jsonl_rows, read_value_rows
from prm.errors import RecordError

HUB_ID = "LulaCola/AgentProcessBench"
CONFIGS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
_DATASET_OF_PREFIX = {"searchR1_hotpotqa": "hotpotqa", "bfcl": "bfcl", "tau2": "tau2", "gaia": "gaia_dev"}
_TEXT_COLUMNS = ("messages", "tools", "step_labels", "ground_truth", "tool_metrics", "step_label_probs")


def read(source: str) -> Iterator[Row]:
    """The rows of a file of the release, or of ``LulaCola/AgentProcessBench[:config]`` on the hub."""
    if Path(source).exists():
        return read_jsonl_rows(source, complete_record)
    repository, config = split_hub_id(source)
    configs = (config,) if config else CONFIGS
    values = (pair for name in configs for pair in read_hub_rows(repository, name, "test"))
    return read_value_rows(values, record_of_hub_row)


def complete_record(record: Record, where: str) -> Record:
    """The record with `dataset`, `generator`, `protocol` and `label_source` where it does not say them."""
    known: dict[str, Any] = {
        "dataset": dataset_of(record.get("data_source")),
        "generator": _generator(record.get("sample_index")),
        "protocol": "error_propagation",
        "label_source": "human",
    }
    missing = {key: value for key, value in known.items() if record.get(key) is None and value is not None}
    return {**record, **missing}


def dataset_of(data_source: Any) -> str | None:
    """The subset that a `data_source` belongs to, None for one that is not the benchmark's."""
    if isinstance(data_source, str):
        for prefix, dataset in _DATASET_OF_PREFIX.items():
            if data_source == prefix or data_source.startswith(f"{prefix}_"):
                return dataset
    return None


def _generator(sample_index: Any) -> str | None:
    return f"sample_{sample_index}" if isinstance(sample_index, int | str) else None


def record_of_hub_row(row: Record, where: str) -> Record:
    """The record of one row as `datasets` gives it: JSON text parsed, what Arrow added taken away again."""
    parsed = {key: _parse_column(key, value, where) for key, value in row.items()}
    return complete_record(undo_arrow(parsed), where)


def _parse_column(key: str, value: Any, where: str) -> Any:
    if key not in _TEXT_COLUMNS or not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value if key in ("ground_truth", "tool_metrics") else None
    if parsed is None and value.strip() != "null":
        raise RecordError.at(f"{where}: {key}", "must be JSON text", value, "fix the column")
    return parsed


def is_own_record(record: Mapping[str, Any]) -> bool:
    """Whether a record's `data_source` is one of the benchmark's."""
    return "messages" in record and "total_index" in record and dataset_of(record.get("data_source")) is not None
