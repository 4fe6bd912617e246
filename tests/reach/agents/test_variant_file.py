"""Variants of one's own, at the desk and with one's own tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.errors import ConfigError
from prm.reach.agents.variant_file import choose_variants, desk_variants, own_tool_variants, read_variants
from prm.reach.desk.environment import Envelope
from prm.reach.desk.variants import Variant, load_variant

TOOLS = load_variant("plain").tools


def read(tmp_path: Path, text: str) -> dict[str, Variant]:
    path = tmp_path / "v.yaml"
    path.write_text(text, encoding="utf-8")
    return read_variants(path, TOOLS)


def test_descriptions_replace_those_of_the_named_tools_and_no_others(tmp_path: Path) -> None:
    text = """
variants:
  terse:
    system: "Go."
    envelope: bare
    tools:
      read_ticket: "T."
      check_inventory: {description: "S.", parameters: {sku: "From the ticket."}}
"""
    variant = read(tmp_path, text)["terse"]
    described = {tool["function"]["name"]: tool["function"] for tool in variant.tools}
    assert (variant.name, variant.system, variant.envelope) == ("terse", "Go.", "bare")
    assert described["read_ticket"]["description"] == "T."
    assert described["check_inventory"]["description"] == "S."
    assert described["check_inventory"]["parameters"]["properties"]["sku"]["description"] == "From the ticket."
    assert described["ask_user"]["description"] == "Ask the user."
    assert list(described) == [tool["function"]["name"] for tool in TOOLS]
    assert load_variant("plain").tools == TOOLS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "variants: []",
        "variants: {a: {}}",
        "variants: {a: {system: x, envelop: bare}}",
        "variants: {a: {system: x, envelope: fancy}}",
        "variants: {a: {system: x, tools: {no_such: y}}}",
        "variants: {a: {system: x, tools: {read_ticket: 3}}}",
        "variants: {a: {system: x, tools: {read_ticket: {parameters: {no_such: y}}}}}",
        "variants: {a: {system: x, tools: {read_ticket: {parameters: [ticket_id]}}}}",
        "variants: {a: {system: x, tools: {read_ticket: {parameters: {ticket_id: 3}}}}}",
        "variants: {a: {system: x, tools: {read_ticket: {description: null}}}}",
        "variants: {a: {system: x, tools: [read_ticket]}}",
        "a: b: c",
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_an_unknown_variant_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="plain"):
        choose_variants(["no"], desk_variants())
    assert [v.name for v in choose_variants(["plain", "structured", "plain"], desk_variants())] == [
        "plain",
        "structured",
    ]


def test_own_tools_have_the_variants_that_need_no_descriptions() -> None:
    variants = own_tool_variants(TOOLS)
    assert set(variants) == {"plain", "explicit_missing", "bare_envelope", "raw"}
    assert all(variant.tools == TOOLS for variant in variants.values())


def test_raw_shows_what_the_tool_returned() -> None:
    raw = own_tool_variants(TOOLS)["raw"]
    assert Envelope("ok", "complete", False, {"a": 1}).shown(raw) == {"a": 1}
    assert Envelope("ok", "complete", False, {}).shown(raw) == {}
    assert Envelope("timeout", "partial", False, None).shown(raw) == {"error": "timeout"}
    assert Envelope("refused", "partial", False, {"error": "no copy"}).shown(raw) == {"error": "no copy"}
