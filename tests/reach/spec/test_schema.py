from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
import yaml

from prm.data.schema import read_schema
from prm.reach.spec.load import SHIPPED, parse_spec
from prm.reach.spec.schema import spec_schema

SCHEMA = json.loads(read_schema("reach-spec"))


def content(name: str) -> Any:
    return yaml.safe_load(files("prm.reach.spec").joinpath(f"{name}.yaml").read_text(encoding="utf-8"))


def test_the_published_schema_is_that_of_the_models() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert spec_schema() == SCHEMA


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_specs_obey_the_schema_short_forms_and_all(name: str) -> None:
    jsonschema.validate(content(name), SCHEMA)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("milestone", {}),
        ("schema", "x"),
        ("tools", {}),
        ("tools", {"a": {"effect": "look"}}),
        ("facts", {"f": {"of": "ticket", "holds": {"resul.x": 1}}}),
        ("facts", {"f": {"of": "ticket", "holds": {"result.x": {"flow": "nowhere"}}}}),
        ("milestones", {"M1": {"source": "ticket", "used": "finally"}}),
    ],
)
def test_schema_and_models_refuse_the_same(key: str, value: Any) -> None:
    changed = {**content("ticket"), key: value}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, SCHEMA)
    with pytest.raises(ValueError, match=key):
        parse_spec(changed, "s.yaml")
