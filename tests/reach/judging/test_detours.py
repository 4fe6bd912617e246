from __future__ import annotations

from dataclasses import replace
from typing import Any

from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import Diagnosis, RunVerdict
from tests.reach.judging.hand_runs import MISSING, TOOLS, ok, run_of, shop, step
from tests.reach.log.messages import says, user

SPEC = shop(
    tools={
        **TOOLS,
        "think": {"effect": "pure", "parameters": {"thought": "free"}},
        "wait": {"effect": "read", "poll": True},
    }
)
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
OTHER = step(("find", {"name": "chair"}, ok({"item": "chair-9"})))
ORDER = step(("order", {"item": "lamp-4"}, ok({"done": "o-1"})))


def verdict(*messages: Any, outcome: int | None = None) -> RunVerdict:
    run = run_of(SPEC, user("A lamp, no chair."), *messages)
    return judge_run(replace(run, outcome=outcome), SPEC)


def detours(*messages: Any, outcome: int | None = None) -> list[Diagnosis]:
    return [one for one in verdict(*messages, outcome=outcome).diagnoses if one.name == "detour"]


def test_a_read_that_nothing_came_of_is_a_detour() -> None:
    (detour,) = detours(FIND, OTHER, ORDER)
    assert (detour.batch, detour.call_id, detour.subject, detour.kind) == (3, "c1", "find", "strategy")
    assert detour.evidence[0].what == "find(name='chair') returned nothing that was used"


def test_a_shortest_path_has_none() -> None:
    assert detours(FIND, ORDER) == []


def test_a_repeat_is_one_wherever_it_stands() -> None:
    (detour,) = detours(FIND, FIND, ORDER)
    assert (detour.call_id, detour.evidence[0].source_call_id) == ("c1", "c0")
    assert [one.call_id for one in detours(FIND, ORDER, ORDER)] == ["c2"]


def test_reading_again_after_a_write_repeats_nothing() -> None:
    assert [one.evidence[0].source_call_id for one in detours(FIND, ORDER, FIND)] == [None]


def test_the_kind_says_how_the_run_ended() -> None:
    assert detours(FIND, OTHER, ORDER, outcome=1)[0].kind == "strategy"
    assert detours(FIND, OTHER, ORDER, outcome=-1)[0].kind == "strategy_insufficient"
    missing = step(("find", {"name": "lamp"}, MISSING))
    assert [one.kind for one in detours(OTHER, OTHER, missing)] == [""]


def test_what_stayed_open_is_no_detour() -> None:
    assert detours(FIND) == []
    assert [one.kind for one in detours(FIND, FIND)] == ["strategy_insufficient"]


def test_failures_polling_notes_and_inventions_are_none() -> None:
    failed = step(("find", {"name": "chair"}, {"status": "not_found", "record": None}))
    late = step(("find", {"name": "chair"}, {"status": "timeout", "record": None}))
    cut = step(("find", {"name": "chair"}, ok({"item": "chair-9"}, cut=True)))
    think = step(("think", {"thought": "a lamp, then"}, ok("")))
    waiting = step(("wait", {}, ok("not yet")))
    invented = step(("find", {"name": "sofa-77"}, ok({"item": "sofa-7"})))
    assert detours(FIND, failed, late, cut, think, waiting, invented, ORDER) == []


def test_looking_up_what_the_user_is_told_is_none() -> None:
    assert detours(FIND, OTHER, says("There is also a chair-9."), user("No."), ORDER) == []


def test_another_write_and_what_it_needs_are_none() -> None:
    second = step(("order", {"item": "chair-9"}, ok({"done": "o-2"})))
    assert detours(FIND, OTHER, ORDER, second) == []


def test_a_loop_is_told_as_a_loop() -> None:
    assert detours(FIND, FIND, FIND, ORDER) == []


def test_a_missing_result_accuses_nobody() -> None:
    assert detours(FIND, step(("find", {"name": "chair"}, MISSING)), ORDER) == []


def test_a_read_that_only_took_a_value_first_is_one() -> None:
    spec = shop(
        tools={**TOOLS, "look": {"effect": "read", "parameters": {"item": "ref"}}},
        milestones={
            "found": {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item"}}},
            "ordered": {"source": {"tool": "order"}, "used": "final"},
        },
    )
    look = step(("look", {"item": "lamp-4"}, ok({"colour": "red"})))
    found = judge_run(run_of(spec, user("A lamp."), FIND, look, ORDER), spec).diagnoses
    assert [(one.name, one.call_id) for one in found] == [("detour", "c1")]


def test_what_led_to_a_wrong_call_is_one() -> None:
    spec = shop(
        tools={
            **TOOLS,
            "draft": {"effect": "pure", "parameters": {"item": "ref"}},
            "send": {"effect": "write", "parameters": {"draft": "ref"}},
        },
        calls={"lamp": {"tool": "find", "where": {"args.name": "lamp"}}},
        milestones={
            "drafted": {
                "source": {"tool": "draft", "where": {"args.item": {"flow": "lamp.result.item"}}},
                "used": {"flow": {"to": "send.draft"}},
            },
            "sent": {"source": {"tool": "send"}, "used": "final"},
        },
    )
    draft = step(("draft", {"item": "chair-9"}, ok({"id": "d-7"})))
    send = step(("send", {"draft": "d-7"}, ok({})))
    found = judge_run(run_of(spec, user("A lamp, no chair."), FIND, OTHER, draft, send), spec).diagnoses
    assert [(one.name, one.call_id) for one in found] == [("detour", "c0"), ("detour", "c1"), ("called_wrong", "c2")]
