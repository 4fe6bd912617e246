"""A conversation with tools → token ids, by the model's own chat template.

The template renders marks in place of all texts; the texts are put in afterwards, as plain text, so that a result
that holds ``<|im_end|>`` or ``</think>`` stays a result and no template trims, drops or escapes what was said. What the
model wrote itself is put in as the tokens it wrote. Three manners, the first that the template can do:

    native    declarations by the template (``tools=``), results as messages of the role ``tool``
    text      declarations in the system message, results in the user's (`prm.reach.agents.text_calls`)
    merged    the same without a system message: it stands in the user's first

In all three a call is the text in which the model wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from jinja2 import TemplateError

from prm.data.plain_text import PlainTextTokenizer
from prm.errors import ModelError
from prm.reach.agents.chat import Turn
from prm.reach.agents.text_calls import call_text, text_turns

Manner = Literal["native", "text", "merged"]
Tools = Sequence[Mapping[str, Any]]

NO_TEMPLATE = (
    "{% for m in messages %}### {{ m['role'] }}\n{{ m['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}### assistant\n{% endif %}"
)
"""For models that ship none."""

NEXT_HEADING = "\n### "
"""Where a model without a template, and so without an end of turn, goes on with the next turn by itself."""

_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>\s*\Z", re.IGNORECASE)
_FAILURES = (TemplateError, TypeError, ValueError, LookupError, AttributeError)
_PROBE_TOOL = "prm0probe0tool"


class ChatRenderer:
    """Renders for one tokenizer.

    Attributes:
        manner: How tools are told; see above.
        has_template: Whether the tokenizer ships one.

    Raises:
        ModelError: The template can render no conversation at all.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._plain = PlainTextTokenizer(tokenizer)
        self.has_template = bool(getattr(tokenizer, "chat_template", None))
        self.manner: Manner = self._manner()

    def encode(self, turns: Sequence[Turn], tools: Tools) -> tuple[list[int], str]:
        """The prompt's ids, and the tag of a thought that the prompt leaves open (else "").

        Raises:
            ModelError: The template fails on this conversation.
        """
        written = _in_manner(turns, tools, self.manner)
        pieces = self._frame(written, tools if self.manner == "native" else ())
        ids = [] if self.has_template else list(self._plain.prefix_ids)
        for piece, turn in zip(pieces, [*written, None], strict=True):
            ids += self.control_ids(piece)
            ids += [] if turn is None else self._text_ids(turn)
        begun = _OPEN_THOUGHT.search(pieces[-1])
        return ids, begun.group().strip() if begun else ""

    def _manner(self) -> Manner:
        """The first manner in which a probe with everything in it comes out whole."""
        calls = [{"id": "c", "type": "function", "function": {"name": _PROBE_TOOL, "arguments": "{}"}}]
        tool = {"name": _PROBE_TOOL, "description": "probe", "parameters": {"type": "object", "properties": {}}}
        tools = [{"type": "function", "function": tool}]
        probe = [
            Turn({"role": "system", "content": "s"}),
            Turn({"role": "user", "content": "u"}),
            Turn({"role": "assistant", "content": "a", "tool_calls": calls}),
            Turn({"role": "tool", "content": "r", "name": _PROBE_TOOL, "tool_call_id": "c"}),
            Turn({"role": "tool", "content": "r", "name": _PROBE_TOOL, "tool_call_id": "c"}),
            Turn({"role": "user", "content": "u"}),
        ]
        reason: ModelError | None = None
        manners: tuple[Manner, ...] = ("native", "text", "merged")
        for manner in manners:
            try:
                pieces = self._frame(_in_manner(probe, tools, manner), tools if manner == "native" else ())
            except ModelError as error:
                reason = error
                continue
            if manner != "native" or _PROBE_TOOL in "".join(pieces):
                return manner
        raise reason or ModelError("chat template: must render a conversation; set another one")

    def _frame(self, turns: Sequence[Turn], tools: Tools) -> list[str]:
        """What the template writes before, between and after the texts."""
        marks = [f"prm0mark{number}mark0prm" for number in range(len(turns))]
        messages = [_marked(turn, mark) for turn, mark in zip(turns, marks, strict=True)]
        own = {} if self.has_template else {"chat_template": NO_TEMPLATE}
        told = {"tools": [dict(tool) for tool in tools]} if tools else {}
        try:
            rendered = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **told, **own
            )
        except _FAILURES as error:
            reason = " ".join(str(error).split())
            raise ModelError(f"chat template: must render a conversation, got {reason}; set another one") from None
        return _split(str(rendered), marks)

    def control_ids(self, piece: str) -> list[int]:
        """Ids in which control tokens are real. BOS comes from the template alone."""
        return [int(i) for i in self._tokenizer(piece, add_special_tokens=False)["input_ids"]] if piece else []

    def _text_ids(self, turn: Turn) -> list[int]:
        if turn.memory and None not in turn.memory:
            return self._remembered(turn.memory)
        return [int(i) for i in self._plain.encode([str(turn.message["content"])])[0]]

    def _remembered(self, memory: Sequence[Sequence[int]]) -> list[int]:
        ids: list[int] = []
        for part in memory:
            ids += [*(self.control_ids("\n") if ids else ()), *part]
        return ids


def _in_manner(turns: Sequence[Turn], tools: Tools, manner: Manner) -> list[Turn]:
    if manner == "native":
        return [_with_written_calls(turn) for turn in turns]
    written = text_turns(turns, tools)
    if manner == "merged" and len(written) > 1 and [t.message["role"] for t in written[:2]] == ["system", "user"]:
        told, asked = (turn.message["content"] for turn in written[:2])
        written[:2] = [Turn({"role": "user", "content": f"{told}\n\n{asked}"})]
    return written


def _with_written_calls(turn: Turn) -> Turn:
    """An assistant's calls as text, for where the model's own tokens are not at hand."""
    calls = turn.message.get("tool_calls")
    if not calls:
        return turn
    text = "\n".join([str(turn.message["content"]), *map(call_text, calls)]).strip()
    return Turn({"role": "assistant", "content": text}, turn.memory)


def _marked(turn: Turn, mark: str) -> dict[str, Any]:
    kept = {key: turn.message[key] for key in ("role", "name", "tool_call_id") if key in turn.message}
    return {**kept, "content": mark}


def _split(rendered: str, marks: Sequence[str]) -> list[str]:
    """The parts of a text around the marks, which must stand in it once each and in order."""
    pieces = []
    for mark in marks:
        before, found, rendered = rendered.partition(mark)
        if not found or mark in rendered:
            raise ModelError(
                "chat template: must write every message once and in order, got otherwise; set another one"
            )
        pieces.append(before)
    return [*pieces, rendered]
