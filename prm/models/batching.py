"""Rows into batches of a token budget: rows of similar length together, padded on the right.

Right padding under a causal model never reaches a site, so no attention mask is made, scores do not depend on what
else is in the batch, and a pad token that also occurs in the text does no harm. Batches were measured to beat packing
on CPU (`scripts/bench.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from prm.data.encode import Row
from prm.data.run_features import FEATURES

_BUCKET_RATIO = 1.15
"""Rows whose lengths differ by less than this are shuffled among each other from epoch to epoch."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded rows and their sites, flat over the batch (M sites in all).

    Attributes:
        input_ids: `[B, T] int64`.
        site_rows: `[M] int64`, the row of each site.
        site_positions: `[M] int64`, its token position.
        site_starts: `[M] int64`, the first token of its block.
        site_texts: `[M] int64`, the last token before its closing frame.
        site_extras: `[M, E] float32`, its run features (`prm.data.run_features`).
    """

    input_ids: torch.Tensor
    site_rows: torch.Tensor
    site_positions: torch.Tensor
    site_starts: torch.Tensor
    site_texts: torch.Tensor
    site_extras: torch.Tensor

    def model_inputs(self, device: torch.device) -> dict[str, torch.Tensor]:
        """The arguments of a step classifier's forward, on `device`."""
        return {name: getattr(self, name).to(device, non_blocking=True) for name in self.__slots__}


def pad_rows(rows: Sequence[Row], pad_token_id: int) -> Batch:
    """One batch of the rows, in their order; a batch of no rows gets one row of one pad token and no site."""
    width = max((len(row.input_ids) for row in rows), default=1)
    input_ids = np.full((max(len(rows), 1), width), pad_token_id, dtype=np.int64)
    for number, row in enumerate(rows):
        input_ids[number, : len(row.input_ids)] = row.input_ids
    sites = [(number, site) for number, row in enumerate(rows) for site in row.sites]
    places = [(number, site.position, site.start, site.text_end) for number, site in sites]
    table = torch.tensor(places, dtype=torch.int64).reshape(-1, 4)
    extras = torch.tensor([site.features for _, site in sites], dtype=torch.float32).reshape(-1, len(FEATURES))
    owner, position, start, text = table.unbind(-1)
    return Batch(torch.from_numpy(input_ids), owner, position, start, text, extras)


def batch_by_tokens(lengths: Sequence[int], tokens_per_batch: int) -> list[list[int]]:
    """Row numbers in batches, longest rows first, each batch at most `tokens_per_batch` after padding.

    A row that alone exceeds the budget is a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    return _cut(order, lengths, tokens_per_batch)


def _cut(order: Sequence[int], bounds: Sequence[int], tokens_per_batch: int) -> list[list[int]]:
    """Cuts an order of falling bounds into batches whose first bound times size stays in the budget."""
    batches: list[list[int]] = []
    for i in order:
        if batches and bounds[batches[-1][0]] * (len(batches[-1]) + 1) <= tokens_per_batch:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


class TokenBatchSampler:
    """Batches of row numbers for training: new ones each epoch, the same number of them in each.

    Rows are shuffled inside buckets of similar length, cut into batches by the bucket's upper length, and the batches
    are shuffled. Batch `i * processes + rank` goes to `rank`, so that the update of several processes is the update of
    one with as many accumulation steps. Where batches do not divide evenly the last ranks get an empty one: no row is
    read twice and none is left out.

    Args:
        lengths: Tokens of each row, `[rows]`.
        tokens_per_batch: Padded tokens of one batch at most.
        seed: With the epoch it fixes the order.
        rank: This process; processes: how many there are.
    """

    def __init__(self, lengths: Sequence[int], tokens_per_batch: int, seed: int, rank: int, processes: int) -> None:
        self._bounds = [_bucket_bound(length) for length in lengths]
        self._tokens = tokens_per_batch
        self._seed = seed
        self._rank = rank
        self._processes = processes
        self._epoch = 0
        self._count = len(batch_by_tokens(self._bounds, tokens_per_batch))

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch whose order the next iteration gives."""
        self._epoch = epoch

    def __len__(self) -> int:
        return math.ceil(self._count / self._processes)

    def __iter__(self) -> Iterator[list[int]]:
        batches = self._batches_of_epoch()
        for i in range(self._rank, len(self) * self._processes, self._processes):
            yield batches[i] if i < len(batches) else []

    def _batches_of_epoch(self) -> list[list[int]]:
        random = np.random.default_rng([self._seed, self._epoch])
        shuffled = random.permutation(len(self._bounds))
        order = sorted((int(i) for i in shuffled), key=lambda i: -self._bounds[i])
        batches = _cut(order, self._bounds, self._tokens)
        return [batches[i] for i in random.permutation(len(batches))]


def _bucket_bound(length: int) -> int:
    """The upper length of a row's bucket; a power of `_BUCKET_RATIO`."""
    return math.ceil(_BUCKET_RATIO ** math.ceil(math.log(max(length, 1)) / math.log(_BUCKET_RATIO) - 1e-9))
