"""Trajectories of a data set on the Hugging Face hub, or in a local folder that `datasets` can load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prm.data.readers.agentprocessbench import record_of_hub_row
from prm.data.readers.hub_rows import read_hub_rows, split_hub_id
from prm.data.readers.row import Record, Row, read_value_rows


def read(source: str) -> Iterator[Row]:
    """The rows of a data set of trajectories: ``owner/name[:config]`` or a folder, every split in turn."""
    from prm.data.hub_dataset import is_own_row, record_of_row

    def convert(row: Record, where: str) -> Record:
        return record_of_row(row, where) if is_own_row(row) else record_of_hub_row(row, where)

    repository, config = (source, None) if Path(source).is_dir() else split_hub_id(source)
    return read_value_rows(read_hub_rows(repository, config, None), convert)
