from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import Diagnosis
from tests.reach.judging.hand_runs import MISSING, judged, ok, run_of, shop, step
from tests.reach.log.messages import user
from tests.reach.work import growth

SPEC = shop(
    tools={
        "find": {"effect": "read", "parameters": {"name": "ref"}},
        "stock": {"effect": "read", "parameters": {"item": "ref"}},
        "order": {"effect": "write", "parameters": {"item": "ref", "state": "value", "note": "free"}},
    },
    milestones={"found": {"source": {"tool": "find"}, "used": "final"}},
)
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
REFUSED = {"status": "illegal", "record": {"legal": ["open"]}}


def recoveries(*messages: Any) -> list[Diagnosis]:
    verdict = judged(SPEC, user("A lamp, a chair."), *messages)
    return [one for one in verdict.diagnoses if one.name == "recovery"]


def order(state: str, found: Any, **more: Any) -> list[Any]:
    return step(("order", {"item": "lamp-4", "state": state, **more}, found))


def test_a_call_that_failed_and_works_with_another_value_is_corrected() -> None:
    (recovery,) = recoveries(FIND, order("shut", REFUSED), order("open", ok({})))
    assert (recovery.batch, recovery.call_id, recovery.subject, recovery.kind) == (5, "c2", "order", "corrected")
    (line,) = recovery.evidence
    assert line.what == "order.state 'shut' ('illegal') became 'open'"
    assert (line.source_index, line.source_call_id, line.path) == (3, "c1", "state")


def test_several_failures_are_put_right_at_once() -> None:
    (recovery,) = recoveries(FIND, order("shut", REFUSED), order("shut", REFUSED), order("open", ok({})))
    assert len(recovery.evidence) == 1


def test_a_call_made_again_as_it_was_recovers_nothing() -> None:
    late = {"status": "timeout", "record": None}
    assert recoveries(FIND, order("open", late), order("open", ok({}))) == []
    assert recoveries(FIND, order("open", REFUSED), order("open", ok({}), note="please")) == []


def test_another_grounded_lookup_after_one_that_failed_is_none() -> None:
    failed = step(("find", {"name": "chair"}, {"status": "not_found", "record": None}))
    assert recoveries(failed, FIND) == []


def test_an_invented_value_that_failed_and_is_replaced_is_corrected() -> None:
    wrong = step(("stock", {"item": "lamp-7"}, {"status": "not_found", "record": None}))
    (recovery,) = recoveries(FIND, wrong, step(("stock", {"item": "lamp-4"}, ok({"stock": 3}))))
    assert recovery.kind == "corrected"


def test_an_invented_value_that_went_through_and_is_replaced_is_retracted() -> None:
    wrong = step(("stock", {"item": "lamp-7"}, ok({"stock": 3})))
    (recovery,) = recoveries(FIND, wrong, step(("stock", {"item": "lamp-4"}, ok({"stock": 3}))))
    assert recovery.kind == "retracted"


def test_an_invented_value_dropped_for_another_in_the_next_tool_is_retracted() -> None:
    wrong = step(("stock", {"item": "lamp-7"}, ok({"stock": 3})))
    assert [one.call_id for one in recoveries(FIND, wrong, order("open", ok({})))] == ["c2"]


def test_an_invented_value_that_is_used_again_is_not_retracted() -> None:
    wrong = step(("stock", {"item": "lamp-7"}, ok({"stock": 3})))
    again = step(("order", {"item": "lamp-7", "state": "x"}, ok({})))
    assert recoveries(FIND, wrong, order("open", ok({})), again) == []


def test_replacing_it_by_another_invention_recovers_nothing() -> None:
    wrong = [step(("stock", {"item": f"lamp-{n}"}, {"status": "bad", "record": None})) for n in (7, 8)]
    assert recoveries(FIND, *wrong, step(("stock", {"item": "lamp-9"}, ok({})))) == []


def test_a_success_that_the_log_does_not_hold_recovers_nothing() -> None:
    assert recoveries(FIND, order("shut", REFUSED), order("open", MISSING)) == []


def test_calls_of_many_made_up_values_are_put_right_in_linear_time() -> None:
    spec = shop(
        tools={"order": {"effect": "write", "parameters": {"items": "ref"}}},
        milestones={"ordered": {"source": {"tool": "order"}, "used": "final"}},
    )

    def judging(size: int) -> Callable[[], object]:
        right, wrong = ([f"{word}-{number}" for number in range(size)] for word in ("lamp", "chair"))
        refused, done = step(("order", {"items": wrong}, REFUSED)), step(("order", {"items": right}, ok({})))
        run = run_of(spec, user(" ".join(right)), refused, done)
        return lambda: judge_run(run, spec)

    assert growth(judging, 100) < 2.5
