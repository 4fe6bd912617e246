from __future__ import annotations

import json
from collections.abc import Callable

from prm.reach.log.envelope import EnvelopeKeys
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.run import Run
from tests.reach.log.messages import call, result, says, trajectory, user
from tests.reach.work import growth


def test_every_message_becomes_an_event_with_its_index() -> None:
    run = run_of_trajectory(
        trajectory(
            {"role": "system", "content": "Rules."},
            user("Ticket T1."),
            says("Reading.", call("read", {"id": "T1"}, "a")),
            result({"status": "ok", "record": {"sku": "lamp-4"}}, "a"),
            says("Done."),
        )
    )
    assert [(event.kind, event.index) for event in run.events] == [
        ("system", 0),
        ("user", 1),
        ("assistant", 2),
        ("result", 3),
        ("assistant", 4),
    ]
    assert [event.text for event in run.batches] == ["Reading.", "Done."]
    assert (run.calls[0].batch, run.calls[0].tool, run.calls[0].arguments) == (2, "read", {"id": "T1"})
    assert run.results["a"].value == {"sku": "lamp-4"}
    assert run.end == "final"
    assert run.notes == ()


def test_who_ran_what_is_read_from_the_reach_object() -> None:
    about = {"scenario": "lost-3", "template": "lost", "run": 4, "agent": "looper", "variant": "plain", "seed": 9}
    run = run_of_trajectory(trajectory(user(), says("Hi."), reach=about, final_label=1))
    assert (run.scenario, run.template, run.run, run.agent, run.variant, run.seed, run.outcome) == (
        *("lost-3", "lost", 4, "looper", "plain", 9),
        1,
    )


def test_without_a_reach_object_the_identity_says_who_ran_what() -> None:
    run = run_of_trajectory(trajectory(user(), says("Hi."), final_label=-1))
    assert (run.scenario, run.template, run.run, run.agent, run.variant, run.seed) == (
        *("here/7", "here/7", 2, "bot", "", None),
    )
    assert run.outcome == -1


def test_a_recorded_outcome_stands_before_the_final_label() -> None:
    labelled = trajectory(user(), says("Hi."), final_label=-1, reach={"outcome": None})
    assert run_of_trajectory(labelled).outcome is None
    assert run_of_trajectory(trajectory(user(), says("Hi."), final_label=-1, reach={"outcome": 1})).outcome == 1


def test_a_reach_object_of_wrong_types_is_as_good_as_none() -> None:
    for reach in (
        ["scenario"],
        "x",
        {"scenario": [], "run": {}, "seed": "nine", "agent": 1.5, "variant": None, "outcome": True},
    ):
        run = run_of_trajectory(trajectory(user(), says("Hi."), reach=reach))
        assert (run.scenario, run.agent, run.variant, run.seed, run.outcome) == ("here/7", "bot", "", None, None)


def test_a_missing_result_is_absent() -> None:
    run = run_of_trajectory(trajectory(user(), says("", call("read", {}, "a")), says("Done.")))
    assert "a" not in run.results


def test_a_null_result_is_absent_too_and_noted() -> None:
    run = run_of_trajectory(trajectory(user(), says("", call("read", {}, "a")), result(None, "a"), says("Done.")))
    assert "a" not in run.results
    assert [event.kind for event in run.events] == ["user", "assistant", "result", "assistant"]
    assert run.notes == ("message 2: the result of a is null",)


def test_cut_off_arguments_stay_text() -> None:
    run = run_of_trajectory(trajectory(user(), says("", call("read", '{"id": "T', "a"))))
    assert run.calls[0].arguments is None
    assert run.calls[0].raw == '{"id": "T'


def test_null_arguments_are_unknown_arguments() -> None:
    for arguments in (None, "null", "", "[]", "7"):
        assert run_of_trajectory(trajectory(says("", call("read", arguments, "a")))).calls[0].arguments is None


def test_arguments_given_as_an_object_or_encoded_twice_are_read() -> None:
    for arguments in ({"id": "T1"}, '{"id": "T1"}', json.dumps('{"id": "T1"}')):
        recorded = {"id": "a", "function": {"name": "read", "arguments": arguments}}
        assert run_of_trajectory(trajectory(says("", recorded))).calls[0].arguments == {"id": "T1"}


def test_repeated_ids_are_told_apart_and_answered_by_the_result_behind_each() -> None:
    run = run_of_trajectory(
        trajectory(
            says("", call("read", {"id": 1}, "c")),
            result("one", "c"),
            says("", call("read", {"id": 2}, "c")),
            result("two", "c"),
            says("", call("read", {"id": 3}, "c")),
            result("three", "c"),
        )
    )
    assert [c.id for c in run.calls] == ["c", "c#1", "c#2"]
    assert [run.results[c.id].value for c in run.calls] == ["one", "two", "three"]


def test_an_id_that_looks_like_a_repeat_stays_unique() -> None:
    run = run_of_trajectory(trajectory(says("", *(call("read", {}, id) for id in ("c", "c#1", "c", "c")))))
    assert len({c.id for c in run.calls}) == 4


def test_a_repeated_id_whose_first_result_is_missing_answers_the_nearest_call() -> None:
    run = run_of_trajectory(
        trajectory(says("", call("read", {"id": 1}, "c")), says("", call("read", {"id": 2}, "c")), result("two", "c"))
    )
    assert "c" not in run.results
    assert run.results["c#1"].value == "two"


def test_a_result_before_its_call_is_moved_behind_it() -> None:
    run = run_of_trajectory(
        trajectory(user(), result("early", "a"), says("", call("read", {}, "a"), call("read", {}, "b")), says("Done."))
    )
    assert [(event.kind, event.index) for event in run.events] == [
        ("user", 0),
        ("assistant", 2),
        ("result", 1),
        ("assistant", 3),
    ]
    assert run.results["a"].value == "early"
    assert "b" not in run.results
    assert run.notes == ("message 1: the result stands before its call a",)


def test_a_second_result_of_a_call_never_replaces_the_first_nor_answers_a_later_call() -> None:
    run = run_of_trajectory(
        trajectory(
            says("", call("read", {}, "a")), result("first", "a"), result("again", "a"), says("", call("read", {}, "a"))
        )
    )
    assert run.results["a"].value == "first"
    assert run.calls[1].id not in run.results
    assert {r.value for r in run.results.values()} == {"first", "again"}


def test_results_without_ids_answer_the_calls_of_their_batch_in_order() -> None:
    run = run_of_trajectory(
        trajectory(
            says("", call("read", {"id": 1}), call("stock", {}), call("read", {"id": 2})),
            result("one"),
            result("two", name="read"),
            result("three"),
        )
    )
    values = [run.results[c.id].value for c in run.calls]
    assert values == ["one", "three", "two"]


def test_results_with_ids_answer_calls_without_in_order() -> None:
    run = run_of_trajectory(
        trajectory(says("", call("read", {}), call("stock", {})), result("one", "x"), result("two", "y"))
    )
    assert [run.results[c.id].value for c in run.calls] == ["one", "two"]


def test_the_older_function_call_form_is_read() -> None:
    older = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"id": "T1"}'}}
    run = run_of_trajectory(
        trajectory(user(), older, {"role": "function", "name": "read", "content": '{"sku": "lamp"}'}, says("Done."))
    )
    assert run.calls[0].arguments == {"id": "T1"}
    assert run.results[run.calls[0].id].value == {"sku": "lamp"}


def test_content_parts_are_joined_and_null_content_is_empty() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, "two"]
    run = run_of_trajectory(trajectory(user(parts), says(None), {"role": "tool", "content": parts}))
    assert [event.text for event in run.events] == ["one\ntwo", "", "one\ntwo"]


def test_full_width_digits_and_chinese_text_come_through_unchanged() -> None:
    said = "请查询工单 Ｔ１２３ 的库存"
    run = run_of_trajectory(
        trajectory(user(said), says("好的", call("查询", {"编号": "１２３"}, "一")), result({"库存": "０"}, "一"))
    )
    assert run.events[0].text == said
    assert (run.calls[0].tool, run.calls[0].arguments) == ("查询", {"编号": "１２３"})
    assert run.results["一"].value == {"库存": "０"}


def test_arguments_nested_fifty_deep_are_read_and_ten_thousand_deep_stay_text() -> None:
    fifty = '{"a":' * 50 + "1" + "}" * 50
    depth, value = 0, run_of_trajectory(trajectory(says("", call("read", fifty, "a")))).calls[0].arguments
    while isinstance(value, dict):
        depth, value = depth + 1, value["a"]
    assert depth == 50
    abyss = '{"a":' * 10_000 + "1" + "}" * 10_000
    run = run_of_trajectory(trajectory(says("", call("read", abyss, "a")), result("[" * 10_000, "a")))
    assert run.calls[0].arguments is None
    assert run.results["a"].incomplete


def _reading(size: int) -> Callable[[], Run]:
    calls = [call("read", {"n": n}, "c") for n in range(size)]
    apart = [m for n in range(size) for m in (says("", call("read", {"n": n}, "c")), result(str(n), "c"))]
    before = [result("early", f"e{n}") for n in range(size)]
    after = [*(result("x", "c") for _ in calls), *(result("y") for _ in calls)]
    return lambda: run_of_trajectory(trajectory(*before, *apart, says("", *calls), *after))


def test_five_thousand_calls_with_one_id_are_read_in_linear_time() -> None:
    assert growth(_reading, 100) < 2.5
    run = _reading(2_500)()
    assert len(run.calls) == len({c.id for c in run.calls}) == 5_000
    assert [run.results[c.id].value for c in run.calls[:3]] == [0, 1, 2]


def test_a_declared_envelope_is_opened() -> None:
    keys = EnvelopeKeys(status="state", ok=("fine",), record="data", is_truncated="cut", data_quality=None, error="why")
    run = run_of_trajectory(
        trajectory(
            says("", call("read", {}, "a"), call("read", {}, "b")),
            result({"state": "fine", "data": [1], "cut": True}, "a"),
            result({"state": "bad", "data": None, "why": "no such thing"}, "b"),
        ),
        keys,
    )
    good, bad = run.results["a"], run.results["b"]
    assert (good.ok, good.status, good.value, good.truncated, good.partial) == (True, "fine", [1], True, True)
    assert (bad.ok, bad.status, bad.value, bad.error) == (False, "bad", None, "no such thing")
    assert bad.envelope == {"state": "bad", "data": None, "why": "no such thing"}


def test_a_status_beside_the_content_says_how_the_call_went() -> None:
    run = run_of_trajectory(
        trajectory(
            says("", *(call("read", {}, id) for id in "abcde")),
            result("nothing there", "a", status="error"),
            result("lamp", "b", status="success"),
            result("lamp", "c", status="pending"),
            result("it broke", "d", is_error=True),
            result(None, "e", status="ok"),
        )
    )
    assert [run.results[id].ok for id in "abcde"] == [False, True, None, False, True]
    assert [run.results[id].incomplete for id in "abcde"] == [False, False, False, False, True]
    assert run.results["d"].error == "it broke"


def test_a_run_that_ends_on_calls_or_results_does_not_say_why() -> None:
    for messages in (
        [says("", call("read", {}, "a"))],
        [says("", call("read", {}, "a")), result("x", "a")],
        [says("bye"), result("x", "a")],
        [user()],
    ):
        assert run_of_trajectory(trajectory(user(), *messages)).end is None
    assert run_of_trajectory(trajectory(user(), says("Bye."), user("###STOP###"))).end == "final"
    assert run_of_trajectory(trajectory(user(), says("Bye."), reach={"end": "cap"})).end == "cap"


def test_times_are_kept_as_recorded() -> None:
    stamped = {**call("read", {}, "a"), "timestamp": 12.5}
    run = run_of_trajectory(
        trajectory(
            {**says("", stamped, call("read", {}, "b")), "timestamp": "2024-05-15T15:00:00Z"},
            {**result("x", "a"), "timestamp": 13},
        )
    )
    assert [c.timestamp for c in run.calls] == [12.5, "2024-05-15T15:00:00Z"]
    assert run.results["a"].timestamp == 13
