from __future__ import annotations

from typing import Any

import pytest

from prm.reach.spec.conditions import Condition, First, ValueTest
from prm.reach.spec.load import load_spec
from prm.reach.spec.model import Parameter, Spec, Tool
from tests.reach.judging.hand_runs import shop


def test_short_forms_stand_for_long_ones() -> None:
    spec = shop()
    assert spec.tools["find"].parameters["name"] == Parameter.model_validate({"class": "ref"})
    assert spec.milestones["found"].ways[0].source.tool == ("find",)  # type: ignore[union-attr]
    assert ValueTest.model_validate(0) == ValueTest.model_validate({"equals": 0})
    assert ValueTest.model_validate(None).model_fields_set == {"equals"}


def test_conditions_keep_their_tests_by_path_and_their_combinations() -> None:
    condition = Condition.model_validate({"args.sku": "x", "any": {"ok": True}, "not": {"status": {"in": ["a"]}}})
    assert list(condition.tests) == ["args.sku"]
    assert condition.some == (Condition.model_validate({"ok": True}),)
    assert condition.no is not None
    assert condition.no.tests["status"].one_of == ("a",)


def test_a_flow_may_name_one_place_several_or_the_first_of_some() -> None:
    flow = ValueTest.model_validate({"flow": ["user", {"first": ["a.result.b", "a.result.c"]}]}).flow
    assert flow == ("user", First(first=("a.result.b", "a.result.c")))


def test_the_longest_declared_path_above_a_leaf_counts() -> None:
    tool = Tool.model_validate(
        {"effect": "write", "parameters": {"payment": "value", "payment.id": "ref", "who": {"class": "free"}}}
    )
    kinds = [
        parameter.kind if (parameter := tool.parameter_at(path)) else None
        for path in (("payment", 0, "id"), ("payment", 0, "amount"), ("payment",), ("other",), (0,))
    ]
    assert kinds == ["ref", "value", "value", None, None]


def test_the_hash_is_that_of_the_content() -> None:
    assert shop().sha256 == shop().sha256
    assert shop(title="x").sha256 != shop().sha256
    assert shop(logs="a.yaml").sha256 == shop().sha256
    assert hash(shop()) == hash(shop())


@pytest.mark.parametrize("name", ["ticket", "airline"])
def test_shipped_specs_load(name: str) -> None:
    spec = load_spec(name)
    assert isinstance(spec, Spec)
    assert spec.name == name


def test_named_acts_are_replaced_by_what_they_stand_for() -> None:
    spec = shop(
        facts={"none": {"of": {"tool": "find"}, "holds": {"ok": False}}},
        questions={"tool": "ask"},
        refusals={"say": {"words": "no"}},
        information={"none": {}},
    )
    acts: Any = spec.acts(("questions", spec.refusals[0], "refusals", "none"))
    assert acts == (spec.questions[0], spec.refusals[0], spec.refusals[0], spec.questions[0])
