"""Variants for any world: the shipped ones, and one's own from a file.

variants:
  terse:                        # a name of one's own
    system: "Handle the ticket."
    envelope: bare              # marked | bare | raw; left out: marked
    tools:                      # a tool that is not named keeps its description
      read_ticket: "Read a ticket."
      check_inventory:
        description: "Stock of a SKU."
        parameters: {sku: "From the ticket."}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from prm.data.yaml_file import read_yaml
from prm.errors import ConfigError
from prm.reach.desk.variants import VARIANTS, Variant, load_variant

ENVELOPES = ("marked", "bare", "raw")

_SYSTEM = "You work with these tools: do what the user asks, then report."
_SAY_SO = " When a value was not obtained, say so explicitly; never fill it in yourself."
_OWN: Mapping[str, tuple[str, str]] = {
    "plain": (_SYSTEM, "marked"),
    "explicit_missing": (_SYSTEM + _SAY_SO, "marked"),
    "bare_envelope": (_SYSTEM, "bare"),
    "raw": (_SYSTEM, "raw"),
}
"""Variants of one's own tools: name → (system prompt, envelope). The descriptions are the tools' own."""

Declarations = Sequence[Mapping[str, Any]]


def desk_variants() -> dict[str, Variant]:
    """The shipped variants of the ticket desk."""
    return {name: load_variant(name) for name in VARIANTS}


def own_tool_variants(declarations: Declarations) -> dict[str, Variant]:
    """The shipped variants for one's own tools: those of the desk that need no descriptions of their own, and `raw`."""
    return {
        name: Variant(name, system, tuple(declarations), _envelope(envelope, "variant"))
        for name, (system, envelope) in _OWN.items()
    }


def read_variants(path: Path, declarations: Declarations) -> dict[str, Variant]:
    """One's own variants, by name.

    Args:
        path: A YAML file; see above.
        declarations: The world's tools.

    Raises:
        MissingFileError: The file does not exist.
        ConfigError: It is no such file, or names a tool or parameter that is not there.
    """
    content = read_yaml(path)
    variants = content.get("variants") if isinstance(content, Mapping) else None
    if not isinstance(variants, Mapping) or not variants:
        raise ConfigError.at(str(path), "must hold `variants`, by name", content, "write variants: {name: {system: …}}")
    return {str(name): _variant(str(name), value, declarations, f"{path}: {name}") for name, value in variants.items()}


def choose_variants(names: Sequence[str], known: Mapping[str, Variant]) -> tuple[Variant, ...]:
    """The variants of these names.

    Raises:
        ConfigError: One is not known.
    """
    for name in names:
        if name not in known:
            raise ConfigError.at("--variant", f"must be among {', '.join(known)}", name, "choose one of them")
    return tuple(known[name] for name in dict.fromkeys(names))


def _variant(name: str, value: Any, declarations: Declarations, where: str) -> Variant:
    if not isinstance(value, Mapping) or not isinstance(value.get("system"), str):
        raise ConfigError.at(f"{where}: system", "a variant must have a system prompt", value, "write system: …")
    unknown = [str(key) for key in value if key not in ("system", "envelope", "tools")]
    if unknown:
        raise ConfigError.at(where, "keys must be system, envelope and tools", unknown[0], "remove it")
    tools = value.get("tools") or {}
    if not isinstance(tools, Mapping):
        raise ConfigError.at(f"{where}: tools", "must be descriptions by tool", tools, "write TOOL: description")
    declared = _described(declarations, tools, f"{where}: tools")
    return Variant(name, value["system"], declared, _envelope(value.get("envelope", "marked"), f"{where}: envelope"))


def _envelope(value: Any, where: str) -> Any:
    if value not in ENVELOPES:
        raise ConfigError.at(where, f"must be one of {', '.join(ENVELOPES)}", value, "choose one of them")
    return value


def _described(
    declarations: Declarations, descriptions: Mapping[str, Any], where: str
) -> tuple[Mapping[str, Any], ...]:
    known = [tool["function"]["name"] for tool in declarations]
    for name in descriptions:
        if name not in known:
            raise ConfigError.at(where, f"must be among {', '.join(known)}", name, "fix the tool's name")
    return tuple(
        _with_description(tool, descriptions.get(name), f"{where}.{name}")
        for tool, name in zip(declarations, known, strict=True)
    )


def _with_description(tool: Mapping[str, Any], given: Any, where: str) -> Mapping[str, Any]:
    if given is None:
        return tool
    described: Any = {"description": given} if isinstance(given, str) else given
    if not isinstance(described, Mapping) or not set(described) <= {"description", "parameters"}:
        raise ConfigError.at(where, "must be text, or description and parameters", given, "fix it")
    copy: dict[str, Any] = deepcopy(dict(tool))
    if "description" in described:
        copy["function"]["description"] = _text(described["description"], f"{where}.description")
    properties = copy["function"].get("parameters", {}).get("properties", {})
    parameters = described.get("parameters") or {}
    if not isinstance(parameters, Mapping):
        raise ConfigError.at(f"{where}.parameters", "must be descriptions by parameter", parameters, "fix it")
    for name, text in parameters.items():
        if name not in properties:
            raise ConfigError.at(f"{where}.parameters", f"must be among {', '.join(properties)}", name, "fix its name")
        properties[name]["description"] = _text(text, f"{where}.parameters.{name}")
    return copy


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError.at(where, "must be text", value, "put it in quotes")
    return value
