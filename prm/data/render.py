"""How a trajectory reads as text: blocks of a frame of our own and a body that was recorded.

Chat templates are not used: many drop the text of a turn that has tool calls, strip earlier thinking, or crash on
broken arguments. Here nothing is dropped, arguments stay the recorded text, and each step ends in a closing frame,
so that the place where a step is read is known by construction. Labels, outcomes and `extra` never enter the text.
Knows nothing of tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from prm.types import Message, Trajectory

RENDERING_VERSION = "1"
"""Goes into checkpoints and predictions; any change of the text below needs a new one."""


class BlockKind(Enum):
    """What a block holds; the budget treats each kind differently."""

    PREAMBLE = "preamble"
    USER = "user"
    TOOL = "tool"
    STEP = "step"
    OUTCOME = "outcome"


@dataclass(frozen=True, slots=True)
class Block:
    """One message as text.

    Attributes:
        opening: Our frame before the body.
        body: What was recorded; the only part that a budget may cut.
        closing: Our frame after the body; its last token is the site of a step or of the outcome.
        message_index: The message it came from; None for the tool list and the outcome.
    """

    kind: BlockKind
    opening: str
    body: str
    closing: str
    message_index: int | None


def render(trajectory: Trajectory) -> list[Block]:
    """The blocks of a run in reading order: tools, messages, and the outcome's block last."""
    blocks = list(_preamble_of_tools(trajectory.tools))
    ordinal = 0
    for index, message in enumerate(trajectory.messages):
        if message["role"] == "assistant":
            ordinal += 1
            blocks.append(_step(index, ordinal, message))
        else:
            blocks.append(_context(index, message))
    blocks.append(Block(BlockKind.OUTCOME, "\n\n### Outcome", "", "\n=>", None))
    return blocks


def _preamble_of_tools(tools: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    if tools:
        body = "\n".join(_tool_line(tool) for tool in tools)
        yield Block(BlockKind.PREAMBLE, "### Tools\n", body, "\n\n", None)


def _tool_line(tool: Mapping[str, Any]) -> str:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping):
        return _as_text(tool)
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    names = ", ".join(str(name) for name in properties) if isinstance(properties, Mapping) else ""
    return f"{function.get('name', '')}({names}): {function.get('description') or ''}".rstrip(": ")


def _context(index: int, message: Message) -> Block:
    text = content_text(message)
    if message["role"] == "tool":
        # The tool's name is recorded text as well, so it belongs to the body.
        name = message.get("name")
        return Block(BlockKind.TOOL, "\n\n### Result ", f"{name}\n{text}" if name else f"\n{text}", "", index)
    if message["role"] == "user":
        return Block(BlockKind.USER, "\n\n### User\n", text, "", index)
    return Block(BlockKind.PREAMBLE, "### System\n", text, "", index)


def _step(index: int, ordinal: int, message: Message) -> Block:
    parts = [str(message["reasoning_content"])] if message.get("reasoning_content") else []
    text = content_text(message)
    parts += [text] if text else []
    parts += [f"-> {name}({arguments})" for name, arguments in calls_of(message)]
    return Block(BlockKind.STEP, f"\n\n### Step {ordinal}\n", "\n".join(parts), "\n=>", index)


def content_text(message: Message) -> str:
    """A message's content as text; parts other than text are written as JSON, null is empty."""
    content = message.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return _as_text(part)


def calls_of(message: Message) -> list[tuple[str, str]]:
    """The (name, arguments) of each tool call; arguments are the recorded text, verbatim."""
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        functions.append(legacy)
    return [(str(function.get("name")), _as_text(function.get("arguments"))) for function in functions]


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
