"""Labels → the text of an answer, and the frame of a compact answer as token ids.

A compact answer is one line, ``1:+ 2:0 3:- final:+``: the steps' numbers from 1, then the outcome. The words for the
three verdicts depend on the tokenizer: many spend one token on ``:-`` and two on ``:+``, so that the length of an
answer would tell its labels. Taken are the first words that are one token each wherever a verdict stands, which also
makes all answers of one run equally long: what lies between the verdicts can be forced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from prm.data.plain_text import PlainTextTokenizer
from prm.errors import ModelError
from prm.models.judge.calibration import UNCALIBRATED, Calibration
from prm.models.judge.chat import end_of_turn_ids
from prm.types import LABELS, StepLabel

AnswerFormat: TypeAlias = Literal["compact", "json"]
"""``compact``: one line of verdicts (small models, RL). ``json``: reasoning, then an object with reasons."""

VerdictWords: TypeAlias = tuple[str, str, str]
"""The words for −1, 0, +1, each with the space before it where it has one."""

WORDS: tuple[VerdictWords, ...] = (
    ("-", "0", "+"),
    (" -", " 0", " +"),
    (" bad", " neutral", " good"),
    ("bad", "neutral", "good"),
    (" wrong", " neutral", " right"),
)
"""The words to choose from; `prm.models.judge.parse` reads them all."""

_SAMPLE_STEPS = 12
"""The words are tried on an answer of so many steps, numbers of two digits among them."""


@dataclass(frozen=True, slots=True)
class VerdictFrame:
    """A compact answer as ids: ``forced[0] v0 forced[1] v1 … forced[K-1] v(K-1) forced[K]``.

    Attributes:
        forced: K + 1 blocks of ids; the last one ends the turn. Any but the first may be empty.
        verdict_ids: The one-token verdicts of −1, 0, +1; all different.
        slots: [K] the message index of each step, None for the outcome.
        words: The verdicts as they are spelled in the prompt.
        calibration: What is done to the three logits, always.
    """

    forced: tuple[tuple[int, ...], ...]
    verdict_ids: tuple[int, int, int]
    slots: tuple[int | None, ...]
    words: VerdictWords = WORDS[0]
    calibration: Calibration = UNCALIBRATED

    def ids(self, labels: Sequence[StepLabel]) -> list[int]:
        """The ids of the whole answer.

        Args:
            labels: [K] the label of each slot.
        """
        ids = list(self.forced[0])
        for label, block in zip(labels, self.forced[1:], strict=True):
            ids += [self.verdict_ids[LABELS.index(label)], *block]
        return ids

    def verdict_positions(self) -> list[int]:
        """[K] the positions of the verdict tokens within `ids`; the same for all labels."""
        positions, length = [], 0
        for block in self.forced[:-1]:
            length += len(block)
            positions.append(length)
            length += 1
        return positions


@dataclass(frozen=True, slots=True)
class CompactForm:
    """How one tokenizer writes compact answers. Make it once with `compact_form`, then a frame for each run.

    Attributes:
        words: The verdicts' spelling.
        verdict_ids: Their token ids, for −1, 0, +1.
        end_ids: What ends the answer's turn.
        calibration: That of its frames.
    """

    words: VerdictWords
    verdict_ids: tuple[int, int, int]
    end_ids: tuple[int, ...]
    text: PlainTextTokenizer
    calibration: Calibration = UNCALIBRATED

    def frame(self, message_indices: Sequence[int], *, outcome: bool = True) -> VerdictFrame:
        """The frame of one run's answer; see `verdict_frame`."""
        names = _names(len(message_indices), outcome)
        found = _blocks_in_context(self.text, names, self.words) if names else None
        natural = found is not None and found[1] == self.verdict_ids
        blocks = found[0] if found is not None and natural else _blocks_alone(self.text, names)
        slots: list[int | None] = [*message_indices, *([None] if outcome else [])]
        forced = (*blocks[:-1], blocks[-1] + self.end_ids)
        return VerdictFrame(forced, self.verdict_ids, tuple(slots), self.words, self.calibration)


def verdict_frame(tokenizer: Any, message_indices: Sequence[int], *, outcome: bool = True) -> VerdictFrame:
    """The frame of a compact answer about the steps with these message indices, in the tokenizer's ids.

    Args:
        tokenizer: A Hugging Face tokenizer, fast or slow.
        message_indices: [K] the steps in order; step number k is the k-th of them.
        outcome: Whether a verdict on the whole run follows.

    Raises:
        ModelError: The tokenizer has no three one-token verdicts.
    """
    return compact_form(tokenizer).frame(message_indices, outcome=outcome)


def compact_form(tokenizer: Any, calibration: Calibration | None = None) -> CompactForm:
    """The first of `WORDS` that are one token each wherever they stand in an answer, else the first that are so alone.

    Args:
        tokenizer: A Hugging Face tokenizer, fast or slow.
        calibration: What is done to the logits of the three verdicts; None = nothing.

    Raises:
        ModelError: There are none.
    """
    text = PlainTextTokenizer(tokenizer)
    found = _choose_words(text, tokenizer.unk_token_id)
    if found is None:
        tried = ", ".join("/".join(word.strip() for word in words) for words in WORDS)
        raise ModelError(
            "tokenizer: a compact answer needs three verdicts of one token each, got none of "
            f"{tried}; use the answer format json"
        )
    return CompactForm(*found, end_of_turn_ids(tokenizer), text, calibration or UNCALIBRATED)


def verdict_words(tokenizer: Any) -> VerdictWords:
    """The spelling of verdicts for this tokenizer; ``-``, ``0``, ``+`` where none are one token each."""
    found = _choose_words(PlainTextTokenizer(tokenizer), tokenizer.unk_token_id)
    return WORDS[0] if found is None else found[0]


def compact_text(
    labels: Mapping[int, StepLabel | None], final: StepLabel | None, words: VerdictWords = WORDS[0]
) -> str:
    """A compact answer: ``1:+ 2:0 3:- final:+``.

    Args:
        labels: Message index → label of *every* step, in order. An unknown one (None) keeps its number and is left out.
        final: The outcome; None leaves it out.
        words: The verdicts' spelling (`CompactForm.words`); its ids are then those of the frame.
    """
    steps = enumerate((labels[index] for index in sorted(labels)), start=1)
    said = [*((str(number), label) for number, label in steps), ("final", final)]
    return " ".join(f"{name}:{words[LABELS.index(label)]}" for name, label in said if label is not None)


def json_text(
    labels: Mapping[int, StepLabel | None],
    final: StepLabel | None,
    reasons: Mapping[int | None, str] | None = None,
) -> str:
    """An answer as one JSON object: ``{"steps": [{"step": 1, "label": -1, "reason": "…"}, …], "final": {…}}``.

    Args:
        labels: As in `compact_text`.
        final: The outcome; None leaves it out.
        reasons: Message index → why; None → why the outcome. A step without one has no ``reason``.
    """
    why = reasons or {}
    steps = [
        {"step": number, **_verdict(label, why.get(index))}
        for number, (index, label) in enumerate(sorted(labels.items()), start=1)
        if label is not None
    ]
    answer: dict[str, Any] = {"steps": steps}
    if final is not None:
        answer["final"] = _verdict(final, why.get(None))
    return json.dumps(answer, ensure_ascii=False)


def _verdict(label: StepLabel, reason: str | None) -> dict[str, Any]:
    return {"label": label} if reason is None else {"label": label, "reason": reason}


_Blocks: TypeAlias = tuple[tuple[int, ...], ...]
_VerdictIds: TypeAlias = tuple[int, int, int]


def _names(steps: int, outcome: bool) -> list[str]:
    """What stands before each verdict: ``1:``, `` 2:``, …, `` final:``."""
    names = [str(number) for number in range(1, steps + 1)] + (["final"] if outcome else [])
    return [f"{' ' if i else ''}{name}:" for i, name in enumerate(names)]


def _choose_words(text: PlainTextTokenizer, unknown: int | None) -> tuple[VerdictWords, _VerdictIds] | None:
    names = _names(_SAMPLE_STEPS, True)
    for words in WORDS:
        found = _blocks_in_context(text, names, words)
        if found is not None and unknown not in found[1]:
            return words, found[1]
    for words in WORDS:
        ids = [_encode(text, word) for word in words]
        if all(len(word_ids) == 1 for word_ids in ids) and len({word_ids[0] for word_ids in ids} - {unknown}) == 3:
            return words, (ids[0][0], ids[1][0], ids[2][0])
    return None


def _blocks_in_context(
    text: PlainTextTokenizer, names: Sequence[str], words: VerdictWords
) -> tuple[_Blocks, _VerdictIds] | None:
    """The K + 1 blocks around the verdicts as the tokenizer reads whole answers, and the verdicts' ids.

    None where answers with different labels differ in anything but one token for each verdict.
    """

    def read(labels: Sequence[StepLabel]) -> list[int]:
        said = [words[LABELS.index(label)] for label in labels]
        return _encode(text, "".join(name + word for name, word in zip(names, said, strict=True)))

    uniform = [[label] * len(names) for label in LABELS]
    mixed = [[LABELS[(i + shift) % 3] for i in range(len(names))] for shift in range(3)]
    columns = list(zip(*map(read, uniform), strict=False))
    places = [i for i, column in enumerate(columns) if len(set(column)) > 1]
    verdicts = {columns[i] for i in places}
    if len(places) != len(names) or len(verdicts) != 1 or len(set(columns[places[0]])) != 3:
        return None
    edges = [-1, *places, len(columns)]
    blocks = tuple(tuple(column[0] for column in columns[a + 1 : b]) for a, b in pairwise(edges))
    (negative, neutral, positive) = verdicts.pop()
    frame = VerdictFrame(blocks, (negative, neutral, positive), (None,) * len(names), words)
    if any(read(labels) != frame.ids(labels) for labels in [*uniform, *mixed]):
        return None
    return blocks, frame.verdict_ids


def _blocks_alone(text: PlainTextTokenizer, names: Sequence[str]) -> _Blocks:
    """The K + 1 blocks, each tokenised by itself: what a tokenizer gets that merges verdicts with their neighbours."""
    return (*(tuple(_encode(text, name)) for name in names), ())


def _encode(text: PlainTextTokenizer, piece: str) -> list[int]:
    return [int(i) for i in text.encode([piece])[0]]
