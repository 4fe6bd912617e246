from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reach.judging.hand_runs import judged, ok, shop, step
from tests.reach.log.messages import user

SPEC = shop()


def why(plan: Any, *pairs: Any) -> list[str]:
    text = json.dumps({"plan": plan}, ensure_ascii=False)
    verdict = judged(SPEC, user("A lamp."), step(*pairs, text=text))
    return [line.what for one in verdict.diagnoses if one.name == "plan_contradiction" for line in one.evidence]


FIND = ("find", {"name": "lamp"}, ok({"item": "lamp-4"}))


@pytest.mark.parametrize(
    "plan",
    [
        {"calls": [{"tool": "find", "arguments": {"name": "Lamp"}}]},
        {"calls": [{"tool": "order", "arguments": {}}, {"tool": "find", "arguments": {"name": "lamp"}}]},
        {"calls": [{"tool": "find", "arguments": {"name": "chair"}}, {"tool": "find", "arguments": {"name": "lamp"}}]},
        {"calls": ["find"]},
        {"tool": "find", "arguments": {"name": "lamp"}},
        {"name": "lamp"},
        {"name": None, "missing": ["address"]},
        {"why": "find it", "missing": []},
        {"calls": [{"tool": 3}]},
        {"calls": "find"},
        {"missing": "name"},
    ],
)
def test_a_call_that_its_plan_allows_is_none(plan: Any) -> None:
    assert why(plan, FIND) == []


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"calls": []}, "the plan was to call nothing, and find was called"),
        ({"calls": [{"tool": "order"}]}, "the plan was to call order, and find was called"),
        ({"tool": "order"}, "the plan was to call order, and find was called"),
        (
            {"calls": [{"tool": "find", "arguments": {"name": "chair"}}]},
            "the plan was to pass name='chair' to find, and it got 'lamp'",
        ),
        ({"name": "chair"}, "the plan was to pass name='chair' to find, and it got 'lamp'"),
        ({"missing": ["Name"]}, "the plan says that name is missing, and find got 'lamp'"),
    ],
)
def test_a_call_that_contradicts_its_plan_is_named(plan: Any, said: str) -> None:
    assert why(plan, FIND) == [said]


def test_a_planned_call_that_is_not_made_contradicts_nothing() -> None:
    assert why({"calls": [{"tool": "find", "arguments": {"name": "lamp"}}, {"tool": "order"}]}, FIND) == []


def test_without_a_plan_there_is_nothing_to_contradict() -> None:
    verdict = judged(SPEC, user("A lamp."), step(FIND))
    assert all(one.name != "plan_contradiction" for one in verdict.diagnoses)
