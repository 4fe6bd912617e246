"""Rows of a data set on the Hugging Face hub, or in a local folder that `datasets` can load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prm.data.readers.row import Record, Row, read_value_rows
from prm.errors import DownloadError, complaint

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(:[\w.-]+)?")


def is_hub_id(source: str) -> bool:
    """Whether a source that is not a file reads as ``owner/name`` or ``owner/name:config``."""
    no_file_name = not source.endswith((".jsonl", ".json"))
    return not Path(source).exists() and no_file_name and _HUB_ID.fullmatch(source) is not None


def split_hub_id(source: str) -> tuple[str, str | None]:
    """(repository, config or None) of ``owner/name[:config]``."""
    repository, _, config = source.partition(":")
    return repository, config or None


def read(source: str) -> Iterator[Row]:
    """The rows of a data set of trajectories: ``owner/name[:config]`` or a folder, every split in turn."""
    from prm.data.hub_dataset import is_own_row, record_of_row
    from prm.data.readers.agentprocessbench import record_of_hub_row

    def convert(row: Record, where: str) -> Record:
        return record_of_row(row, where) if is_own_row(row) else record_of_hub_row(row, where)

    repository, config = (source, None) if Path(source).is_dir() else split_hub_id(source)
    return read_value_rows(read_hub_rows(repository, config, None), convert)


def read_hub_rows(repository: str, config: str | None, split: str | None) -> Iterator[tuple[str, Any]]:
    """Yields (where, row) of one split, or of all of them.

    Raises:
        DownloadError: The data set cannot be reached or has no such config or split.
    """
    import datasets
    from datasets.exceptions import DatasetsError

    name = f"{repository}:{config}" if config else repository
    try:
        loaded = datasets.load_dataset(repository, config, split=split)
    except (OSError, ValueError, DatasetsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        rule = "data set must be on the Hugging Face hub, in the cache, or a local folder"
        raise DownloadError(
            complaint(name, rule, reason, "check the name and the connection, or give a file")
        ) from None
    splits = loaded if isinstance(loaded, datasets.DatasetDict) else {str(split): loaded}
    for split_name, rows in splits.items():
        for number, row in enumerate(rows):
            yield f"{name}[{split_name}][{number}]", row
