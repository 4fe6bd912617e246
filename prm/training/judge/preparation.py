"""What is computed once before a judge is trained on its rows: the output of frozen layers, and the calibration."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from prm.data.encode import Row
from prm.models.judge.calibration import Calibration
from prm.models.layers import layers_only
from prm.models.lower_states import LowerStates
from prm.models.shared_prefix.calling import core_of, device_of, evaluating, logits_at
from prm.training.frozen_layers import Passes, lower_states_within, may_cache_lower_states
from prm.training.judge.examples import JudgeRow
from prm.training.judge.options import JudgeModelOptions, JudgeSftArguments
from prm.training.shared_options import autocast_dtype

_CALIBRATION_ROWS = 16


def lower_states_of(
    model: Any, rows: Sequence[JudgeRow], choice: JudgeModelOptions, training: JudgeSftArguments, pad_token_id: int
) -> LowerStates | None:
    """The output of the frozen lower layers for every row; None where that does not pay, or the model cannot."""
    mine: Any = training
    repeated = mine.num_train_epochs > 1 and mine.max_steps < 0
    if not (repeated and may_cache_lower_states(model, training, choice.trainable_layers, choice.lora_rank)):
        return None
    model.to(mine.device)
    whole = [Row(np.array(row.input_ids, dtype=np.int32), ()) for row in rows]
    passes = Passes(training.eval_tokens_per_batch, pad_token_id, autocast_dtype(training))
    return lower_states_within(training.cache_gib, model, whole, passes, _last_logits)


@torch.no_grad()
def mean_calibration(
    model: Any,
    rows: Sequence[JudgeRow],
    verdict_ids: Sequence[int],
    training: JudgeSftArguments,
    lower: LowerStates | None = None,
) -> Calibration:
    """The bias that makes the untrained model's mean logits of the three verdicts equal; labels are not looked at.

    Args:
        model: The model before training.
        rows: Of compact answers; the first 16 are read.
        verdict_ids: The tokens of −1, 0, +1.
        training: Says the temperature, the device and the arithmetic.
        lower: The output of the frozen layers for the rows, where there is one.
    """
    mine: Any = training
    model.to(mine.device)
    kind = autocast_dtype(training)
    arithmetic = torch.autocast(mine.device.type, dtype=kind) if kind is not None else contextlib.nullcontext()
    found = []
    with evaluating(model), arithmetic:
        for number, row in enumerate(rows[:_CALIBRATION_ROWS]):
            positions = torch.tensor(row.answer_positions, device=device_of(model))
            if lower is None:
                logits = logits_at(model, positions, input_ids=_ids(row.input_ids, model), use_cache=False)
            else:
                states = lower.padded([number]).to(positions.device, model.dtype)
                logits = upper_logits(model, positions, states, lower.layers)
            found.append(logits[0][:, list(verdict_ids)].float())
    minus, neutral, plus = torch.cat(found).mean(0).tolist()
    return Calibration(training.verdict_temperature, (minus, neutral, plus))


def upper_logits(model: Any, positions: torch.Tensor, states: torch.Tensor, layers: int) -> torch.Tensor:
    """The logits of some positions by the layers above the first `layers`.

    Args:
        model: A causal model, wrapped or not.
        positions: `[M] int64`.
        states: `[B, T, H]`, the output of the first layers.
        layers: How many these are.

    Returns:
        `[B, M, V]`.
    """
    with layers_only(core_of(model), slice(layers, None)):
        return logits_at(model, positions, inputs_embeds=states, use_cache=False)


def _last_logits(model: Any, row: Row, states: torch.Tensor | None, layers: int) -> torch.Tensor:
    """What a causal model says after a row, `[1, 1, V]`; a `prm.models.lower_states.Outputs`."""
    positions = torch.tensor([len(row.input_ids) - 1], device=device_of(model))
    if states is not None:
        return upper_logits(model, positions, states, layers)
    return logits_at(model, positions, input_ids=_ids(row.input_ids, model), use_cache=False)


def _ids(ids: Any, model: Any) -> torch.Tensor:
    """`[1, T] int64`."""
    return torch.tensor(ids, dtype=torch.int64, device=device_of(model))[None]
