from __future__ import annotations

from typing import Any

from prm.reach.judging.judge import judge_in_full
from prm.reach.judging.judged_run import JudgedRun
from tests.reach.judging.hand_runs import MISSING, TOOLS, ok, run_of, shop, step
from tests.reach.log.messages import user

SPEC = shop(tools={**TOOLS, "try": {"effect": "read", "retry": ["busy"]}})
BARE = shop(envelope=None)


def judged(*messages: Any, spec: Any = SPEC) -> JudgedRun:
    return judge_in_full(run_of(spec, user("A lamp."), *messages), spec)[1]


def outside(tool: str, found: Any, spec: Any = SPEC) -> bool:
    run = judged(step((tool, {}, found)), spec=spec)
    return run.failed_outside(run.run.calls[0])


def test_declared_statuses_are_outside_failures() -> None:
    assert outside("find", {"status": "timeout", "record": None})
    assert not outside("find", {"status": "busy", "record": None})
    assert outside("try", {"status": "busy", "record": None})
    assert not outside("try", {"status": "timeout", "record": None})
    assert outside("find", ok({}, cut=True))
    assert not outside("find", MISSING)


def test_without_a_declaration_the_words_of_an_error_tell() -> None:
    assert outside("find", "Error: request timed out", BARE)
    assert outside("find", {"error": "429 too many requests"}, BARE)
    assert not outside("find", "Error: no such lamp", BARE)
    assert not outside("find", "It timed out, said the lamp.", BARE)


def test_success_and_failure_need_a_result_that_says_so() -> None:
    run = judged(step(("find", {}, ok({})), ("find", {}, {"status": "bad"}), ("find", {}, MISSING)))
    fine, bad, missing = run.run.calls
    assert [run.succeeded(one) for one in (fine, bad, missing)] == [True, False, False]
    assert [run.failed(one) for one in (fine, bad, missing)] == [False, True, False]


def test_the_first_giver_of_each_argument_is_followed_back() -> None:
    find = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
    run = judged(find, find, step(("order", {"item": "lamp-4"}, ok({}))))
    assert run.with_givers({"c2"}) == {"c0", "c2"}
    assert run.with_givers(set()) == frozenset()
