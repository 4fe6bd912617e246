"""From rows to probabilities at their sites; shared by the step classifier and the evaluation inside training."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from prm.data.encode import Row
from prm.models.batching import batch_by_tokens, pad_rows
from prm.models.lower_states import LowerStates
from prm.types import LABELS, Prediction, Probabilities, Trajectory

FloatArray = npt.NDArray[np.float64]

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Shard:
    """This process's part of the batches: every `processes`-th, from `rank` on."""

    rank: int = 0
    processes: int = 1

    def share(self, batches: Sequence[list[int]]) -> Iterator[list[int]]:
        """This process's batches; as many on every process, the last ones empty where they do not divide evenly.

        All processes must call the model equally often, or FSDP and DDP hang.
        """
        rounds = -(-len(batches) // self.processes)
        for i in range(self.rank, rounds * self.processes, self.processes):
            yield batches[i] if i < len(batches) else []


ALONE = Shard()
"""The whole work, on one process."""


@torch.no_grad()
def site_probabilities(
    model: Any,
    rows: Sequence[Row],
    tokens_per_batch: int,
    pad_token_id: int,
    *,
    autocast: torch.dtype | None = None,
    shard: Shard = ALONE,
    lower: LowerStates | None = None,
) -> dict[int, FloatArray]:
    """Class probabilities at the sites of this process's rows.

    Args:
        model: A step classifier in evaluation mode, wrapped or not.
        rows: All rows; the batches do not depend on how many processes share them.
        tokens_per_batch: Padded tokens of a batch.
        pad_token_id: Any token id.
        autocast: Type of the backbone's arithmetic where it differs from its weights.
        shard: Which part is this process's.
        lower: What frozen lower layers gave for the rows; None = run the whole model.

    Returns:
        Row number → `[S, 3] float64`; only sites are kept, so memory does not grow with the vocabulary or the length.
    """
    device = next(model.parameters()).device
    context = torch.autocast(device.type, dtype=autocast) if autocast is not None else contextlib.nullcontext()
    found: dict[int, FloatArray] = {}
    for numbers in shard.share(batch_by_tokens([len(row.input_ids) for row in rows], tokens_per_batch)):
        batch = pad_rows([rows[i] for i in numbers], pad_token_id)
        with context:
            logits = model(**batch.model_inputs(device), **_lower_inputs(lower, numbers, device)).logits
        probabilities = logits.double().softmax(-1).cpu().numpy()
        ends = np.cumsum([0, *(len(rows[i].sites) for i in numbers)])
        for i, start, end in zip(numbers, ends[:-1], ends[1:], strict=True):
            found[i] = probabilities[start:end]
    return found


def _lower_inputs(lower: LowerStates | None, numbers: Sequence[int], device: torch.device) -> dict[str, Any]:
    if lower is None or not numbers:
        return {}
    return {"lower_states": lower.padded(numbers).to(device), "skipped_layers": lower.layers}


def predictions_of(
    trajectories: Sequence[Trajectory],
    rows: Sequence[tuple[int, Row]],
    probabilities: dict[int, FloatArray],
    finish: Callable[[Trajectory, dict[int | None, Probabilities]], Prediction],
) -> list[Prediction]:
    """Gathers the sites of all rows of each trajectory into its prediction, in the order of the trajectories."""
    sites: list[dict[int | None, Probabilities]] = [{} for _ in trajectories]
    for number, (owner, row) in enumerate(rows):
        for site, vector in zip(row.sites, probabilities[number], strict=True):
            sites[owner][site.message_index] = rounded(vector)
    return [finish(trajectory, found) for trajectory, found in zip(trajectories, sites, strict=True)]


def rounded(vector: FloatArray) -> Probabilities:
    """Three probabilities with six decimals that sum to 1 as closely as these allow."""
    negative, neutral = round(float(vector[0]), _DECIMALS), round(float(vector[1]), _DECIMALS)
    return (negative, neutral, round(max(0.0, 1.0 - negative - neutral), _DECIMALS))


def likeliest(probabilities: Probabilities) -> Any:
    """The label of the highest probability; of equals the lower label, so that a tie never praises."""
    return LABELS[max(range(len(LABELS)), key=lambda i: (probabilities[i], -i))]


def in_chunks(items: Iterable[Trajectory], size: int) -> Iterator[list[Trajectory]]:
    """Lists of `size` items in order, the last one shorter."""
    chunk: list[Trajectory] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
