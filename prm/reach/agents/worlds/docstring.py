"""What a tool's docstring says in Google style: the description, and that of each parameter. Knows no function."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns|Return|Yields|Raises|Examples?|Notes?|Attributes):\s*")
_PARAMETER = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring describes.

    Attributes:
        text: What the tool does and, after that, what it returns.
        parameters: Name → description.
    """

    text: str
    parameters: dict[str, str]


def described(docstring: str | None) -> Described:
    """The parts of a docstring; nothing for none. What it raises and its examples are left out."""
    sections = _sections(inspect.cleandoc(docstring or ""))
    returns = _joined(sections.get("returns", []))
    text = _joined(sections.get("", []))
    return Described(
        " ".join(part for part in (text, f"Returns: {returns}" if returns else "") if part), _named(sections)
    )


def _sections(text: str) -> dict[str, list[str]]:
    """Section → its lines; the text before the first is that of the empty name."""
    sections: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        match = _SECTION.fullmatch(line)
        if match is None:
            sections.setdefault(name, []).append(line)
            continue
        word = match.group(1).lower()
        name = "args" if word in ("args", "arguments", "parameters") else "returns" if word == "return" else word
    return sections


def _named(sections: dict[str, list[str]]) -> dict[str, str]:
    lines = inspect.cleandoc("\n" + "\n".join(sections.get("args", []))).splitlines()
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = None if line.startswith((" ", "\t")) else _PARAMETER.match(line)
        if match is None:
            current.append(line)
        else:
            current = found.setdefault(match.group(1), [])
            current.append(match.group(2))
    return {name: _joined(text) for name, text in found.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
