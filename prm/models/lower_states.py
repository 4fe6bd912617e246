"""The output of the frozen lower layers, computed once for each row and used again in every epoch.

With the first 12 of 18 layers frozen, an epoch on cached states costs 18 layer passes a token instead of 30 (a trained
layer costs three). Whether a model can go on from the middle is tried out, not assumed: where its result differs, the
caller trains without the cache.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from prm.data.encode import Row
from prm.models.batching import batch_by_tokens, pad_rows
from prm.models.layers import layers_of, layers_only
from prm.models.memory import trim_heap

Outputs: TypeAlias = Callable[[Any, Row, torch.Tensor | None, int], torch.Tensor]
"""(model, row, the states `[1, T, H]` of its first layers, how many layers these are) → what the model says of the row.

Without states, and with 0 layers, the whole model is run.
"""

_TOLERANCE = 1e-3
_COARSE_TOLERANCE = 5e-2
"""For weights of 16 bits, where the order of a sum already shows."""


def frozen_layers(model: Any) -> int:
    """How many of the lowest layers, embeddings included, have nothing to train and no dropout."""
    layers = layers_of(model.base_model, model.config.num_hidden_layers)
    inside = {id(module) for layer in layers for module in layer.modules()}
    if any(p.requires_grad for p in model.base_model.get_input_embeddings().parameters()):
        return 0
    if any(_drops(module) for module in model.base_model.modules() if id(module) not in inside):
        return 0
    count = 0
    for layer in layers:
        if any(p.requires_grad for p in layer.parameters()) or any(_drops(module) for module in layer.modules()):
            break
        count += 1
    return count


def _drops(module: nn.Module) -> bool:
    return isinstance(module, nn.Dropout) and module.p > 0


@dataclass(frozen=True, slots=True)
class LowerStates:
    """The output of the first `layers` layers: `states` is `[rows][T_i, H] float32`, on the CPU."""

    states: Sequence[torch.Tensor]
    layers: int

    def padded(self, numbers: Sequence[int]) -> torch.Tensor:
        """Those of some rows, `[B, T, H]`, zeros on the right."""
        return nn.utils.rnn.pad_sequence([self.states[i] for i in numbers], batch_first=True)


@torch.no_grad()
def lower_states(
    model: Any, rows: Sequence[Row], count: int, tokens_per_batch: int, pad_token_id: int, autocast: torch.dtype | None
) -> LowerStates:
    """The raw output of layer `count` for every token of the rows."""
    device = next(model.parameters()).device
    arithmetic = torch.autocast(device.type, dtype=autocast) if autocast else contextlib.nullcontext()
    states: list[torch.Tensor] = [torch.empty(0)] * len(rows)
    last = layers_of(model.base_model, model.config.num_hidden_layers)[count - 1]
    found: list[torch.Tensor] = []
    handle = last.register_forward_hook(
        lambda module, inputs, output: found.append(output[0] if isinstance(output, tuple) else output)
    )
    try:
        with layers_only(model, slice(0, count)), arithmetic:
            for numbers in batch_by_tokens([len(row.input_ids) for row in rows], tokens_per_batch):
                model.base_model(
                    input_ids=pad_rows([rows[i] for i in numbers], pad_token_id).input_ids.to(device), use_cache=False
                )
                hidden = found.pop().float().cpu()
                for place, i in enumerate(numbers):
                    states[i] = hidden[place, : len(rows[i].input_ids)].clone()
    finally:
        handle.remove()
        trim_heap()
    return LowerStates(states, count)


@torch.no_grad()
def goes_on_from_the_middle(model: Any, row: Row, count: int, pad_token_id: int, outputs: Outputs) -> bool:
    """Whether the layers above `count` on that layer's output give what the whole model gives.

    They do not where a backbone scales its embeddings, adds positions to them, or mixes kinds of layers by number.

    Args:
        model: In any mode; it is run in evaluation.
        row: What it is tried on.
        count: How many layers are left out.
        pad_token_id: Any token id.
        outputs: What is compared.
    """
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    state = lower_states(model, [row], count, len(row.input_ids), pad_token_id, None).padded([0])
    whole = outputs(model, row, None, 0)
    upper = outputs(model, row, state.to(device, model.dtype), count)
    model.train(training)
    tolerance = _TOLERANCE if model.dtype == torch.float32 else _COARSE_TOLERANCE
    return bool(torch.allclose(whole, upper, atol=tolerance, rtol=tolerance))
