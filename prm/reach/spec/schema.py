"""The JSON Schema of a spec: what its YAML may hold, the short forms included. Names are checked by `references`."""

from __future__ import annotations

from typing import Any, get_args

from prm.reach.spec.model import SCHEMA, ParameterClass, Spec
from prm.reach.spec.places import OWN_PATTERN

_NULL = {"type": "null"}
_SCALARS = [{"type": "string"}, {"type": "boolean"}, {"type": "number"}]

_SHORT_FORMS: dict[str, list[dict[str, Any]]] = {
    "Parameter": [{"enum": list(get_args(ParameterClass))}],
    "ValueTest": [*_SCALARS, _NULL],
    "Use": [{"const": "final"}],
}
"""What may stand for a part: a parameter's class, a value to be equal to, the one use without an object."""


def spec_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a spec."""
    schema = _with_single_items(Spec.model_json_schema(by_alias=True))
    definitions = schema["$defs"]
    tests = definitions["Condition"].pop("additionalProperties")
    definitions["Condition"]["patternProperties"] = {OWN_PATTERN: tests}
    definitions["Condition"]["additionalProperties"] = False
    for name, forms in _SHORT_FORMS.items():
        definitions[name] = {"anyOf": [*forms, definitions[name]]}
    return {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA}


def _with_single_items(part: Any) -> Any:
    """The schema in which a list may also be a single item, or left empty, as the YAML has it."""
    if isinstance(part, list):
        return [_with_single_items(item) for item in part]
    if not isinstance(part, dict):
        return part
    walked = {key: _with_single_items(value) for key, value in part.items()}
    if walked.get("type") != "array":
        return walked
    items = walked["items"]
    about = {key: walked.pop(key) for key in ("title", "description", "default") if key in walked}
    return {**about, "anyOf": [items, walked] if walked.get("minItems") else [items, _NULL, walked]}
