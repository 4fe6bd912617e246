"""Tool calls written as text: for models, templates and servers that know no tools of their own.

What the model is told: the declarations, and to write ``<tool_call>{"name": …, "arguments": {…}}</tool_call>``. What is
read from an answer, thinking (``<think>…</think>``) left out:

1. every ``<tool_call>`` block: an object, or a list of them; the last one may lack its end;
2. where there is no block: every JSON object, bare, fenced or in a list, that has the *name* of a declared tool and
   `arguments` (or `parameters`): JSON of another kind may be the answer itself.

Arguments keep their text. A block whose JSON is broken but names a tool is a call with that text as its arguments; one
that names none is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from prm.reach.agents.chat import AgentError, RequestedCall, Turn
from prm.types import Message

_BLOCK = re.compile(r"(?s)<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)")
_THOUGHT = re.compile(r"(?is)<(think(?:ing)?)>.*?(?:</\1>|\Z)")
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n?")
_MAX_BROKEN = 50
_NAMED = re.compile(r'"name"\s*:\s*"([^"\\]{1,200})"')

HOW_TO_CALL = (
    "To call tools, write for each call one block\n"
    '<tool_call>{"name": "TOOL", "arguments": {"PARAMETER": "VALUE"}}</tool_call>\n'
    "Blocks of one message are called at once, and their results come in the next message. "
    "A message without a block ends the work and goes to the user."
)


def tool_prompt(tools: Sequence[Mapping[str, Any]]) -> str:
    """What a model is told of its tools, to be put behind the system prompt."""
    declared = "\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools)
    return f"Your tools, as JSON:\n{declared}\n\n{HOW_TO_CALL}"


def result_text(name: str, content: str) -> str:
    """A result as the model reads it in a user's message."""
    return f'<tool_response name="{name}">\n{content}\n</tool_response>'


def call_text(call: Mapping[str, Any]) -> str:
    """A recorded call as the model would write it."""
    function = call["function"]
    name, arguments = json.dumps(function["name"], ensure_ascii=False), function["arguments"]
    return f'<tool_call>{{"name": {name}, "arguments": {arguments}}}</tool_call>'


def text_turns(turns: Sequence[Turn], tools: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """A conversation without tools: system, user and assistant by turns, their contents text.

    Declarations stand in the system message, calls in the assistant's, results in the user's; what follows one another
    from one side is one message. An assistant's memory stays with it.
    """
    written: list[Turn] = []
    for turn in turns:
        role, text = _written(turn.message)
        last = written[-1].message if written else None
        if last is not None and role != "assistant" and last["role"] == role:
            written[-1] = Turn({"role": role, "content": f"{last['content']}\n\n{text}"})
        else:
            written.append(Turn({"role": role, "content": text}, turn.memory))
    if tools:
        told = [tool_prompt(tools)]
        if written and written[0].message["role"] == "system":
            told.insert(0, str(written.pop(0).message["content"]))
        written.insert(0, Turn({"role": "system", "content": "\n\n".join(told)}))
    return written


def _written(message: Message) -> tuple[str, str]:
    """Role and text of a message; a result is the user's."""
    text = str(message.get("content") or "")
    if message["role"] == "tool":
        return "user", result_text(str(message.get("name", "")), text)
    calls = [call_text(call) for call in message.get("tool_calls") or ()]
    return str(message["role"]), "\n".join([*([text] if text else []), *calls])


def calls_in(text: str, tools: Collection[str]) -> tuple[tuple[RequestedCall, ...], str]:
    """The calls in an answer, and what is said beside them.

    Args:
        text: The answer.
        tools: The names of the declared tools.

    Raises:
        AgentError: A block names no tool.
    """
    stated = _THOUGHT.sub(lambda match: " " * len(match.group()), text)
    blocks = list(_BLOCK.finditer(stated))
    if blocks:
        calls = [call for block in blocks for call in _calls_of_block(block.group(1).strip())]
        return tuple(calls), _without(text, [block.span() for block in blocks]).strip()
    found = [(calls, span) for value, span in _values(stated) if (calls := _known_calls(value, tools))]
    if not found:
        return (), text
    said = _FENCE.sub("", _without(text, [span for _, span in found])).strip()
    return tuple(call for calls, _ in found for call in calls), said


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _calls_of_block(block: str) -> list[RequestedCall]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        name = _NAMED.search(block)
        if name is None:
            raise AgentError("garbage", f"a tool call that names no tool: {block[:200]!r}") from None
        return [RequestedCall(None, name.group(1), block)]
    values = value if isinstance(value, list) else [value]
    calls = [_call(value) for value in values]
    if not calls or None in calls:
        raise AgentError("garbage", f"a tool call that names no tool: {block[:200]!r}")
    return [call for call in calls if call is not None]


def _call(value: Any) -> RequestedCall | None:
    """The call that a JSON object describes; None for another kind of value."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    described = inner if isinstance(inner, Mapping) else value
    name = described.get("name")
    if not isinstance(name, str) or not name:
        return None
    arguments = described.get("arguments", described.get("parameters", {}))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return RequestedCall(None, name, text)


def _known_calls(value: Any, tools: Collection[str]) -> list[RequestedCall]:
    values = value if isinstance(value, list) else [value]
    calls = [_call(item) for item in values if isinstance(item, Mapping) and _has_arguments(item)]
    return [call for call in calls if call is not None and call.tool in tools]


def _has_arguments(value: Mapping[str, Any]) -> bool:
    inner = value.get("function")
    described = inner if isinstance(inner, Mapping) else value
    return "arguments" in described or "parameters" in described


def _values(text: str) -> Iterator[tuple[Any, tuple[int, int]]]:
    """The outermost JSON objects and lists of objects in a text, with where they stand.

    After `_MAX_BROKEN` that are none the rest is not looked at: a message about a broken one counts the text's lines.
    """
    position = broken = 0
    while broken < _MAX_BROKEN and (match := _OPENING.search(text, position)):
        start = match.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            position, broken = max(start + 1, error.pos), broken + 1
            continue
        except RecursionError:
            return
        yield value, (start, position)


_OPENING = re.compile(r'\[\s*\{\s*"|\{\s*"')
_DECODER = json.JSONDecoder()
