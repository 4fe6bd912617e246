"""Raw rows of a data set on the Hugging Face hub, or in a local folder that `datasets` can load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
