"""Variants of the ticket desk: the system prompt, tool descriptions and envelope that an agent sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from prm.errors import ConfigError
from prm.reach.desk.ticket_data import ticket_data


@dataclass(frozen=True)
class Variant:
    """What an agent is told.

    Attributes:
        tools: OpenAI-style declarations of the tools.
        envelope: "marked" (status, data_quality, is_truncated, record), "bare" (status, record) or "raw" (the record
            alone; of a failure its ``error``).
    """

    name: str
    system: str
    tools: tuple[Mapping[str, Any], ...]
    envelope: Literal["marked", "bare", "raw"]


VARIANTS: tuple[str, ...] = tuple(ticket_data("variants")["variants"])
"""The names of the shipped variants."""


def load_variant(name: str) -> Variant:
    """The variant called `name`.

    Raises:
        ConfigError: There is none of that name.
    """
    data = ticket_data("variants")
    if name not in data["variants"]:
        raise ConfigError.at("variant", f"must be one of {', '.join(VARIANTS)}", name, "choose one of them")
    variant = data["variants"][name]
    tools = tuple(
        _declaration(tool, variant["tools"][tool], parameters, data["actions"])
        for tool, parameters in data["parameters"].items()
    )
    return Variant(name, variant["system"], tools, variant["envelope"])


def _declaration(name: str, description: str, parameters: list[str], actions: list[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {parameter: {"type": "string"} for parameter in parameters}
    if "action" in properties:
        properties["action"] = {"type": "string", "enum": actions}
    if "qty" in properties:
        properties["qty"] = {"type": "integer"}
    schema = {"type": "object", "properties": properties, "required": parameters}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
