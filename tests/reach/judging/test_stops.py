from __future__ import annotations

from dataclasses import replace
from typing import Any

from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import Diagnosis
from tests.reach.judging.hand_runs import MISSING, ok, run_of, shop, step
from tests.reach.log.messages import says, user

SPEC = shop(
    facts={"no_item": {"of": {"tool": "find"}, "holds": {"result.item": {"exists": False}}}},
    questions=[{"tool": "ask"}, {"say": {"question": True}}],
    refusals=[{"say": {"words": ["cannot"]}}],
    information={"no_item": {}},
    legal_exits=["refusals"],
    milestones={
        "found": {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item", "to": "order.item"}}},
        "ordered": {"source": {"tool": "order", "where": {"grounded": True}}, "used": "final", "after": "found"},
    },
)
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
ORDER = step(("order", {"item": "lamp-4"}, ok({})))
FAILED = step(("order", {"item": "lamp-4"}, {"status": "illegal", "record": None}))


def diagnoses(*messages: Any, end: str | None = "") -> list[Diagnosis]:
    run = run_of(SPEC, user("A lamp."), *messages)
    return list(judge_run(run if end == "" else replace(run, end=end), SPEC).diagnoses)


def stops(*messages: Any, **about: Any) -> list[Diagnosis]:
    return [one for one in diagnoses(*messages, **about) if one.name == "premature_stop"]


def test_a_run_that_ends_before_a_milestone_was_called_stops_early() -> None:
    (stop,) = stops(FIND, says("Done."))
    assert (stop.batch, stop.subject) == (3, "ordered")
    assert [line.what for line in stop.evidence] == ["the run ended here with ordered never called"]


def test_a_run_that_ends_on_a_failed_call_stops_early() -> None:
    (stop,) = stops(FIND, FAILED, says("Done."))
    assert stop.evidence[0].what == "the run ended here with the last call of ordered failed"


def test_a_run_that_went_to_its_end_does_not() -> None:
    assert stops(FIND, ORDER, says("Done.")) == []
    assert stops(FIND, FAILED, ORDER, says("Done.")) == []


def test_a_milestone_that_was_passed_over_is_no_early_stop() -> None:
    invented = step(("order", {"item": "lamp-7"}, ok({})))
    assert stops(invented, says("Done.")) == []
    assert [one.subject for one in diagnoses(invented, says("Done.")) if one.name == "never_called"] == ["found"]


def test_the_cap_an_error_or_the_end_of_the_log_is_no_stop_of_the_agent() -> None:
    assert stops(FIND, FIND) == []
    for end in ("cap", "error", None):
        assert stops(FIND, says("Done."), end=end) == []
    assert len(stops(FIND, FIND, end="final")) == 1


def test_a_legal_exit_may_leave_milestones_open() -> None:
    assert stops(FIND, says("I cannot order it.")) == []


def test_a_question_about_what_is_missing_waits_for_an_answer() -> None:
    none = step(("find", {"name": "lamp"}, ok({"item": None})))
    assert stops(none, says("Which lamp do you mean?")) == []
    assert len(stops(FIND, says("Which lamp do you mean?"))) == 1


def test_an_open_milestone_was_never_called_or_called_wrong() -> None:
    found = diagnoses(FIND, says("Done."))
    assert [(one.name, one.subject, one.batch) for one in found] == [
        ("called_wrong", "found", 1),
        ("never_called", "ordered", 3),
        ("premature_stop", "ordered", 3),
    ]


def test_what_a_missing_result_leaves_open_accuses_nobody() -> None:
    assert (
        diagnoses(step(("find", {"name": "lamp"}, MISSING)), step(("order", {"item": "lamp-4"}, MISSING)), says("Ok."))
        == []
    )
