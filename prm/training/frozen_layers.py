"""What frozen lower layers give for every row, computed once for all epochs where that pays."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from prm.data.encode import Row
from prm.models.batching import pad_rows
from prm.models.lower_states import LowerStates, Outputs, frozen_layers, goes_on_from_the_middle, lower_states
from prm.models.site_head import SiteForward
from prm.training.shared_options import is_sharded

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Passes:
    """How rows are passed through the model outside the training loop.

    Attributes:
        tokens_per_batch: Padded tokens of a batch.
        pad_token_id: Any token id.
        autocast: Arithmetic type where it differs from the weights'.
    """

    tokens_per_batch: int
    pad_token_id: int
    autocast: torch.dtype | None


def may_cache_lower_states(model: Any, training: Any, trainable_layers: int | None, lora_rank: int | None) -> bool:
    """Whether a cache can be used: lower layers frozen, one read at the top, whole weights on each process."""
    partly = bool(trainable_layers) and lora_rank is None
    spread = is_sharded(training) or bool(training.deepspeed)
    # Of step classifiers only those with a plain head read nothing in the middle.
    reads_the_top = isinstance(model, SiteForward) or model.get_output_embeddings() is not None
    return bool(training.cache_frozen_states) and partly and reads_the_top and not spread


def site_outputs(model: Any, row: Row, states: torch.Tensor | None, layers: int) -> torch.Tensor:
    """What a step classifier says of a row's sites, `[M, 3]`; an `Outputs`."""
    inputs = pad_rows([row], 0).model_inputs(next(model.parameters()).device)
    lower = {} if states is None else {"lower_states": states, "skipped_layers": layers}
    logits: torch.Tensor = model(**inputs, **lower).logits
    return logits


def lower_states_within(
    gib: float, model: Any, rows: Sequence[Row], passes: Passes, outputs: Outputs = site_outputs
) -> LowerStates | None:
    """The output of the frozen lower layers for every row.

    Args:
        gib: Memory that it may take, in 2³⁰ bytes.
        model: On the device that it computes on.
        rows: N rows.
        passes: How they are passed through it.
        outputs: What must be the same with the states as without.

    Returns:
        None where no layer is frozen, it would take more, or the model cannot go on from a middle layer.
    """
    layers = frozen_layers(model)
    size = sum(len(row.input_ids) for row in rows) * model.config.hidden_size * 4 / 2**30
    if layers == 0 or size > gib:
        _log.info("frozen layers are not cached: %d of them, %.1f GiB of %.1f", layers, size, gib)
        return None
    if not goes_on_from_the_middle(model, rows[0], layers, passes.pad_token_id, outputs):
        _log.info("frozen layers are not cached: %s cannot go on from a middle layer", type(model).__name__)
        return None
    _log.info("caching the output of %d frozen layers (%.1f GiB)", layers, size)
    return lower_states(model, rows, layers, passes.tokens_per_batch, passes.pad_token_id, passes.autocast)
