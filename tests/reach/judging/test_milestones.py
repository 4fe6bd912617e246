from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.verdict import Moment
from tests.reach.judging.hand_runs import MISSING, judged, ok, shop, standing, step
from tests.reach.log.messages import call, says, user

SPEC = shop()
LAMP = ok({"item": "lamp-4"})
ORDERED = ok({"number": "N-881"})


def find(result: Any = LAMP, name: str = "desk lamp") -> list[Any]:
    return step(("find", {"name": name}, result))


def order(item: str = "lamp-4", result: Any = ORDERED) -> list[Any]:
    return step(("order", {"item": item, "note": "n"}, result))


def test_missed_touched_and_reached() -> None:
    assert standing(SPEC, user(), says("Done.")) == "missed"
    assert standing(SPEC, user(), find(), says("Done.")) == "touched"
    assert standing(SPEC, user(), find(), order()) == "reached"


def test_the_verdict_says_when_and_by_what() -> None:
    verdict = judged(SPEC, user(), find(ok({"item": None})), find(), order()).by_name["found"]
    assert (verdict.touched, verdict.source, verdict.reached) == (Moment(1, 0), Moment(3, 1), Moment(5, 2))
    assert (verdict.used, verdict.reason) == ("flow", None)
    source, use = verdict.evidence
    assert (source.call_id, source.index) == ("c1", 4)
    assert (use.value, use.call_id, use.path, use.source_call_id, use.source_path) == (
        "lamp-4",
        "c2",
        "item",
        "c1",
        "item",
    )


def test_the_earliest_use_counts() -> None:
    verdict = judged(SPEC, user(), find(), order(), order()).by_name["found"]
    assert verdict.reached == Moment(3, 1)


def test_a_value_cannot_flow_within_one_batch() -> None:
    both = step(("find", {"name": "x"}, LAMP), ("order", {"item": "lamp-4"}, ORDERED))
    assert standing(SPEC, user(), both) == "touched"


def test_a_value_that_comes_from_elsewhere_is_no_use_of_the_call() -> None:
    assert standing(SPEC, user(), find(ok({"item": "chair-9"})), order("lamp-4")) == "touched"


@pytest.mark.parametrize(
    "result", [{"status": "timeout", "record": None}, {"status": "refused", "record": {"item": "lamp-4"}}]
)
def test_a_failed_call_is_no_source(result: dict[str, Any]) -> None:
    verdict = judged(SPEC, user(), find(result), order()).by_name["found"]
    assert (verdict.standing, verdict.reason, verdict.source) == ("touched", "called_wrong", None)


def test_a_cut_answer_counts_only_if_it_was_asked_for_again() -> None:
    cut = ok({"item": "lamp-4"}, cut=True)
    verdict = judged(SPEC, user(), find(cut), order()).by_name["found"]
    assert verdict.standing == "touched"
    assert "cut and not asked again" in verdict.evidence[0].what
    assert standing(SPEC, user(), find(cut), find(), order()) == "reached"


def test_a_missing_result_is_unscorable_and_never_missed() -> None:
    assert standing(SPEC, user(), find(MISSING), order()) == "unscorable"
    assert standing(SPEC, user(), find(MISSING), find(), order()) == "reached"


def test_broken_arguments_of_a_taker_leave_its_use_open() -> None:
    broken = [says("", call("order", '{"item": "lam')), ORDERED]
    assert standing(SPEC, user(), find(), broken) == "unscorable"


def test_without_any_call_a_missing_result_changes_nothing() -> None:
    assert standing(SPEC, user(), step(("ask", {"question": "?"}, MISSING)), says("Done.")) == "missed"


# Bindings

BOUND = shop(
    calls={"wanted": {"tool": "find", "where": {"args.name": {"flow": "user"}}}},
    milestones={
        "found": {"source": "wanted", "used": {"flow": {"from": "result.item", "to": "order.item"}}},
        "ordered": {
            "source": {"tool": "order", "where": {"args.item": {"flow": "found.result.item"}}},
            "used": "final",
            "after": "found",
        },
    },
)


def test_a_source_is_bound_to_the_right_entity() -> None:
    request = user("I want a desk lamp.")
    assert standing(BOUND, request, find(name="desk lamp"), order()) == "reached"
    assert standing(BOUND, request, find(name="floor lamp"), order()) == "touched"
    wrong = judged(BOUND, request, find(name="floor lamp"), order()).by_name["found"]
    assert wrong.evidence[0].what == "find: args.name is 'floor lamp'"


def test_a_later_milestone_is_bound_to_what_an_earlier_one_returned() -> None:
    request = user("I want a desk lamp.")
    right = judged(BOUND, request, find(name="desk lamp"), order())
    assert right.by_name["ordered"].standing == "reached"
    stranger = judged(BOUND, request, find(name="floor lamp"), order())
    assert stranger.by_name["ordered"].standing == "touched"
    unknown = judged(BOUND, request, find(MISSING, name="desk lamp"), order())
    assert unknown.by_name["ordered"].standing == "unscorable"


def test_a_call_binds_only_to_what_was_visible_to_it() -> None:
    request = user("I want a desk lamp.")
    early = judged(BOUND, request, order(), find(name="desk lamp"))
    assert early.by_name["ordered"].standing == "touched"


def test_prerequisites_order_but_never_gate() -> None:
    request = user("I want lamp-4.")
    spec = shop(
        milestones={
            "found": {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item"}}},
            "ordered": {"source": {"tool": "order"}, "used": "final", "after": "found"},
        }
    )
    verdict = judged(spec, request, order())
    assert verdict.by_name["ordered"].standing == "reached"
    assert verdict.by_name["ordered"].after_reached is False
    assert judged(spec, request, find(MISSING), order()).by_name["ordered"].after_reached is None


# When it applies

GIVEN = shop(
    facts={"none": {"of": {"tool": "find"}, "holds": {"result.item": {"exists": False}}}},
    milestones={
        "found": {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item", "to": "order.item"}}},
        "ordered": {"source": {"tool": "order"}, "used": "final", "unless": "none"},
        "extra": {"source": {"tool": "ask"}, "used": "final", "optional": True},
    },
)


def test_a_milestone_that_does_not_apply_is_not_asked_for() -> None:
    assert standing(GIVEN, user(), find(ok({"item": None})), name="ordered") == "n/a"
    assert standing(GIVEN, user(), find(), name="ordered") == "missed"
    assert standing(GIVEN, user(), says("No."), name="ordered") == "missed"
    assert standing(GIVEN, user(), find(MISSING), name="ordered") == "unscorable"
    assert standing(GIVEN, user(), find(MISSING), order(), name="ordered") == "reached"


def test_an_optional_milestone_is_marked_as_one() -> None:
    assert judged(GIVEN, user(), find(), order()).by_name["extra"].required is False


def test_one_of_several_ways_is_enough_and_facts_close_ways() -> None:
    ways = [
        {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item", "to": "order.item"}}},
        {"source": {"tool": "ask", "given": "none"}, "used": "final"},
    ]
    spec = shop(
        facts={"none": {"of": {"tool": "find"}, "holds": {"status": "not_found"}}},
        milestones={"found": {"any_of": ways}},
    )
    ask = step(("ask", {"question": "Which?"}, ok({"answer": "lamp-4"})))
    nothing = find({"status": "not_found", "record": None})
    assert standing(spec, user(), find(), order()) == "reached"
    assert standing(spec, user(), ask) == "touched"
    assert standing(spec, user(), nothing, ask) == "reached"
    assert standing(spec, user(), ask, nothing) == "reached"
