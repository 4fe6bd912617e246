from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from prm.reach.judging.provenance import trace
from prm.reach.judging.provenance_records import Leaf, Provenance
from prm.reach.log.run import Run
from prm.types import Trajectory
from tests.reach.judging.hand_runs import MISSING, ok, run_of, shop, step
from tests.reach.log.messages import result, says, user
from tests.reach.work import growth

SPEC = shop(
    tools={
        "find": {"effect": "read", "parameters": {"name": "ref", "limit": "value"}},
        "order": {"effect": "write", "parameters": {"item": "ref", "qty": "value", "now": "flag", "note": "free"}},
        "get": {"effect": "read", "parameters": {"id": "ref", "box": "ref", "on": "value"}},
    }
)
LAMP = step(("find", {"name": "lamp"}, ok({"item": "lamp-4", "qty": 3, "box": 9})))


def traced(*messages: Any) -> Provenance:
    return trace(run_of(SPEC, *messages), SPEC)


def last(tool: str, argument: Any, *messages: Any, name: str = "item") -> Leaf:
    return traced(*messages, step((tool, {name: argument}, ok({})))).leaves[-1]


def test_a_returned_value_has_the_result_as_its_origin() -> None:
    leaf = last("order", "LAMP-4", user("Get a lamp."), LAMP)
    assert (leaf.origin, leaf.fabricated, leaf.kind) == ("result", False, "ref")
    assert [(source.index, source.call_id, source.path) for source in leaf.sources] == [(2, "c0", ("item",))]


def test_the_origins_come_in_order_of_precedence() -> None:
    system = {"role": "system", "content": "Prefer lamp-9."}
    assert last("order", "lamp-4", user("lamp-4 please"), LAMP).origin == "result"
    assert last("order", "lamp-4", user("lamp-4 please")).origin == "user"
    assert last("order", "lamp-9", system, user("lamp-4 please"), LAMP).origin == "system"
    assert last("order", "lamp-7", system, user("lamp-4 please"), says("lamp-7?"), user("yes")).origin == "echo"
    assert last("order", "lamp-7", system, user("lamp-4 please"), LAMP).origin == "unsupported"


def test_what_the_user_said_keeps_the_results_that_hold_it_too() -> None:
    leaf = last("get", "lamp", user("Get a lamp."), LAMP, name="id")
    assert leaf.origin == "user"
    back = step(("find", {"name": "lamp"}, ok({"name": "lamp"})))
    leaf = last("get", "lamp", user("Get a lamp."), back, name="id")
    assert [(s.call_id, s.echo) for s in leaf.sources] == [(None, False), ("c0", True)]


def test_the_results_of_a_batch_are_not_visible_within_it() -> None:
    leaves = traced(
        user("Get a lamp."),
        step(("find", {"name": "lamp"}, ok({"item": "lamp-4"})), ("order", {"item": "lamp-4"}, ok({}))),
    ).leaves
    assert [leaf.fabricated for leaf in leaves] == [False, True]


def test_only_a_ref_can_be_fabricated() -> None:
    arguments = {"item": "x-1", "qty": 777, "now": True, "note": "whatever comes", "other": "y-2"}
    leaves = traced(user(), step(("order", arguments, ok({})), ("unknown", {"id": "z-3"}, ok({})))).leaves
    assert [leaf.fabricated for leaf in leaves] == [True, False, False, False, False, False]
    assert [leaf.kind for leaf in leaves[-2:]] == [None, None]


def test_null_and_empty_text_claim_nothing() -> None:
    leaves = traced(user(), step(("order", {"item": None, "note": ""}, ok({})), ("get", {"id": ""}, ok({})))).leaves
    assert [(leaf.origin, leaf.fabricated) for leaf in leaves] == [("schema", False)] * 3


def test_an_ungrounded_ref_is_fabricated_however_short() -> None:
    for value in ("unknown", "7", 7, "n/a", True, "-", "new"):
        said = user("This is unknown to me: 7 new things, n/a - true.")
        assert last("order", value, said).fabricated is True, value


def test_a_short_identifier_in_the_right_place_is_grounded() -> None:
    assert last("get", 9, user(), LAMP, name="box").origin == "result"
    assert last("get", 9, user("box 9, please"), name="box").origin == "user"
    assert last("get", 9, user("9 boxes"), name="box").fabricated is True
    assert last("get", 3, user(), LAMP, name="box").fabricated is True


def test_a_low_information_value_that_is_no_ref_is_explained_by_a_word_of_a_text() -> None:
    leaf = last("order", 2, user("I want 2 of them."), name="qty")
    assert (leaf.origin, leaf.low_information) == ("user", True)
    assert last("order", 3, user(), LAMP, name="qty").origin == "result"


def test_an_invented_value_stays_invented_when_its_own_call_repeats_it() -> None:
    guess = step(("get", {"id": "lamp-7"}, ok({"id": "lamp-7", "stock": 22})))
    leaf = last("order", "lamp-7", user("A lamp."), guess)
    assert (leaf.origin, leaf.fabricated) == ("echo", True)
    assert [(s.call_id, s.echo) for s in leaf.sources] == [(None, False), ("c0", True)]


def test_an_error_that_repeats_the_argument_grounds_nothing_but_what_it_lists_does() -> None:
    text = "Error: no item lamp-7; there are lamp-1 and lamp-2"
    failed = step(("get", {"id": "lamp-7"}, {"status": "bad", "record": {"text": text}}))
    assert last("order", "lamp-7", user("A lamp."), failed).fabricated is True
    assert last("order", "lamp-2", user("A lamp."), failed).origin == "result"


def test_an_identifier_matches_as_a_whole_only() -> None:
    cards = step(("find", {"name": "lamp"}, ok({"gift_card_5634230": {"amount": 67}})))
    assert last("order", "credit_card_5634230", user("A lamp."), cards).fabricated is True
    assert last("order", "5634230", user("A lamp."), cards).fabricated is True
    assert last("order", "gift_card_5634230", user("A lamp."), cards).fabricated is False


def test_a_value_put_together_from_whole_leaves_of_one_result_is_grounded() -> None:
    person = step(("find", {"name": "lamp"}, ok({"first": "James", "last": "Taylor"})))
    assert last("order", "James Taylor", user("A lamp."), person).origin == "result"
    assert last("order", "James Miller", user("A lamp."), person).fabricated is True


def test_a_date_without_a_year_explains_one_of_a_year_that_was_seen() -> None:
    system = {"role": "system", "content": "The time is 2024-05-15 15:00."}
    assert last("get", "2024-05-24", system, user("On May 24th."), name="id").origin == "user"
    assert last("get", "2025-05-24", system, user("On May 24th."), name="id").fabricated is True
    assert last("get", "2024-05-25", system, user("On May 24th."), name="id").fabricated is True


def test_full_width_digits_and_chinese_match() -> None:
    assert last("order", "T41", user("处理工单Ｔ４１")).origin == "user"
    assert last("order", "北京市海淀区", user("送到北京市海淀区12号")).origin == "user"
    assert last("order", "上海市", user("送到北京市海淀区12号")).fabricated is True


def test_what_a_missing_result_might_have_held_is_unknown() -> None:
    missing = step(("find", {"name": "lamp"}, MISSING))
    leaf = last("order", "lamp-7", user("A lamp."), missing)
    assert (leaf.origin, leaf.fabricated) == ("unknown", None)
    before = traced(user("A lamp."), step(("order", {"item": "lamp-7"}, ok({}))), missing).leaves[0]
    assert before.fabricated is True
    beside = traced(user("A lamp."), step(("find", {"name": "lamp"}, MISSING), ("order", {"item": "x-7"}, ok({}))))
    assert beside.leaves[1].fabricated is True


def test_a_result_that_breaks_off_in_the_log_may_have_held_it() -> None:
    cut = step(("find", {"name": "lamp"}, '{"status": "ok", "record": {"item": "lam'))
    assert last("order", "lamp-7", user("A lamp."), cut).fabricated is None


def test_a_log_that_holds_no_word_of_the_user_accuses_nobody() -> None:
    assert last("order", "lamp-7").fabricated is None
    assert last("order", "lamp-7", user("")).fabricated is None


def test_the_schema_names_its_values() -> None:
    run = run_of(SPEC, user(), step(("order", {"item": "std"}, ok({}))))
    schema = {"properties": {"item": {"enum": ["std"]}}}
    tools = ({"type": "function", "function": {"name": "order", "parameters": schema}},)
    declared = replace(run, trajectory=replace(run.trajectory, tools=tools))
    assert trace(declared, SPEC).leaves[0].origin == "schema"


def test_broken_arguments_have_no_leaves_and_a_late_result_is_seen_when_it_comes() -> None:
    broken = [says("", {"id": "x", "type": "function", "function": {"name": "find", "arguments": '{"name": "la'}})]
    assert traced(user(), *broken, result(ok({}), "x")).leaves == ()
    late = [
        says("", {"id": "x", "type": "function", "function": {"name": "find", "arguments": '{"name": "lamp"}'}}),
        says("", {"id": "y", "type": "function", "function": {"name": "order", "arguments": '{"item": "lamp-4"}'}}),
        result(ok({"item": "lamp-4"}), "x"),
        result(ok({}), "y"),
        says("", {"id": "z", "type": "function", "function": {"name": "order", "arguments": '{"item": "lamp-4"}'}}),
    ]
    assert [leaf.fabricated for leaf in traced(user("A lamp."), *late).leaves] == [False, True, False]


def test_uses_and_leaves_are_found_by_their_call() -> None:
    found = traced(user("A lamp."), LAMP, step(("order", {"item": "lamp-4"}, ok({}))))
    assert [leaf.path for leaf in found.of_call("c1")] == [("item",)]
    assert [(leaf.call_id, source.path) for leaf, source in found.uses_of("c0")] == [("c1", ("item",))]
    assert found.of_call("nobody") == ()


# Hostile logs end in seconds whatever they hold.


def _deep(leaf: Any) -> Any:
    for level in range(48):
        leaf = {"k": [leaf]} if level % 2 else {"k": leaf}
    return leaf


def _many(make: Callable[[int], tuple[Any, Any]], count: int) -> Run:
    messages: list[Any] = [user("Please find a1 and lamp-5.")]
    for number in range(count):
        arguments, value = make(number)
        messages.append(step(("get", arguments, ok(value))))
    return run_of(SPEC, *messages)


@pytest.mark.parametrize(
    ("count", "make"),
    [
        (5_000, lambda n: ({"id": "a1", "box": 1}, {"id": "a1", "n": 1})),
        (5_000, lambda n: ({"id": f"a{n}", "box": n}, {"next": f"a{n + 1}", "box": n + 1})),
        (500, lambda n: ({"id": _deep(f"a{n}")}, _deep({"x": f"a{n + 1}", "y": ["a1"] * 5}))),
        (1_000, lambda n: ({"id": f"a{n} b c d e f g h"}, {"x": f"a{n + 1}", "y": "b", "z": "c d e", "w": "f g h"})),
        (1_000, lambda n: ({"id": " ".join("abc"[(n >> k) % 3] + "1" for k in range(9))}, {"x": "a1 b1 c1 " * 10})),
        (1_000, lambda n: ({"id": n % 7, "box": n % 5}, {"id": n % 7, "list": [1, 2, 3, 4] * 5})),
    ],
    ids=["same", "chain", "deep", "parts", "words", "integers"],
)
def test_thousands_of_calls_are_traced_in_near_linear_time(count: int, make: Callable[[int], tuple[Any, Any]]) -> None:
    def tracing(size: int) -> Callable[[], object]:
        run = _many(make, size)
        return lambda: trace(run, SPEC)

    assert len(trace(_many(make, count), SPEC).leaves) >= count
    assert growth(tracing, 100) < 3


def test_the_sources_of_a_value_are_bounded() -> None:
    leaves = trace(_many(lambda n: ({"id": "a1"}, {"other": "lamp-9"}), 300), SPEC).leaves
    assert max(len(leaf.sources) for leaf in leaves) < 100


def test_every_leaf_of_a_call_is_there_in_order() -> None:
    arguments = {"box": [{"id": "a1"}, {"id": None}], "on": {"x": {"y": 1}}}
    leaves: Sequence[Leaf] = traced(user("a1"), step(("get", arguments, ok({})))).leaves
    assert [leaf.path for leaf in leaves] == [("box", 0, "id"), ("box", 1, "id"), ("on", "x", "y")]
    assert json.dumps([leaf.value for leaf in leaves]) == '["a1", null, 1]'


def test_a_run_without_calls_has_no_leaves() -> None:
    run = run_of(SPEC, user(), says("Hello."))
    assert isinstance(run.trajectory, Trajectory)
    assert trace(run, SPEC).leaves == ()
