"""Text that was recorded, tokenised so that none of it can turn into a control token.

A tool result may hold ``<|im_end|>`` or ``</think>``; tokenised naively it becomes the real control token. Here the
text is cut inside every such place and the pieces are tokenised apart. Works through the public interface of any
Hugging Face tokenizer, fast or slow; imports none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

TokenIds = npt.NDArray[np.int32]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class PlainTextTokenizer:
    """Encodes text as plain text.

    Attributes:
        prefix_ids: The BOS token where the tokenizer puts one before every text, else empty.
        replaced_surrogates: How many lone surrogates were replaced by U+FFFD so far.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        added = {token.content: index for index, token in tokenizer.added_tokens_decoder.items()}
        self._control_ids = frozenset(added.values()) | frozenset(tokenizer.all_special_ids)
        patterns = sorted((re.escape(text) for text in added if len(text) > 1), key=len, reverse=True)
        self._control = re.compile("|".join(patterns)) if patterns else None
        self.prefix_ids = self._prefix()
        self.replaced_surrogates = 0

    def _prefix(self) -> list[int]:
        bos = self._tokenizer.bos_token_id
        ids = list(self._tokenizer("")["input_ids"])
        return [bos] if bos is not None and ids[:1] == [bos] else []

    def encode(self, texts: Sequence[str]) -> list[TokenIds]:
        """Token ids of each text, without BOS or EOS: `[len(texts)][T_i] int32`."""
        pieces: list[str] = []
        counts = []
        for text in texts:
            cut = self._cut(self._replace_surrogates(text))
            counts.append(len(cut))
            pieces += cut
        encoded = self._encode_pieces(pieces)
        ends = np.cumsum([0, *counts])
        return [_join(encoded[start:end]) for start, end in pairwise(ends)]

    def _replace_surrogates(self, text: str) -> str:
        if text.isascii():
            return text
        clean, count = _LONE_SURROGATE.subn("\ufffd", text)
        self.replaced_surrogates += count
        return clean

    def _cut(self, text: str) -> list[str]:
        """Cuts after the first character of every control token, so that no piece holds a whole one."""
        if self._control is None:
            return [text] if text else []
        pieces, start, match = [], 0, self._control.search(text)
        while match is not None:
            pieces.append(text[start : match.start() + 1])
            start = match.start() + 1
            match = self._control.search(text, start)
        pieces.append(text[start:])
        return [piece for piece in pieces if piece]

    def _encode_pieces(self, pieces: list[str]) -> list[list[int]]:
        if not pieces:
            return []
        encoded = self._tokenizer(pieces, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return [
            ids if self._control_ids.isdisjoint(ids) else self._without_control(piece, ids)
            for piece, ids in zip(pieces, encoded, strict=True)
        ]

    def _without_control(self, piece: str, ids: list[int]) -> list[int]:
        """The last defence, for tokenizers that normalise text into a control token or have one of one character."""
        unknown = self._tokenizer.unk_token_id
        kept = [i for i in ids if i not in self._control_ids or i == unknown]
        if len(piece) == 1 or len(kept) == len(ids):
            return kept
        characters = self._tokenizer(list(piece), add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return [i for ids in characters for i in ids if i not in self._control_ids or i == unknown]


def _join(parts: Sequence[Sequence[int]]) -> TokenIds:
    if not parts:
        return np.empty(0, dtype=np.int32)
    return np.concatenate([np.asarray(part, dtype=np.int32) for part in parts])
