"""Features of a frozen backbone at the sites, computed once, in memory or also in a folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors.torch import load_file, save_file

from prm.data.encode import Row
from prm.models.batching import batch_by_tokens, pad_rows

Compute: TypeAlias = Callable[[Sequence[Row]], Sequence[Sequence[torch.Tensor]]]


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
    """States on disk, one file for each thing that is read of one backbone; rows are found by a hash of what is read.

    Models that read different layers of the same frozen backbone share the files.

    Args:
        folder: Where the files are.
        backbone: What the states depend on besides row and read: weights and arithmetic; see `backbone_identity`.
    """

    def __init__(self, folder: Path, backbone: str) -> None:
        self._folder = folder
        self._backbone = backbone

    def states(self, blocks: Sequence[str], rows: Sequence[Row], compute: Compute) -> list[torch.Tensor]:
        """The rows' states, `[rows][S, F]`.

        Args:
            blocks: Names of what the model reads, in the order of its features.
            rows: The rows.
            compute: Gives, for rows that are not there yet, the states of each block: `[rows][blocks][S, F_b]`.
        """
        known = {block: self._load(block) for block in blocks}
        keys = [_row_key(row) for row in rows]
        missing = [i for i, key in enumerate(keys) if any(key not in part for part in known.values())]
        for i, parts in zip(missing, compute([rows[i] for i in missing]), strict=True):
            for block, part in zip(blocks, parts, strict=True):
                known[block][keys[i]] = part.contiguous()
        if missing:
            for block in blocks:
                self._save(block, known[block])
        return [torch.cat([known[block][key] for block in blocks], dim=-1) for key in keys]

    def _path(self, block: str) -> Path:
        digest = hashlib.sha256(f"{self._backbone} {block}".encode()).hexdigest()[:24]
        return self._folder / f"{digest}.safetensors"

    def _load(self, block: str) -> dict[str, torch.Tensor]:
        path = self._path(block)
        return load_file(path) if path.is_file() else {}

    def _save(self, block: str, states: dict[str, torch.Tensor]) -> None:
        path = self._path(block)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        save_file(states, partial)
        partial.replace(path)


def backbone_identity(backbone: str, dtype: torch.dtype, autocast: torch.dtype | None) -> str:
    """Names a frozen backbone and its arithmetic."""
    return f"{backbone} {dtype} {autocast}"


def cached_site_states(
    model: Any,
    rows: Sequence[Row],
    tokens_per_batch: int,
    pad_token_id: int,
    autocast: torch.dtype | None,
    cache: StatesCache,
) -> list[torch.Tensor]:
    """`site_states`, of which those that the cache holds are not computed again."""
    blocks = model.feature_blocks

    def compute(missing: Sequence[Row]) -> list[list[torch.Tensor]]:
        states = site_states(model, missing, tokens_per_batch, pad_token_id, autocast)
        widths = [width for _, width in blocks]
        return [list(torch.split(state, widths, dim=-1)) for state in states]

    return cache.states([name for name, _ in blocks], rows, compute)


def _row_key(row: Row) -> str:
    digest = hashlib.sha256(row.input_ids.tobytes())
    for site in row.sites:
        digest.update(f"{site.position} {site.start} {site.text_end} {site.features};".encode())
    return digest.hexdigest()[:32]
