from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import jsonschema
import pytest

from prm.data.schema import read_schema
from prm.reach.metrics.comparison_values import SCHEMA as COMPARISON
from prm.reach.metrics.comparison_values import ComparisonFile
from prm.reach.metrics.estimate import Arm
from prm.reach.metrics.json_form import as_json
from prm.reach.metrics.outcome_stability import SCHEMA as STABILITY
from prm.reach.metrics.outcome_stability import StabilityFile
from prm.reach.metrics.report_values import SCHEMA as REPORT
from prm.reach.metrics.report_values import Report

FILES = [
    ("reach-report", REPORT, Report),
    ("reach-comparison", COMPARISON, ComparisonFile),
    ("reach-stability", STABILITY, StabilityFile),
]


def parts_of(kind: Any) -> Iterator[type]:
    """Every dataclass that a dataclass is made of, itself included."""
    if is_dataclass(kind) and isinstance(kind, type):
        yield kind
        for hint in get_type_hints(kind).values():
            yield from parts_of(hint)
    for inner in get_args(kind):
        yield from parts_of(inner)


def test_dataclasses_become_objects_and_tuples_lists() -> None:
    assert as_json({3: (Arm("a", "b"), None)}) == {"3": [{"agent": "a", "variant": "b"}, None]}


@pytest.mark.parametrize(("of", "name", "root"), FILES)
def test_a_published_schema_is_valid_and_names_every_field(of: str, name: str, root: type) -> None:
    schema = json.loads(read_schema(of))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["schema"] == {"const": name}
    described = {root.__name__: schema, **schema["$defs"]}
    for part in set(parts_of(root)):
        names = {field.name for field in fields(part)}
        assert set(described[part.__name__]["properties"]) == names
        assert set(described[part.__name__]["required"]) == names
