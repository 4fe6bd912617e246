from __future__ import annotations

from typing import Any

from prm.reach.judging.judge import judge_in_full
from tests.reach.judging.hand_runs import ok, run_of, shop, step
from tests.reach.log.messages import user

LOOK = {"tool": "find", "where": {"args.name": "spare"}}
SPEC = shop(
    calls={"spare": LOOK},
    facts={"no_item": {"of": {"tool": "find"}, "holds": {"result.item": {"exists": False}}}},
    questions={"tool": "ask"},
    information={"no_item": {}},
    milestones={
        "ordered": {
            "source": {"tool": "order"},
            "used": "final",
            "supports": "spare",
        }
    },
)
FIND = step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})))
OTHER = step(("find", {"name": "chair"}, ok({"item": "chair-9"})))
SPARE = step(("find", {"name": "spare"}, ok({"item": "bulb-2"})))
NONE = step(("find", {"name": "desk"}, ok({"item": None})))
ASK = step(("ask", {"question": "Which?"}, ok({"answer": "lamp-4"})))


def order(item: str = "lamp-4") -> list[Any]:
    return step(("order", {"item": item}, ok({})))


def path(*messages: Any) -> frozenset[str]:
    return judge_in_full(run_of(SPEC, user("Go."), *messages), SPEC)[1].path


def test_the_path_holds_the_source_and_what_gave_its_arguments() -> None:
    assert path(FIND, OTHER, order()) == {"c0", "c2"}


def test_the_first_giver_is_enough() -> None:
    assert path(FIND, FIND, order()) == {"c0", "c2"}


def test_supporting_calls_are_on_it_once_each() -> None:
    assert path(FIND, SPARE, SPARE, order()) == {"c0", "c1", "c3"}


def test_a_question_is_on_it_while_information_is_missing() -> None:
    assert path(NONE, ASK, order()) == {"c1", "c2"}
    assert path(FIND, ASK, order()) == {"c0", "c2"}


def test_without_a_reached_milestone_nothing_is_on_it() -> None:
    assert path(FIND, OTHER) == frozenset()
