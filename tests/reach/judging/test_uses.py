from __future__ import annotations

from typing import Any

from prm.reach.judging.verdict import Moment
from tests.reach.judging.hand_runs import MISSING, judged, ok, shop, standing, step
from tests.reach.log.messages import says, user


def spec_with(used: Any, **parts: Any) -> Any:
    return shop(milestones={"found": {"source": {"tool": "find"}, "used": used}}, **parts)


def find(record: Any) -> list[Any]:
    return step(("find", {"name": "desk lamp"}, ok(record)))


def order(item: str, note: str = "n") -> list[Any]:
    return step(("order", {"item": item, "note": note}, ok({})))


def test_flow_asks_for_the_field_and_the_parameter() -> None:
    spec = spec_with({"flow": {"from": "result.item", "to": "order.item"}})
    record = {"item": "lamp-4", "maker": "Osterhagen"}
    assert standing(spec, user(), find(record), order("Osterhagen")) == "touched"
    assert standing(spec, user(), find(record), order("chair-9", note="lamp-4")) == "touched"
    assert standing(spec, user(), find(record), order("lamp-4")) == "reached"
    anywhere = spec_with({"flow": {"from": "result.item"}})
    assert standing(anywhere, user(), find(record), order("chair-9", note="lamp-4")) == "reached"


def test_flow_can_bind_the_call_that_takes_the_value() -> None:
    spec = spec_with({"flow": {"from": "result.item", "to": "order.item", "where": {"args.note": {"flow": "user"}}}})
    assert standing(spec, user("For Ada Quill"), find({"item": "lamp-4"}), order("lamp-4", "Ada Quill")) == "reached"
    assert standing(spec, user("For Ada Quill"), find({"item": "lamp-4"}), order("lamp-4", "Bo Tarn")) == "touched"


def test_what_a_result_only_repeats_was_not_returned() -> None:
    spec = spec_with({"flow": {"from": "result"}})
    assert standing(spec, user("desk lamp"), find({"name": "desk lamp"}), order("desk lamp")) == "touched"


LEFT = {
    "some": {"of": {"tool": "find"}, "holds": {"result.left": {"gt": 0}}},
    "none": {"of": {"tool": "find"}, "holds": {"result.left": 0}},
}
DECIDES = [
    {"decides": {"fact": "some", "demands": {"tool": "order"}}},
    {"decides": {"fact": "none", "demands": [{"tool": "ask"}, {"say": {"words": "sold out"}}]}},
]
BRANCH = spec_with(DECIDES, facts=LEFT)


def test_a_fact_must_lead_to_the_act_that_it_demands() -> None:
    ask = step(("ask", {"question": "Another one?"}, ok({"answer": "no"})))
    assert standing(BRANCH, user(), find({"left": 3}), order("lamp-4")) == "reached"
    assert standing(BRANCH, user(), find({"left": 0}), order("lamp-4")) == "touched"
    assert standing(BRANCH, user(), find({"left": 0}), ask) == "reached"
    assert standing(BRANCH, user(), find({"left": 3}), ask) == "touched"
    assert standing(BRANCH, user(), find({"left": 0}), says("It is sold out.")) == "reached"


def test_an_act_in_the_same_batch_or_before_was_not_decided_by_the_fact() -> None:
    both = step(("find", {"name": "x"}, ok({"left": 3})), ("order", {"item": "a"}, ok({})))
    assert standing(BRANCH, user(), both) == "touched"
    assert standing(BRANCH, user(), order("a"), find({"left": 3})) == "touched"


def test_what_was_said_is_a_moment_after_the_last_call() -> None:
    verdict = judged(BRANCH, user(), find({"left": 0}), says("It is sold out.")).by_name["found"]
    assert (verdict.used, verdict.reached) == ("decides", Moment(3, 0))


def test_a_demanded_act_counts_although_its_result_is_missing() -> None:
    lost = step(("order", {"item": "lamp-4"}, MISSING))
    assert standing(BRANCH, user(), find({"left": 3}), lost) == "reached"


def test_questions_refusals_and_information_stand_for_their_acts() -> None:
    spec = spec_with(
        [{"decides": {"fact": "none", "demands": ["questions", "refusals", "some"]}}],
        facts=LEFT,
        questions=[{"tool": "ask"}],
        refusals=[{"say": {"words": "cannot"}}],
        information={"some": {"questions": [{"say": {"words": "how many"}}]}},
    )
    for text in ("I cannot.", "How many?"):
        assert standing(spec, user(), find({"left": 0}), says(text)) == "reached"
    assert standing(spec, user(), find({"left": 0}), says("Well.")) == "touched"


SHOWN = spec_with([{"said": {"from": ["result.price", "result.left"]}}])


def test_a_shown_value_must_say_something_and_come_later() -> None:
    assert standing(SHOWN, user(), find({"price": 1134.5}), says("It costs $1,134.50.")) == "reached"
    assert standing(SHOWN, user(), find({"price": 1134.5}), says("It costs $1,134.")) == "touched"
    assert standing(SHOWN, user(), find({"left": 3}), says("There are 3 left.")) == "touched"
    assert standing(SHOWN, user(), says("It costs 1134.5."), find({"price": 1134.5})) == "touched"


def test_words_can_be_asked_for_beside_a_shown_value() -> None:
    spec = spec_with([{"said": {"from": "result.price", "words": {"question": True}}}])
    texts = (says("It costs 1134.5."), says("1134.5, shall I?"))
    verdict = judged(spec, user(), find({"price": 1134.5}), *texts).by_name["found"]
    assert verdict.reached == Moment(4, 0)


def test_final_is_the_call_itself() -> None:
    verdict = judged(spec_with("final"), user(), find({})).by_name["found"]
    assert (verdict.used, verdict.reached) == ("final", Moment(1, 0))
