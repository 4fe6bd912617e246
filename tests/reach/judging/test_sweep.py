from __future__ import annotations

from prm.reach.judging.patterns import patterns_of
from tests.reach.judging.hand_runs import MISSING, ok, shop, step, swept
from tests.reach.log.messages import user

SPEC = shop(
    calls={
        "lamp": {"tool": "find", "where": {"args.name": {"flow": "user"}}},
        "part": {"call": "lamp", "where": {"result.parts": {"gt": 0}}},
        "linked": {"tool": "find", "where": {"args.name": {"flow": ["lamp.result.next", "linked.result.next"]}}},
        "write": {"effect": "write"},
        "planned": {"tool": "order", "where": {"args.item": {"flow": "plan"}}},
        "first_wish": {"tool": "order", "where": {"args.item": {"flow": "request"}}},
    }
)


def matches(name: str, *messages: object) -> dict[int, bool | None]:
    return dict(swept(SPEC, *messages).of(f"call:{name}"))


def find(name: str, record: object) -> list[object]:
    return step(("find", {"name": name}, ok(record)))


def test_a_named_call_can_build_on_another() -> None:
    messages = (user("A lamp."), find("lamp", {"parts": 0}), find("lamp", {"parts": 2}), find("bulb", {"parts": 2}))
    assert matches("lamp", *messages) == {0: True, 1: True}
    assert matches("part", *messages) == {1: True}


def test_a_call_can_be_bound_to_an_earlier_one_of_its_own_kind() -> None:
    chain = [find("lamp", {"next": "lamp-2"}), find("lamp-2", {"next": "lamp-3"}), find("lamp-3", {})]
    assert matches("linked", user("A lamp."), *chain) == {1: True, 2: True}
    assert matches("linked", user("A lamp."), *reversed(chain)) == {}


def test_an_effect_stands_for_all_tools_that_have_it() -> None:
    assert matches("write", user(), find("x", {}), step(("order", {"item": "a"}, ok({})))) == {1: True}


def test_the_request_is_the_first_word_and_the_user_every_word() -> None:
    order = step(("order", {"item": "chair-9"}, ok({})))
    assert matches("first_wish", user("lamp-4"), user("no, chair-9"), order) == {}
    assert matches("first_wish", user("chair-9"), user("no, lamp-4"), order) == {0: True}


def test_a_plan_is_known_to_its_own_batch() -> None:
    planned = step(("order", {"item": "chair-9"}, ok({})), text='{"item": "chair-9"}')
    assert matches("planned", user(), planned) == {0: True}


def test_what_the_call_itself_misses_is_unknown() -> None:
    assert matches("part", user("A lamp."), step(("find", {"name": "lamp"}, MISSING))) == {0: None}
    assert matches("linked", user("A lamp."), step(("find", {"name": "lamp"}, MISSING)), find("bulb", {})) == {1: None}


def test_a_result_that_comes_late_is_visible_from_then_on() -> None:
    found = swept(
        SPEC,
        user("A lamp."),
        {"role": "assistant", "content": "", "tool_calls": [_call("a", "lamp")]},
        {"role": "assistant", "content": "", "tool_calls": [_call("b", "lamp-2")]},
        {"role": "tool", "tool_call_id": "a", "content": '{"status":"ok","record":{"next":"lamp-2"}}'},
        {"role": "tool", "tool_call_id": "b", "content": '{"status":"ok","record":{}}'},
        {"role": "assistant", "content": "", "tool_calls": [_call("c", "lamp-2")]},
        {"role": "tool", "tool_call_id": "c", "content": '{"status":"ok","record":{}}'},
    )
    assert dict(found.of("call:linked")) == {2: True}


def _call(id: str, name: str) -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": "find", "arguments": f'{{"name": "{name}"}}'}}


def test_the_patterns_of_a_spec_are_worked_out_once() -> None:
    assert patterns_of(SPEC) is patterns_of(SPEC)
