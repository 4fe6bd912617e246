from __future__ import annotations

from typing import Any

from tests.reach.judging.hand_runs import MISSING, judged, ok, shop, step
from tests.reach.log.messages import says, user

SPEC = shop(
    facts={
        "no_item": {"of": {"tool": "find"}, "holds": {"result.item": {"exists": False}}},
        "told": {"of": {"tool": "ask"}, "holds": {"result.answer": {"shape": "a-9"}}},
    },
    questions={"tool": "ask"},
    refusals={"say": {"words": "cannot"}},
    information={"no_item": {"parameters": "order.item"}},
)
NOTHING = step(("find", {"name": "lamp"}, ok({"item": None})))
ASK = step(("ask", {"question": "Which?"}, ok({"answer": "No idea."})))


def response(*messages: Any, spec: Any = SPEC) -> list[tuple[str, str, int | None]]:
    found = judged(spec, user("A lamp, please."), *messages).missing_information
    return [(one.fact, one.response, one.batch) for one in found]


def order(item: str) -> list[Any]:
    return step(("order", {"item": item}, ok({})))


def test_asks_refuses_invents_or_something_else() -> None:
    assert response(NOTHING, ASK) == [("no_item", "asks", 3)]
    assert response(NOTHING, says("I cannot do it.")) == [("no_item", "refuses", 3)]
    assert response(NOTHING, order("lamp-4")) == [("no_item", "invents", 3)]
    assert response(NOTHING, says("Done.")) == [("no_item", "other", None)]


def test_an_invention_after_a_question_is_an_invention() -> None:
    assert response(NOTHING, ASK, order("lamp-4")) == [("no_item", "invents", 5)]


def test_a_guess_before_anybody_knew_is_no_response() -> None:
    assert response(order("lamp-4"), NOTHING, ASK) == [("no_item", "asks", 5)]


def test_nothing_is_missing_where_it_was_given_or_never_looked_for() -> None:
    assert response(step(("find", {"name": "lamp"}, ok({"item": "lamp-4"}))), order("lamp-4")) == []
    assert response(says("Done.")) == []
    assert response(step(("find", {"name": "lamp"}, MISSING))) == []


def test_a_question_before_anybody_knew_is_none_about_it() -> None:
    assert response(ASK, NOTHING, says("Done.")) == [("no_item", "other", None)]


def test_information_can_have_questions_of_its_own_and_be_found_elsewhere() -> None:
    own = {"questions": {"tool": "ask", "where": {"args.question": {"text": {"words": "item"}}}}, "unless": "told"}
    spec = shop(
        facts={
            "no_item": {"of": {"tool": "find"}, "holds": {"result.item": {"exists": False}}},
            "told": {"of": {"tool": "ask"}, "holds": {"result.answer": {"shape": "a-9"}}},
        },
        questions={"tool": "ask"},
        information={"no_item": own},
    )
    assert response(NOTHING, ASK, spec=spec) == [("no_item", "other", None)]
    about = step(("ask", {"question": "Which item?"}, ok({"answer": "no idea"})))
    assert response(NOTHING, about, spec=spec) == [("no_item", "asks", 3)]
    answered = step(("ask", {"question": "Which item?"}, ok({"answer": "It is lamp-4."})))
    assert response(NOTHING, answered, spec=spec) == []
