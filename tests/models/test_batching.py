"""Batches: budget kept, every row once, the same number of batches each epoch and on each rank."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prm.data.encode import Row, Site
from prm.data.run_features import FEATURES
from prm.models.batching import TokenBatchSampler, batch_by_tokens, pad_rows

_LENGTHS = st.lists(st.integers(1, 600), min_size=1, max_size=40)


def _row(length: int) -> Row:
    return Row(
        np.arange(length, dtype=np.int32), (Site(length - 1, 0, length - 1, 0, 1, None, (0.0,) * len(FEATURES)),)
    )


def test_rows_are_padded_on_the_right_and_sites_are_flat() -> None:
    batch = pad_rows([_row(2), _row(4)], pad_token_id=9)
    assert batch.input_ids.tolist() == [[0, 1, 9, 9], [0, 1, 2, 3]]
    assert batch.site_rows.tolist() == [0, 1]
    assert batch.site_positions.tolist() == [1, 3]


def test_a_batch_of_no_rows_is_one_pad_token_without_sites() -> None:
    batch = pad_rows([], pad_token_id=9)
    assert batch.input_ids.tolist() == [[9]]
    assert batch.site_rows.numel() == 0


@given(lengths=_LENGTHS, budget=st.integers(1, 2000))
def test_batches_hold_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = batch_by_tokens(lengths, budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


@given(lengths=_LENGTHS, budget=st.integers(1, 2000), processes=st.integers(1, 4), seed=st.integers(0, 3))
def test_every_rank_gets_as_many_batches_and_no_row_twice(
    lengths: list[int], budget: int, processes: int, seed: int
) -> None:
    samplers = [TokenBatchSampler(lengths, budget, seed, rank, processes) for rank in range(processes)]
    for epoch in (0, 1, 5):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        batches = [list(sampler) for sampler in samplers]
        assert {len(part) for part in batches} == {len(samplers[0])}
        read = [i for part in batches for batch in part for i in batch]
        assert sorted(read) == list(range(len(lengths)))
        for batch in (batch for part in batches for batch in part if len(batch) > 1):
            assert len(batch) * max(lengths[i] for i in batch) <= budget


def test_epochs_differ_and_the_same_epoch_is_the_same() -> None:
    sampler = TokenBatchSampler([100] * 50, 400, 0, 0, 1)
    first, again = list(sampler), list(sampler)
    sampler.set_epoch(1)
    assert first == again != list(sampler)


def test_two_ranks_read_what_one_process_reads_in_the_same_order() -> None:
    lengths = list(range(10, 210, 5))
    whole = list(TokenBatchSampler(lengths, 500, 0, 0, 1))
    ranks = [list(TokenBatchSampler(lengths, 500, 0, rank, 2)) for rank in (0, 1)]
    woven = [batch for pair in zip(*ranks, strict=True) for batch in pair]
    assert woven[: len(whole)] == whole
    assert woven[len(whole) :] in ([], [[]])
