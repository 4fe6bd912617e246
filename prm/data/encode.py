"""From a trajectory to rows of token ids with sites: where each step, and the outcome, is read.

A site is the last token of a block's closing frame, so sites are known by construction: for any text and any tokenizer
there is exactly one for each step. The number is checked all the same, and a difference is an error, never a drop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from prm.data.budget import (
    MIN_BUDGET_TOKENS,
    BlockLength,
    Budget,
    Plan,
    Window,
    block_tokens,
    plan_elision,
    plan_windows,
)
from prm.data.label_account import LabelAccount
from prm.data.plain_text import PlainTextTokenizer, TokenIds
from prm.data.render import RENDERING_VERSION, Block, BlockKind, render
from prm.data.run_features import run_features
from prm.errors import LabelLossError, ModelError
from prm.types import LABELS, Probabilities, StepLabel, Trajectory

IGNORED = -100
"""Class id of an unknown label: no loss is taken there."""

_MARK = " … [{} tokens left out] … "
_LONGEST_MARK = _MARK.format(10**7 - 1)


def class_of(label: StepLabel | None) -> int:
    """The class id of a label: 0, 1, 2 for −1, 0, +1; `IGNORED` for an unknown one."""
    return IGNORED if label is None else LABELS.index(label)


@dataclass(frozen=True, slots=True)
class EncodingConfig:
    """What a checkpoint stores of how it reads a run, and what scoring must use again.

    Attributes:
        max_tokens: Tokens of one row.
        max_tool_tokens: Tokens that one tool result may keep; None = as many as fit.
        rendering: Version of the text form (`prm.data.render`).
    """

    max_tokens: int = 1536
    max_tool_tokens: int | None = None
    rendering: str = RENDERING_VERSION

    def __post_init__(self) -> None:
        if self.rendering != RENDERING_VERSION:
            raise ModelError(
                f"rendering: this version of prm writes rendering {RENDERING_VERSION!r}, got {self.rendering!r}; "
                "use the version of prm that trained the model"
            )
        Budget(self.max_tokens, self.max_tool_tokens)

    def as_record(self, plan: str) -> dict[str, Any]:
        """What a prediction record says under ``rendering``; `plan` is "whole" or "online"."""
        return {**asdict(self), "plan": plan}


@dataclass(frozen=True, slots=True)
class Site:
    """Where a step or the outcome is read.

    Attributes:
        position: Token position in the row, that of the block's last token.
        start: Token position of the block's first token.
        text_end: Token position of the last token before the closing frame.
        message_index: The step's message; None for the outcome.
        class_id: 0, 1, 2 for −1, 0, +1; `IGNORED` where unknown.
        soft_label: Probabilities to train on instead, or None.
        features: See `prm.data.run_features`.
    """

    position: int
    start: int
    text_end: int
    message_index: int | None
    class_id: int
    soft_label: Probabilities | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One forward pass of one trajectory (of a window of it).

    Attributes:
        input_ids: `[T] int32`.
        sites: The steps, and the outcome, that are trained and scored in this row.
    """

    input_ids: TokenIds
    sites: tuple[Site, ...]

    @property
    def labelled(self) -> int:
        """How many sites have a label."""
        return sum(site.class_id != IGNORED or site.soft_label is not None for site in self.sites)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A block as ids (opening, body, closing), and a step's run features."""

    block: Block
    opening: TokenIds
    body: TokenIds
    closing: TokenIds
    features: tuple[float, ...]

    @property
    def length(self) -> BlockLength:
        return BlockLength(self.block.kind, len(self.opening) + len(self.closing), len(self.body))


class Encoder:
    """Turns trajectories into rows for one tokenizer and one encoding."""

    def __init__(self, tokenizer: Any, config: EncodingConfig) -> None:
        self.config = config
        self._text = PlainTextTokenizer(tokenizer)
        self._fallback_id = next(
            (i for i in (tokenizer.unk_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) if i is not None),
            0,
        )
        self._frames: dict[str, TokenIds] = {}
        self._mark_tokens = len(self._text.encode([_LONGEST_MARK])[0])
        room = config.max_tokens - len(self._text.prefix_ids)
        self._budget = Budget(max(room, MIN_BUDGET_TOKENS), config.max_tool_tokens)

    @property
    def replaced_surrogates(self) -> int:
        """Lone surrogates replaced by U+FFFD so far."""
        return self._text.replaced_surrogates

    def encode(self, trajectory: Trajectory) -> list[Row]:
        """The rows of a run under one plan for the whole of it; usually one.

        Raises:
            LabelLossError: The sites are not exactly the steps and the outcome.
        """
        rows, _ = self.encode_with_account(trajectory)
        return rows

    def encode_online(self, trajectory: Trajectory) -> list[Row]:
        """The rows when each step's plan may look at the past alone, as a PRM that runs beside the agent must.

        Steps that see the same ids share a row; where room for a later step changed what is shown of the past, there
        is a row more. Each step, and the outcome, is scored in exactly one row.
        """
        blocks = self._tokenise(trajectory)
        ends = [i for i, tokens in enumerate(blocks) if tokens.block.kind in (BlockKind.STEP, BlockKind.OUTCOME)]
        plans = [self._plan(blocks[: end + 1]) for end in ends]
        rows: list[Row] = []
        while ends:
            # The longest prefix left, with every shorter one whose ids are a beginning of its ids.
            plan, windows = plans[-1]
            last = windows[-1]
            same = [k for k in range(len(ends)) if self._begins(plans[k], plans[-1], ends[k])]
            window = Window(last.blocks, tuple(ends[k] for k in same))
            rows.append(self._row(blocks, plan, window, trajectory))
            ends = [end for k, end in enumerate(ends) if k not in same]
            plans = [p for k, p in enumerate(plans) if k not in same]
        rows.reverse()
        self._refuse_lost_labels(rows, trajectory)
        return rows

    @staticmethod
    def _begins(shorter: tuple[Plan, list[Window]], longer: tuple[Plan, list[Window]], end: int) -> bool:
        """Whether the row that reads block `end` under `shorter` is a beginning of the row that ends `longer`."""
        short_plan, short_blocks = shorter[0], shorter[1][-1].blocks
        long_plan, long_blocks = longer[0], longer[1][-1].blocks
        return (
            short_blocks == long_blocks[: len(short_blocks)]
            and short_blocks[-1] == end
            and all(short_plan[i] == long_plan[i] for i in short_blocks)
        )

    def encode_with_account(self, trajectory: Trajectory) -> tuple[list[Row], LabelAccount]:
        """The rows of a run, and what became of its labels."""
        blocks = self._tokenise(trajectory)
        plan, windows = self._plan(blocks)
        rows = [self._row(blocks, plan, window, trajectory) for window in windows]
        self._refuse_lost_labels(rows, trajectory)
        return rows, _account(blocks, plan, windows, rows, trajectory)

    def account(self, trajectory: Trajectory) -> LabelAccount:
        """What the budget would do to a run's labels."""
        return self.encode_with_account(trajectory)[1]

    def _tokenise(self, trajectory: Trajectory) -> list[_Tokens]:
        blocks = render(trajectory)
        bodies = self._text.encode([block.body for block in blocks])
        features = iter(run_features(trajectory.messages))
        return [
            _Tokens(
                *(block, self._frame(block.opening), body, self._closing(block)),
                next(features) if block.kind in (BlockKind.STEP, BlockKind.OUTCOME) else (),
            )
            for block, body in zip(blocks, bodies, strict=True)
        ]

    def _frame(self, text: str) -> TokenIds:
        if text not in self._frames:
            self._frames[text] = self._text.encode([text])[0]
        return self._frames[text]

    def _closing(self, block: Block) -> TokenIds:
        ids = self._frame(block.closing)
        if len(ids) == 0 and block.kind in (BlockKind.STEP, BlockKind.OUTCOME):
            # A vocabulary without these characters and without an unknown token: the site needs a token all the same.
            return np.asarray([self._fallback_id], dtype=np.int32)
        return ids

    def _plan(self, blocks: Sequence[_Tokens]) -> tuple[Plan, list[Window]]:
        lengths = [tokens.length for tokens in blocks]
        plan = plan_elision(lengths, self._budget, self._mark_tokens)
        sizes = [block_tokens(length, kept, self._mark_tokens) for length, kept in zip(lengths, plan, strict=True)]
        kinds = [length.kind for length in lengths]
        return plan, plan_windows(kinds, sizes, self._budget.max_tokens)

    def _row(self, blocks: Sequence[_Tokens], plan: Plan, window: Window, trajectory: Trajectory) -> Row:
        parts = [np.asarray(self._text.prefix_ids, dtype=np.int32)]
        length = len(self._text.prefix_ids)
        sites = []
        scored = set(window.scored)
        for i in window.blocks:
            tokens = blocks[i]
            pieces = [tokens.opening, *self._body(tokens.body, plan[i]), tokens.closing]
            start, length = length, length + sum(len(piece) for piece in pieces)
            parts += pieces
            if i in scored:
                text_end = length - len(tokens.closing) - 1
                sites.append(_site(tokens, (start, text_end, length - 1), trajectory))
        ids = np.concatenate(parts)
        if len(ids) > max(self.config.max_tokens, MIN_BUDGET_TOKENS):
            raise ModelError(
                f"max_tokens: a step and its frame must fit the budget, got {len(ids)} tokens for a budget of "
                f"{self.config.max_tokens}; raise max_tokens"
            )
        return Row(ids, tuple(sites))

    def _body(self, ids: TokenIds, kept: int) -> list[TokenIds]:
        if kept >= len(ids):
            return [ids]
        mark = self._text.encode([_MARK.format(len(ids) - kept)])[0]
        # A mark that needs more tokens than were reserved takes them from the text.
        kept -= max(0, len(mark) - self._mark_tokens)
        tail = max(kept, 0) // 2
        return [ids[: max(kept, 0) - tail], mark, ids[len(ids) - tail :]]

    @staticmethod
    def _refuse_lost_labels(rows: Sequence[Row], trajectory: Trajectory) -> None:
        found = sorted(site.message_index for row in rows for site in row.sites if site.message_index is not None)
        wanted = [step.index for step in trajectory.steps]
        outcomes = sum(site.message_index is None for row in rows for site in row.sites)
        if found != wanted or outcomes != 1:
            raise LabelLossError(
                f"{':'.join(trajectory.key)}: every step must have one site, got {len(found)} sites for "
                f"{len(wanted)} steps; this is a fault of prm, please report it"
            )


def _site(tokens: _Tokens, places: tuple[int, int, int], trajectory: Trajectory) -> Site:
    start, text_end, position = places
    index = tokens.block.message_index
    if index is None:
        return Site(position, start, text_end, None, class_of(trajectory.final_label), None, tokens.features)
    soft = trajectory.step_label_probs.get(index)
    label = class_of(trajectory.step_labels.get(index))
    return Site(position, start, text_end, index, label, soft, tokens.features)


def _account(
    blocks: Sequence[_Tokens],
    plan: Plan,
    windows: Sequence[Window],
    rows: Sequence[Row],
    trajectory: Trajectory,
) -> LabelAccount:
    account = LabelAccount(rows=len(rows), longest_row=max(len(row.input_ids) for row in rows))
    labels = {index: label for index, label in trajectory.step_labels.items() if label is not None}
    account.labelled.update(str(label) for label in labels.values())
    read = {site.message_index for row in rows for site in row.sites}
    account.dropped.update(str(label) for index, label in labels.items() if index not in read)
    for number, window in enumerate(windows):
        for i in window.scored:
            _account_step(account, blocks[i], plan[i], labels, number)
    for tokens, kept in zip(blocks, plan, strict=True):
        account.tokens += tokens.length.frame + len(tokens.body)
        account.tokens_left_out += len(tokens.body) - kept
        if tokens.block.kind is BlockKind.TOOL:
            account.tool_results += 1
            account.tool_results_elided += kept < len(tokens.body)
    return account


def _account_step(
    account: LabelAccount, tokens: _Tokens, kept: int, labels: Mapping[int, StepLabel], window: int
) -> None:
    index = tokens.block.message_index
    if index is None or index not in labels:
        return
    name = str(labels[index])
    (account.kept if kept >= len(tokens.body) else account.elided)[name] += 1
    if window > 0:
        account.windowed[name] += 1
