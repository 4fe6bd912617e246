"""Elision and windows, from lengths alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.budget import BlockLength, Budget, block_tokens, plan_elision, plan_windows
from prm.data.render import BlockKind
from prm.errors import ConfigError

_MARK = 10
_KINDS = [BlockKind.PREAMBLE, BlockKind.USER, BlockKind.TOOL, BlockKind.STEP]
_LENGTHS = st.lists(
    st.builds(BlockLength, st.sampled_from(_KINDS), st.integers(1, 12), st.integers(0, 900)), max_size=25
).map(lambda blocks: [*blocks, BlockLength(BlockKind.OUTCOME, 6, 0)])


def _tool(body: int) -> BlockLength:
    return BlockLength(BlockKind.TOOL, 4, body)


def _step(body: int) -> BlockLength:
    return BlockLength(BlockKind.STEP, 6, body)


def test_what_fits_is_kept_whole() -> None:
    assert plan_elision([_step(50), _tool(100), _step(20)], Budget(256), _MARK) == (50, 100, 20)


def test_a_tool_result_gives_way_and_the_row_is_filled() -> None:
    lengths = [_step(50), _tool(1000), _step(20)]
    plan = plan_elision(lengths, Budget(512), _MARK)
    assert plan == (50, 512 - 16 - 70 - 10, 20)
    assert sum(block_tokens(length, kept, _MARK) for length, kept in zip(lengths, plan, strict=True)) == 512


def test_a_cap_holds_even_where_there_is_room() -> None:
    assert plan_elision([_step(5), _tool(100)], Budget(1536, 40), _MARK) == (5, 40)


def test_a_cut_that_saves_less_than_its_mark_is_not_made() -> None:
    assert plan_elision([_tool(45)], Budget(1536, 40), _MARK) == (45,)


@given(lengths=_LENGTHS, max_tokens=st.integers(256, 2000))
def test_step_text_is_cut_only_when_all_tool_results_are_at_their_floor(
    lengths: list[BlockLength], max_tokens: int
) -> None:
    plan = plan_elision(lengths, Budget(max_tokens), _MARK)
    cut_steps = any(
        kept < length.body for kept, length in zip(plan, lengths, strict=True) if length.kind is BlockKind.STEP
    )
    if cut_steps:
        tools = [kept for kept, length in zip(plan, lengths, strict=True) if length.kind is BlockKind.TOOL]
        assert all(kept <= 16 + _MARK for kept in tools)


@given(lengths=_LENGTHS, max_tokens=st.integers(256, 2000))
def test_windows_fit_and_score_every_site_once(lengths: list[BlockLength], max_tokens: int) -> None:
    plan = plan_elision(lengths, Budget(max_tokens), _MARK)
    tokens = [block_tokens(length, kept, _MARK) for length, kept in zip(lengths, plan, strict=True)]
    kinds = [length.kind for length in lengths]
    windows = plan_windows(kinds, tokens, max_tokens)
    scored = [i for window in windows for i in window.scored]
    assert scored == [i for i, kind in enumerate(kinds) if kind in (BlockKind.STEP, BlockKind.OUTCOME)]
    for window in windows:
        assert sum(tokens[i] for i in window.blocks) <= max_tokens
        assert list(window.blocks) == sorted(set(window.blocks))
        assert set(window.scored) <= set(window.blocks)


def test_budgets_too_small_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_tool_tokens: must be at least 1, got 0"):
        Budget(1536, 0)
