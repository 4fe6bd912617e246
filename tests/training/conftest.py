"""A tiny backbone and tiny labelled files, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from tests.tiny import make_run, save_llama


@pytest.fixture(scope="session")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A three-layer Llama with a byte-level tokenizer."""
    return save_llama(tmp_path_factory.mktemp("backbone"))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.jsonl (60 runs), validation.jsonl (20), nine.jsonl, one.jsonl."""
    folder = tmp_path_factory.mktemp("data")
    parts = {"train": range(60), "validation": range(100, 120), "nine": range(200, 209), "one": range(300, 301)}
    for name, numbers in parts.items():
        runs = (make_run(i, steps=1 + i % 4) for i in numbers)
        write_jsonl(folder / f"{name}.jsonl", (dump_trajectory(run) for run in runs))
    return folder
