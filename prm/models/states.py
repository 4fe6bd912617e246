"""Features of a frozen backbone at the sites, computed once, in memory or also in a folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from prm.data.encode import Row
from prm.models.batching import batch_by_tokens, pad_rows


@torch.no_grad()
def site_states(
    model: Any, rows: Sequence[Row], tokens_per_batch: int, pad_token_id: int, autocast: torch.dtype | None
) -> list[torch.Tensor]:
    """What the head reads of each row's sites: `[rows][S, F] float32`, on the CPU.

    A row's S·F floats stay in memory: 100,000 steps of a 576-wide model take 230 MB.
    """
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    states: list[torch.Tensor] = [torch.empty(0)] * len(rows)
    for numbers in batch_by_tokens([len(row.input_ids) for row in rows], tokens_per_batch):
        batch = pad_rows([rows[i] for i in numbers], pad_token_id)
        with _arithmetic(device, autocast):
            features = model.site_features(**batch.model_inputs(device))
        for i, part in zip(numbers, features.float().cpu().split([len(rows[i].sites) for i in numbers]), strict=True):
            states[i] = part.clone()
    model.train(training)
    return states


def _arithmetic(device: torch.device, autocast: torch.dtype | None) -> contextlib.AbstractContextManager[Any]:
    return torch.autocast(device.type, dtype=autocast) if autocast is not None else contextlib.nullcontext()


class StatesCache:
    """States on disk, one file for one backbone and reading; rows are found by the hash of what the model reads.

    Args:
        folder: Where the files are.
        identity: What the states depend on besides the row: backbone, reads, arithmetic.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:24]}.safetensors"
        self._known: dict[str, torch.Tensor] = load_file(self._path) if self._path.is_file() else {}

    def states(self, rows: Sequence[Row], compute: Any) -> list[torch.Tensor]:
        """The rows' states, `[rows][S, F]`; `compute(rows)` gives those that are not there yet, and they are kept."""
        keys = [_row_key(row) for row in rows]
        missing = [i for i, key in enumerate(keys) if key not in self._known]
        for i, state in zip(missing, compute([rows[i] for i in missing]), strict=True):
            self._known[keys[i]] = state
        if missing:
            self._save()
        return [self._known[key] for key in keys]

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_name(f".{self._path.name}.partial")
        save_file(self._known, partial)
        partial.replace(self._path)


def _row_key(row: Row) -> str:
    digest = hashlib.sha256(row.input_ids.tobytes())
    for site in row.sites:
        digest.update(f"{site.position} {site.start} {site.text_end} {site.features};".encode())
    return digest.hexdigest()[:32]
