"""Small records for the tests of the data layer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def make_record() -> Callable[..., dict[str, Any]]:
    """A record of a run with one user message and a step for each label; keywords set or replace keys."""

    def make(*labels: Any, query: Any = 0, sample: Any = 0, **keys: Any) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"question {query}"}]
        messages += [{"role": "assistant", "content": f"step {query} {sample} {i}"} for i in range(len(labels))]
        return {
            "data_source": "shop",
            "query_index": query,
            "sample_index": sample,
            "messages": messages,
            "step_labels": {str(i): label for i, label in enumerate(labels, start=1)},
            "final_label": 1,
            **keys,
        }

    return make


@pytest.fixture(scope="session")
def write_lines() -> Callable[..., Path]:
    """Writes records as JSONL and returns the path."""

    def write(path: Path, records: Any) -> Path:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return write
