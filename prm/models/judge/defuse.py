"""Recorded text made harmless for a prompt: it can neither write a heading of the prompt nor a control token.

Unlike `prm.data.plain_text`, which builds ids, this changes the text itself, so that it stays harmless whoever
tokenises it: a stock trainer, another model's tokenizer behind an endpoint. Headings' openings become ``(~``; a control
token gets a space after its first character, ``< |im_end|>``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from prm.data.plain_text import PlainTextTokenizer

_UNSEEN = "\\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
# Forms that normalise to the marker count as the marker, and so do characters that some tokenizers drop inside it.
_HEADING = re.compile(f"[\\[\uff3b]([{_UNSEEN}]*[~\uff5e\u02dc\u223c])")

_CONTROL = (
    r"<\|[^<>|\s]{1,64}\|>|<\uff5c[^<>\uff5c\s]{1,64}\uff5c>|</?s>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>"
    r"|</?think(?:ing)?>|\[/?INST\]|<</?SYS>>|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\]"
)
"""Control tokens of common chat formats, also of models whose tokenizer is not at hand."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"

_PASSES = 8
"""A cut token may hold another one; one pass cuts the outermost."""


class Defuser:
    """Makes recorded text harmless for one tokenizer, and for the common chat formats.

    Attributes:
        defused: Places changed so far: headings, control tokens, lone surrogates.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._plain = PlainTextTokenizer(tokenizer)
        # Runs of white space that some vocabularies add are no control tokens.
        added = {i: t.content for i, t in tokenizer.added_tokens_decoder.items() if not t.content.isspace()}
        names = sorted((re.escape(text) for text in added.values() if text), key=len, reverse=True)
        self._control = re.compile("|".join([_CONTROL, *names]), re.IGNORECASE)
        ends = {tokenizer.bos_token_id, tokenizer.eos_token_id}
        unknown = {tokenizer.unk_token_id} - ends
        self._control_ids = frozenset((set(added) | set(tokenizer.all_special_ids)) - unknown)
        self.defused = 0

    def defuse(self, text: str) -> tuple[str, int]:
        """The text without lone surrogates, headings and control tokens, all else verbatim; and its tokens."""
        text = self._count(*_LONE_SURROGATE.subn(_REPLACEMENT, text))
        text = self._count(*_HEADING.subn(r"(\1", text))
        for _ in range(_PASSES):
            text, changed = self._control.subn(self._cut, text)
            self.defused += changed
            if not changed:
                break
        ids = self._read(text)
        if not self._control_ids.isdisjoint(ids):
            text = self._space_out(text)
            ids = self.ids(text)
        return text, len(ids)

    def ids(self, text: str) -> list[int]:
        """The ids of harmless text as any caller of the tokenizer gets them, without BOS and EOS.

        Text that was not defused has no control tokens in its ids either.
        """
        ids = self._read(text)
        if self._control_ids.isdisjoint(ids):
            return ids
        return [int(i) for i in self._plain.encode([text])[0]]

    def places(self, text: str, ends: Sequence[int]) -> list[int]:
        """Which of `ids(text)` holds the last character of each beginning of the text.

        Args:
            text: Harmless text.
            ends: Lengths of the beginnings, in characters, each at least 1.
        """
        if self._tokenizer.is_fast:
            found = self._tokenizer(text, add_special_tokens=False, verbose=False)
            if self._control_ids.isdisjoint(found["input_ids"]):
                places = [found.char_to_token(end - 1) for end in ends]
                if None not in places:
                    return places
        return [len(self.ids(text[:end])) - 1 for end in ends]

    def _count(self, text: str, changed: int) -> str:
        self.defused += changed
        return text

    @staticmethod
    def _cut(match: re.Match[str]) -> str:
        text = match.group()
        cut = len(text) - len(text.lstrip()) + 1
        return _REPLACEMENT if len(text.strip()) == 1 else f"{text[:cut]} {text[cut:]}"

    def _read(self, text: str) -> list[int]:
        return [int(i) for i in self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]]

    def _space_out(self, text: str) -> str:
        """For tokenizers that normalise other text into a control token: spells out the words that become one."""
        pieces = re.split(r"(\s+)", text)
        for i, piece in enumerate(pieces):
            if piece and not self._control_ids.isdisjoint(self._read(piece)):
                pieces[i] = " ".join(piece)
                self.defused += 1
        return "".join(pieces)
