from __future__ import annotations

from typing import Any

from prm.reach.judging.schema_values import SchemaValues


def named(parameters: dict[str, Any], *cases: tuple[tuple[str | int, ...], Any]) -> list[bool]:
    tool = {"type": "function", "function": {"name": "t", "parameters": parameters}}
    values = SchemaValues([tool])
    return [values.names("t", path, value) for path, value in cases]


def test_enum_const_default_and_booleans_are_named() -> None:
    properties = {
        "a": {"enum": ["ship", "refund"]},
        "b": {"default": 15},
        "c": {"const": "x9"},
        "d": {"type": "boolean"},
    }
    cases = [(("a",), "Ship"), (("b",), 15), (("c",), "x9"), (("d",), True), (("a",), "sink"), (("b",), 16)]
    assert named({"properties": properties}, *cases) == [True, True, True, True, False, False]


def test_lists_choices_and_references_are_followed() -> None:
    parameters = {
        "properties": {"flights": {"items": {"anyOf": [{"$ref": "#/$defs/flight"}, {"type": "null"}]}}},
        "$defs": {"flight": {"properties": {"cabin": {"enum": ["economy"]}}}},
    }
    assert named(parameters, (("flights", 3, "cabin"), "economy"), (("flights", 3, "name"), "economy")) == [True, False]


def test_a_circle_of_references_ends() -> None:
    parameters = {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "properties": {}}}}
    assert named(parameters, (("x",), "y")) == [False]


def test_what_is_no_declaration_declares_nothing() -> None:
    broken: list[Any] = [{}, {"function": None}, {"function": {"name": 3}}, {"name": "t", "parameters": []}]
    assert not SchemaValues(broken).names("t", ("a",), "x")


def test_other_forms_of_declaration_are_read() -> None:
    schema = {"properties": {"a": {"enum": ["ship"]}}}
    assert SchemaValues([{"name": "t", "inputSchema": schema}]).names("t", ("a",), "ship")
    assert SchemaValues([{"name": "t", "input_schema": schema}]).names("t", ("a",), "ship")
