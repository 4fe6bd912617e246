from __future__ import annotations

from typing import Any

from prm.reach.judging.judge import judge_in_full
from prm.reach.judging.same_calls import SameCalls, named_in
from prm.reach.log.run import ToolResult
from tests.reach.judging.hand_runs import ok, run_of, shop, step
from tests.reach.log.messages import user

SPEC = shop(questions={"tool": "ask"})


def are_same(tool: str, one: Any, other: Any) -> bool:
    spec_run = run_of(SPEC, user("A lamp."), step((tool, one, ok({})), (tool, other, ok({}))))
    same = SameCalls(judge_in_full(spec_run, SPEC)[1])
    first, second = spec_run.calls
    return same.call_key(first) == same.call_key(second)


def test_writing_and_free_text_make_no_other_call() -> None:
    assert are_same("find", {"name": "Lamp"}, {"name": "ＬＡＭＰ"})
    assert are_same("order", {"item": "x", "note": "a"}, {"item": "x", "note": "b"})
    assert not are_same("find", {"name": "lamp"}, {"name": "chair"})


def test_free_text_counts_where_there_is_nothing_else() -> None:
    assert not are_same("ask", {"question": "Which?"}, {"question": "Where?"})


def test_types_make_another_call_and_broken_arguments_compare_as_recorded() -> None:
    assert not are_same("find", {"name": 7}, {"name": "7"})
    assert not are_same("find", {"name": None}, {"name": ""})
    assert are_same("find", '{"name": "la', '{"name": "la')
    assert not are_same("find", '{"name": "la', '{"name": "lo')


def test_a_result_names_its_numbers_and_identifiers() -> None:
    result = ToolResult(1, "c", True, {"answer": "Please take lamp-4, 2 of them."})
    assert named_in(result) == {"lamp-4", "2"}
