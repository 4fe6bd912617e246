"""What a token budget keeps: an elision plan and, where that is not enough, windows. Made from lengths only.

Nothing here sees a token or a label, so the plan cannot prefer a class, and two runs of the same lengths get the same
plan. The order in which text is given up is `_PHASES`: the middle of tool outputs first, then more of the older ones,
step text last. What still does not fit is cut into overlapping windows at step borders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prm.data.render import BlockKind
from prm.errors import ConfigError

MIN_BUDGET_TOKENS = 256
"""Below this not even a bare step and its frame are sure to fit."""

_RECENT_RESULTS = 2
_SITES = (BlockKind.STEP, BlockKind.OUTCOME)


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens a row may have.

    Attributes:
        max_tokens: Tokens of one row, BOS included.
        max_tool_tokens: Tokens that any one tool result may keep even where the row has room; None = all.
    """

    max_tokens: int = 1536
    max_tool_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < MIN_BUDGET_TOKENS:
            raise ConfigError.at("max_tokens", f"must be at least {MIN_BUDGET_TOKENS}", self.max_tokens, "raise it")
        if self.max_tool_tokens is not None and self.max_tool_tokens < 1:
            raise ConfigError.at("max_tool_tokens", "must be at least 1", self.max_tool_tokens, "raise or drop it")


@dataclass(frozen=True, slots=True)
class BlockLength:
    """Token counts of one block: `frame` (opening + closing, never cut) and `body`."""

    kind: BlockKind
    frame: int
    body: int


Plan: TypeAlias = tuple[int, ...]
"""Body tokens kept of each block; a block's own body length means that all is kept."""


@dataclass(frozen=True, slots=True)
class Window:
    """One row of a run.

    Attributes:
        blocks: Indices of the blocks it shows, in reading order.
        scored: Indices of the step and outcome blocks that are trained and scored here.
    """

    blocks: tuple[int, ...]
    scored: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Phase:
    chosen: Callable[[BlockKind, bool], bool]
    floor_tokens: int


_PHASES = (
    _Phase(lambda kind, recent: kind is BlockKind.TOOL, 256),
    _Phase(lambda kind, recent: kind is BlockKind.TOOL and not recent, 64),
    _Phase(lambda kind, recent: kind is BlockKind.TOOL, 64),
    _Phase(lambda kind, recent: kind in (BlockKind.PREAMBLE, BlockKind.USER), 96),
    _Phase(lambda kind, recent: kind is BlockKind.TOOL, 16),
    _Phase(lambda kind, recent: kind is BlockKind.STEP, 64),
    _Phase(lambda kind, recent: kind is not BlockKind.STEP, 16),
)


def plan_elision(lengths: Sequence[BlockLength], budget: Budget, marker_tokens: int) -> Plan:
    """How many body tokens each block keeps so that the row fits, or every floor where it cannot.

    Args:
        lengths: The blocks' token counts in reading order.
        budget: The row's limits; `max_tokens` counts everything that is in the row.
        marker_tokens: Tokens reserved for the mark that stands where text was left out.
    """
    caps = [_first_cap(length, budget) for length in lengths]
    tools = [i for i, length in enumerate(lengths) if length.kind is BlockKind.TOOL]
    recent = set(tools[-_RECENT_RESULTS:])
    for phase in _PHASES:
        if _total(lengths, caps, marker_tokens) <= budget.max_tokens:
            break
        chosen = [i for i, length in enumerate(lengths) if phase.chosen(length.kind, i in recent)]
        caps = _lower(lengths, caps, chosen, phase.floor_tokens, budget.max_tokens, marker_tokens)
    return tuple(_kept(length.body, cap, marker_tokens) for length, cap in zip(lengths, caps, strict=True))


def block_tokens(length: BlockLength, kept: int, marker_tokens: int) -> int:
    """Tokens of a block of which `kept` body tokens stay."""
    return length.frame + (length.body if kept >= length.body else kept + marker_tokens)


def _first_cap(length: BlockLength, budget: Budget) -> int:
    if length.kind is BlockKind.TOOL and budget.max_tool_tokens is not None:
        return budget.max_tool_tokens
    return length.body


def _kept(body: int, cap: int, marker_tokens: int) -> int:
    """Cutting a body to save less than its mark costs is no saving: it stays whole."""
    return body if body <= cap + marker_tokens else cap


def _total(lengths: Sequence[BlockLength], caps: Sequence[int], marker_tokens: int) -> int:
    return sum(length.frame + min(length.body, cap + marker_tokens) for length, cap in zip(lengths, caps, strict=True))


def _lower(
    lengths: Sequence[BlockLength],
    caps: list[int],
    chosen: list[int],
    floor: int,
    max_tokens: int,
    marker: int,
) -> list[int]:
    """Lowers the chosen caps to one common level: the highest that fits, or the floor."""

    def at_level(level: int) -> list[int]:
        lowered = list(caps)
        for i in chosen:
            lowered[i] = min(caps[i], level)
        return lowered

    low, high = floor, max([floor, *(caps[i] for i in chosen)])
    if _total(lengths, at_level(low), marker) > max_tokens:
        return at_level(low)
    while low < high:
        middle = (low + high + 1) // 2
        if _total(lengths, at_level(middle), marker) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return at_level(low)


def plan_windows(kinds: Sequence[BlockKind], tokens: Sequence[int], max_tokens: int) -> list[Window]:
    """Cuts a run into rows of at most `max_tokens`, each step scored in exactly one of them.

    Every row begins with what stands before the first step (as far as a third of the budget holds it), then as much of
    the past as half of the rest holds, then new steps. A row ends at a step border.

    Args:
        kinds: The blocks' kinds; tokens: their lengths under the elision plan, `[blocks]`.
        max_tokens: The row's limit.
    """
    if sum(tokens) <= max_tokens:
        scored = tuple(i for i, kind in enumerate(kinds) if kind in _SITES)
        return [Window(tuple(range(len(kinds))), scored)]
    pinned = _pinned(kinds, tokens, max_tokens // 3)
    room = max_tokens - sum(tokens[i] for i in pinned)
    windows: list[Window] = []
    shown: list[int] = []
    new: list[int] = []
    for chunk in _chunks(kinds, tokens, len(pinned), room):
        if new and _size(tokens, [*shown, *new, *chunk]) > room:
            windows.append(_window(kinds, pinned, shown, new))
            shown = _suffix([*shown, *new], tokens, min(room // 2, room - _size(tokens, chunk)))
            new = []
        new += chunk
    windows.append(_window(kinds, pinned, shown, new))
    return windows


def _size(tokens: Sequence[int], blocks: Sequence[int]) -> int:
    return sum(tokens[i] for i in blocks)


def _window(kinds: Sequence[BlockKind], pinned: list[int], shown: list[int], new: list[int]) -> Window:
    return Window((*pinned, *shown, *new), tuple(i for i in new if kinds[i] in _SITES))


def _pinned(kinds: Sequence[BlockKind], tokens: Sequence[int], room: int) -> list[int]:
    pinned: list[int] = []
    for i, kind in enumerate(kinds):
        if kind in _SITES or _size(tokens, [*pinned, i]) > room:
            break
        pinned.append(i)
    return pinned


def _chunks(kinds: Sequence[BlockKind], tokens: Sequence[int], start: int, room: int) -> list[list[int]]:
    """The blocks from `start` up to each site; of what stands before a site the newest that fits the room."""
    chunks, before = [], list[int]()
    for i in range(start, len(kinds)):
        if kinds[i] in _SITES:
            chunks.append([*_suffix(before, tokens, room - tokens[i]), i])
            before = []
        else:
            before.append(i)
    return chunks


def _suffix(blocks: Sequence[int], tokens: Sequence[int], room: int) -> list[int]:
    """The longest run of last blocks that fits the room."""
    taken = 0
    for count, i in enumerate(reversed(blocks)):
        taken += tokens[i]
        if taken > room:
            return list(blocks[len(blocks) - count :])
    return list(blocks)
