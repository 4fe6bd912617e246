from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prm.errors import InputError, RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.read import read_runs
from prm.reach.log.run import Run
from tests.reach.log.spans import answer, document, said, span, spans_of, text, tool_call
from tests.reach.work import growth


def runs_of(tmp_path: Path, *spans: dict[str, Any]) -> list[Run]:
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(document(*spans)) + "\n", encoding="utf-8")
    return list(read_runs(path))


def test_spans_of_whole_runs_give_the_same_runs_as_their_messages(tmp_path: Path) -> None:
    trajectories = list(generate_runs(12, seed=5, variant="structured"))
    spans = [one for number, t in enumerate(trajectories) for one in spans_of(t, f"trace{number}")]
    random.Random(0).shuffle(spans)
    path = tmp_path / "spans.jsonl"
    lines = [json.dumps(document(*spans[start : start + 7])) for start in range(0, len(spans), 7)]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = {(run.scenario, run.run): run for run in read_runs(path)}
    assert len(found) == 12
    for trajectory in trajectories:
        wanted = run_of_trajectory(trajectory)
        run = found[wanted.scenario, wanted.run]
        assert (run.agent, run.variant, run.seed, run.end) == (wanted.agent, wanted.variant, wanted.seed, wanted.end)
        assert [(e.kind, e.text) for e in run.events if e.kind != "result"] == [
            (e.kind, e.text) for e in wanted.events if e.kind != "result"
        ]
        assert [(c.batch, c.id, c.tool, c.arguments) for c in run.calls] == [
            (c.batch, c.id, c.tool, c.arguments) for c in wanted.calls
        ]
        assert {k: (r.ok, r.value, r.status) for k, r in run.results.items()} == {
            k: (r.ok, r.value, r.status) for k, r in wanted.results.items()
        }
        assert not run.calls_only


def test_without_any_content_calls_and_their_order_are_known_and_nothing_else(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1),
        span("execute_tool", 1, 2, tool="read", call_id="a"),
        span("execute_tool", 2, 3, tool="stock", call_id="b"),
        span("chat", 3, 4),
        span("execute_tool", 4, 5, tool="write", call_id="c"),
        span("chat", 5, 6),
    )
    assert [[call.tool for call in event.calls] for event in run.batches] == [["read", "stock"], ["write"], []]
    assert all(call.arguments is None for call in run.calls)
    assert not run.results
    assert run.calls_only
    assert run.end == "final"


def test_content_only_in_tool_spans_fills_calls_and_results(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, model="m-1"),
        span(
            "execute_tool", 1, 2, tool="read", arguments={"id": "T1"}, result={"status": "ok", "record": {"sku": "x"}}
        ),
    )
    assert run.calls[0].arguments == {"id": "T1"}
    assert run.results[run.calls[0].id].value == {"sku": "x"}
    assert run.agent == "m-1"


def test_tool_spans_alone_are_batches_of_what_overlaps_in_time(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("execute_tool", 5, 6, tool="d"),
        span("execute_tool", 0, 2, tool="a"),
        span("execute_tool", 1, 3, tool="b"),
        span("execute_tool", 3, 4, tool="c"),
    )
    assert [[call.tool for call in event.calls] for event in run.batches] == [["a", "b"], ["c"], ["d"]]


def test_calls_and_results_in_messages_need_no_tool_spans(tmp_path: Path) -> None:
    asked = said("user", text("Weather in Paris?"))
    called = said("assistant", tool_call("weather", {"city": "Paris"}, "c1"))
    (run,) = runs_of(
        tmp_path,
        span(
            "chat",
            2,
            3,
            input=[asked, called, said("tool", answer("rainy, 57°F", "c1"))],
            output=[said("assistant", text("Rain."))],
        ),
        span("chat", 0, 1, input=[asked], output=[called]),
    )
    assert [(event.kind, event.text) for event in run.events] == [
        ("user", "Weather in Paris?"),
        ("assistant", ""),
        ("result", "rainy, 57°F"),
        ("assistant", "Rain."),
    ]
    assert run.calls[0].arguments == {"city": "Paris"}


def test_the_key_of_the_conventions_examples_is_read_as_a_result_too(tmp_path: Path) -> None:
    called = said("assistant", tool_call("weather", {"city": "Paris"}, "c1"))
    response = {"type": "tool_call_response", "id": "c1", "result": {"sky": "rain"}}
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input=[said("user", text("?"))], output=[called]),
        span("chat", 2, 3, input=[said("user", text("?")), called, said("tool", response)]),
    )
    assert run.results["c1"].value == {"sky": "rain"}


def test_messages_in_the_older_chat_form_are_read(tmp_path: Path) -> None:
    function = {"name": "weather", "arguments": '{"city": "Paris"}'}
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input=[{"role": "user", "content": "?"}], output=[called]),
        span(
            "chat",
            2,
            3,
            input=[{"role": "user", "content": "?"}, called, result],
            output=[{"role": "assistant", "content": "Rain."}],
        ),
    )
    assert (run.calls[0].arguments, run.results["c1"].value, run.batches[1].text) == (
        {"city": "Paris"},
        "rain",
        "Rain.",
    )


def test_a_failed_tool_is_known_to_have_failed_even_without_its_result(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("execute_tool", 0, 1, tool="read", call_id="a", error="no such ticket"),
        span("execute_tool", 2, 3, tool="read", call_id="b", error_type="TimeoutError"),
        span("execute_tool", 4, 5, tool="read", call_id="c"),
    )
    assert (run.results["a"].ok, run.results["a"].error) == (False, "no such ticket")
    assert (run.results["b"].ok, run.results["b"].error) == (False, "TimeoutError")
    assert "c" not in run.results


def test_a_tool_that_is_tried_again_under_one_call_is_one_call(tmp_path: Path) -> None:
    called = said("assistant", tool_call("read", {"id": 1}, "a"))
    for chat in (span("chat", 0, 1, input=[said("user", text("?"))], output=[called]), span("chat", 0, 1)):
        (run,) = runs_of(
            tmp_path,
            chat,
            span("execute_tool", 1, 2, tool="read", call_id="a", error="connection reset"),
            span("execute_tool", 2, 3, tool="read", call_id="a", result={"sku": "x"}),
        )
        assert len(run.calls) == 1
        assert (run.results["a"].ok, run.results["a"].value) == (True, {"sku": "x"})


def test_a_failed_request_and_its_repeat_are_one_step(tmp_path: Path) -> None:
    asked = [said("user", text("Go."))]
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input=asked, error="overloaded"),
        span("chat", 2, 3, input=asked, output=[said("assistant", text("Done."))]),
    )
    assert [event.kind for event in run.events] == ["user", "assistant"]


def test_a_conversation_over_several_traces_is_one_run(tmp_path: Path) -> None:
    first = [said("user", text("Hello."))]
    hello = said("assistant", text("Hi."))
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, "t1", conversation="c", input=first, output=[hello]),
        span(
            "chat",
            2,
            3,
            "t2",
            conversation="c",
            input=[*first, hello, said("user", text("Bye."))],
            output=[said("assistant", text("Bye."))],
        ),
    )
    assert [event.text for event in run.events] == ["Hello.", "Hi.", "Bye.", "Bye."]


def test_spans_without_a_conversation_take_that_of_the_span_above_or_of_the_trace(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path,
        span("invoke_agent", 0, 9, "t", "a", conversation="one"),
        span("invoke_agent", 0, 9, "t", "b", conversation="two"),
        span("execute_tool", 1, 2, "t", "x", "a", tool="of one"),
        span("http", 2, 5, "t", "between", "b"),
        span("execute_tool", 3, 4, "t", "y", "between", tool="of two"),
        span("invoke_agent", 10, 19, "u", "c", conversation="three"),
        span("execute_tool", 11, 12, "u", "z", "lost", tool="of three"),
        span("execute_tool", 13, 14, "v", "w", tool="of nobody"),
    )
    assert [run.calls[0].tool for run in runs] == ["of one", "of two", "of three", "of nobody"]


def test_parents_in_a_ring_end(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("execute_tool", 0, 1, "t", "a", "b", tool="x"),
        span("execute_tool", 1, 2, "t", "b", "a", tool="y"),
    )
    assert [call.tool for call in run.calls] == ["x", "y"]


def test_the_prompt_given_anew_each_time_counts_once(tmp_path: Path) -> None:
    prompt = [said("system", text("Rules.")), said("user", text("Go."))]
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input=prompt, output=[said("assistant", text("One."))]),
        span("chat", 2, 3, input=[*prompt, said("user", text("And?"))], output=[said("assistant", text("Two."))]),
    )
    assert [event.text for event in run.events] == ["Rules.", "Go.", "One.", "And?", "Two."]


def test_a_repeated_answer_of_the_user_stays_where_it_follows_the_assistant(tmp_path: Path) -> None:
    history = [said("user", text("yes"))]
    one = said("assistant", text("Sure?"))
    two = said("assistant", text("Really?"))
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input=history, output=[one]),
        span("chat", 2, 3, input=[*history, one, said("user", text("yes"))], output=[two]),
    )
    assert [event.text for event in run.events] == ["yes", "Sure?", "yes", "Really?"]


def test_content_in_the_details_event_and_as_structured_attributes_is_read(tmp_path: Path) -> None:
    chat = span("chat", 0, 1)
    parts = {
        "arrayValue": {
            "values": [
                {
                    "kvlistValue": {
                        "values": [
                            {"key": "type", "value": {"stringValue": "text"}},
                            {"key": "content", "value": {"stringValue": "Go."}},
                        ]
                    }
                }
            ]
        }
    }
    message = {
        "kvlistValue": {"values": [{"key": "role", "value": {"stringValue": "user"}}, {"key": "parts", "value": parts}]}
    }
    attribute = {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [message]}}}
    chat["events"] = [{"name": "gen_ai.client.inference.operation.details", "attributes": [attribute]}]
    (run,) = runs_of(tmp_path, chat)
    assert [(event.kind, event.text) for event in run.events] == [("user", "Go."), ("assistant", "")]


def test_content_that_a_length_limit_cut_is_not_captured(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("chat", 0, 1, input='[{"role": "user", "parts": [{"ty', output='[{"role": "assist'),
        span("execute_tool", 1, 2, tool="read", call_id="a", arguments='{"id": "T', result='{"status": "ok", "rec'),
    )
    assert run.calls[0].arguments is None
    assert (run.results["a"].ok, run.results["a"].incomplete) == (None, True)
    assert run.calls_only


def test_repeats_of_one_request_are_runs_of_one_scenario(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path,
        *(span("chat", n, n + 1, f"t{n}", input=[said("user", text(f"Task {n % 2}"))], output=[]) for n in range(4)),
    )
    assert len({run.scenario for run in runs}) == 2
    assert sorted((run.scenario, run.run) for run in runs) == sorted(
        (run.scenario, n) for run in runs[:2] for n in (0, 1)
    )


def test_the_agents_error_is_the_end_of_the_run_and_its_tools_are_kept(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        span("invoke_agent", 0, 9, error="cap", agent="Ann"),
        span(
            "chat",
            1,
            2,
            definitions=[{"type": "function", "name": "read", "parameters": {"type": "object"}}],
            outcome=-1,
        ),
    )
    assert (run.end, run.agent, run.outcome) == ("error", "Ann", -1)
    assert run.trajectory.tools == (
        {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}},
    )


def test_one_document_over_several_lines_and_a_list_of_documents_are_read(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    one, two = document(span("execute_tool", 0, 1, "t", tool="x")), document(span("execute_tool", 1, 2, "u", tool="y"))
    path.write_text(json.dumps(one, indent=2), encoding="utf-8")
    assert [run.calls[0].tool for run in read_runs(path)] == ["x"]
    path.write_text(json.dumps([one, two], indent=1), encoding="utf-8")
    assert [run.calls[0].tool for run in read_runs(path, "otel")] == ["x", "y"]


def test_a_file_without_spans_of_an_agent_is_refused_in_one_line(tmp_path: Path) -> None:
    for spans in ([], [span("http", 0, 1)], [span("invoke_agent", 0, 1)]):
        with pytest.raises(InputError, match="must hold at least one run"):
            runs_of(tmp_path, *spans)


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ({"resourceSpans": 5}, "must be a list"),
        ({"resourceSpans": [5]}, "must be an object"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": 5}]}]}]}]}, "must be text"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "soon"}]}]}]}, "must be a whole number"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": 10**40}]}]}]}, "must be a whole number"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"status": "bad"}]}]}]}, "must be an object"),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": "a", "value": {"x": 1}}]}]}]}]},
            "must hold one of",
        ),
    ],
)
def test_a_broken_document_is_one_line_with_its_place(tmp_path: Path, broken: Any, rule: str) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(RecordError, match=rule) as error:
        list(read_runs(path))
    assert str(error.value).startswith(f"{path}:1")
    assert "\n" not in str(error.value)


def _reading(tmp_path: Path, captured: bool, size: int) -> Callable[[], Run]:
    calls = [tool_call("read", {"n": n}, "same") for n in range(size)]
    output = [said("assistant", *calls)] if captured else None
    tools = [
        span("execute_tool", 1 + n, 2 + n, id=f"s{n}", tool="read", call_id="same" if n % 2 else None)
        for n in range(size)
    ]
    return lambda: runs_of(tmp_path, span("chat", 0, 1, output=output), *tools)[0]


@pytest.mark.parametrize("captured", [True, False])
def test_five_thousand_calls_are_read_in_linear_time(tmp_path: Path, captured: bool) -> None:
    run = _reading(tmp_path, captured, 5_000)()
    assert len(run.calls) >= (5_000 if captured else 2_501)
    assert growth(lambda size: _reading(tmp_path, captured, size), 100) < 2.5
