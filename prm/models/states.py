"""Features of a frozen backbone at the sites, computed once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

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
    context = torch.autocast(device.type, dtype=autocast) if autocast is not None else contextlib.nullcontext()
    training = model.training
    model.eval()
    states: list[torch.Tensor] = [torch.empty(0)] * len(rows)
    for numbers in batch_by_tokens([len(row.input_ids) for row in rows], tokens_per_batch):
        batch = pad_rows([rows[i] for i in numbers], pad_token_id)
        with context:
            features = model.site_features(**batch.model_inputs(device))
        for i, part in zip(numbers, features.float().cpu().split([len(rows[i].sites) for i in numbers]), strict=True):
            states[i] = part.clone()
    model.train(training)
    return states
