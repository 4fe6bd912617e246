from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prm.reach.spec.check import SpecReport, check_spec
from prm.reach.spec.load import SHIPPED, load_spec
from tests.reach.judging.hand_runs import shop

LOGS = """
logs:
  bought:
    legal: true
    messages:
      - user: A desk lamp, please.
      - calls: {tool: find, args: {name: desk lamp}, result: {status: ok, record: {item: lamp-4}}}
      - calls: {tool: order, args: {item: lamp-4}, result: {status: ok, record: {number: N-881}}}
      - say: It is on its way.
"""
FOUND = {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item", "to": "order.item"}}}
ORDERED = {"source": {"tool": "order", "where": {"grounded": True}}, "used": "final", "after": "found"}


def report(tmp_path: Path, logs: str = LOGS, **parts: Any) -> SpecReport:
    (tmp_path / "logs.yaml").write_text(logs)
    given = {"milestones": {"found": FOUND, "ordered": ORDERED}, "logs": "logs.yaml", **parts}
    return check_spec(shop(**given), tmp_path / "shop.yaml")


def test_a_sound_spec_has_no_problems(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert found.problems == ()
    assert [log.name for log in found.logs] == ["bought"]


def test_a_milestone_that_is_reached_without_its_source_is_vacuous(tmp_path: Path) -> None:
    lax = {"any_of": [FOUND, {"source": {"effect": "write"}, "used": "final"}]}
    found = report(tmp_path, milestones={"found": lax, "ordered": ORDERED})
    assert found.vacuous == {"found": "it is reached in log bought without the calls of find"}
    assert "milestone found is vacuous: it is reached in log bought" in found.problems[0]


def test_a_milestone_whose_use_does_not_depend_on_the_result_is_vacuous(tmp_path: Path) -> None:
    facts = {"asked_for": {"user": {"words": "please"}}}
    lax = {"source": {"tool": "find"}, "used": {"decides": {"fact": "asked_for", "demands": {"tool": "order"}}}}
    found = report(tmp_path, facts=facts, milestones={"found": lax, "ordered": ORDERED})
    assert found.vacuous == {"found": "in no legal log it makes a difference what its source returned"}


def test_a_milestone_that_no_legal_log_reaches_is_unreachable(tmp_path: Path) -> None:
    never = {"source": {"tool": "ask"}, "used": "final", "optional": True}
    found = report(tmp_path, milestones={"found": FOUND, "ordered": ORDERED, "asked": never})
    assert found.unreachable == ("asked",)
    assert "milestone asked is unreachable" in found.problems[0]


def test_a_legal_log_that_is_not_covered_is_told(tmp_path: Path) -> None:
    found = report(tmp_path, LOGS.replace("args: {item: lamp-4}", "args: {item: lamp-5}"))
    assert any("it is legal, but not covered" in problem for problem in found.problems)
    assert found.unreachable == ("found", "ordered")


def test_a_verdict_other_than_the_log_says_is_told_with_its_reason(tmp_path: Path) -> None:
    log = LOGS.replace("legal: true", "legal: true\n    expect: {verdicts: tr, minefields: sold, diagnoses: loop}")
    never = {"sold": {"acts": {"tool": "ask"}}}
    problems = report(tmp_path, log, never=never).problems
    assert problems[0].startswith("log bought: found must be touched, is reached (find(name='desk lamp') is its source")
    assert "log bought: minefield sold must be found" in problems
    assert "log bought: diagnosis loop must be found" in problems


def test_a_minefield_that_no_log_hits_is_noted(tmp_path: Path) -> None:
    found = report(tmp_path, never={"sold": {"acts": {"tool": "ask"}}})
    assert (found.silent_minefields, found.problems) == (("sold",), ())


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_specs_pass_their_own_check(name: str) -> None:
    found = check_spec(load_spec(name), name)
    assert found.problems == ()
    assert found.silent_minefields == ()
