"""An OpenAI-compatible endpoint: a real server on this machine, with everything that real ones do wrong."""

from __future__ import annotations

import json
import time

import pytest

from prm.errors import ConfigError
from prm.reach.agents.chat import AgentError, ChatRequest, Reply, Turn
from prm.reach.agents.endpoint import Endpoint, EndpointOptions
from prm.reach.agents.text_calls import HOW_TO_CALL
from prm.reach.desk.variants import load_variant
from tests.reach.agents.fake_endpoint import KEY, Answer, FakeEndpoint, fails, says, serving
from tests.reach.agents.toys import converse

TOOLS = load_variant("plain").tools
ASKED = (Turn({"role": "system", "content": "s"}), Turn({"role": "user", "content": "u"}))


def endpoint_at(server: FakeEndpoint, **options: object) -> Endpoint:
    given = {"model": "m", "base_url": server.url, "api_key": KEY, "first_pause_seconds": 0.0, **options}
    return Endpoint(EndpointOptions(**given))  # type: ignore[arg-type]


def ask(answers: list[Answer], request: ChatRequest | None = None, **options: object) -> tuple[Reply, FakeEndpoint]:
    with serving(answers) as server:
        return endpoint_at(server, **options).answer(request or ChatRequest(ASKED, TOOLS)), server


def failure(answers: list[Answer], **options: object) -> AgentError:
    with serving(answers) as server, pytest.raises(AgentError) as caught:
        endpoint_at(server, **options).answer(ChatRequest(ASKED, TOOLS))
    return caught.value


def test_text_and_parallel_calls_come_through_as_they_are() -> None:
    calls = [("read_ticket", '{"ticket_id" :"T1"}'), ("check_inventory", {"sku": "灯-２"})]
    reply, server = ask([says("Both.", *calls)])
    assert reply.text == "Both."
    assert [(c.id, c.tool) for c in reply.calls] == [("srv_0", "read_ticket"), ("srv_1", "check_inventory")]
    assert reply.calls[0].arguments == '{"ticket_id" :"T1"}'
    assert json.loads(reply.calls[1].arguments) == {"sku": "灯-２"}
    assert server.requests[0]["messages"] == [dict(turn.message) for turn in ASKED]
    assert server.requests[0]["tools"] == [dict(tool) for tool in TOOLS]


def test_what_is_worth_recording_is_recorded() -> None:
    reply, _ = ask([says("Hi.", reasoning_content="hm")])
    assert reply.about["usage"]["total_tokens"] == 18
    assert (reply.about["model"], reply.about["finish_reason"]) == ("fake-1", "stop")
    assert reply.about["message"]["reasoning_content"] == "hm"
    assert len(reply.about["attempts"]) == 1


def test_null_content_and_no_arguments_are_read() -> None:
    reply, _ = ask([says(None, ("read_ticket", ""))])
    assert (reply.text, reply.calls[0].arguments) == ("", "{}")


def test_options_reach_the_server_and_absent_ones_do_not() -> None:
    _, plain = ask([says("x")])
    assert set(plain.requests[0]) == {"model", "messages", "tools"}
    _, full = ask([says("x")], temperature=0.0, max_answer_tokens=9, extra_body={"seed": 4, "top_k": 1})
    assert {key: full.requests[0][key] for key in ("temperature", "max_tokens", "seed", "top_k")} == {
        "temperature": 0.0,
        "max_tokens": 9,
        "seed": 4,
        "top_k": 1,
    }


def test_a_plan_is_asked_for_without_calls() -> None:
    _, server = ask([says("{}")], ChatRequest(ASKED, TOOLS, "plan"))
    assert server.requests[0]["tool_choice"] == "none"


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_what_may_pass_is_tried_again_and_recorded(status: int) -> None:
    reply, server = ask([fails(status), fails(status), says("ok")])
    assert (reply.text, len(server.requests)) == ("ok", 3)
    attempts = reply.about["attempts"]
    assert [("error" in attempt) for attempt in attempts] == [True, True, False]
    assert str(status) in attempts[0]["error"]


def test_after_the_last_attempt_the_run_breaks_off() -> None:
    error = failure([fails(500, "out of order")], attempts=3)
    assert error.kind == "request"
    assert "out of order" in str(error)
    assert len(error.about["attempts"]) == 3


@pytest.mark.parametrize("status", [400, 403, 413, 422])
def test_what_will_not_pass_is_asked_once(status: int) -> None:
    error = failure([fails(status, "too long")])
    assert (error.kind, len(error.about["attempts"])) == ("request", 1)


@pytest.mark.parametrize("status", [401, 404])
def test_a_wrong_key_or_model_ends_the_job_in_one_line(status: int) -> None:
    with serving([fails(status, f"Incorrect key {KEY}")]) as server, pytest.raises(ConfigError) as caught:
        endpoint_at(server).answer(ChatRequest(ASKED, TOOLS))
    assert "\n" not in str(caught.value)
    assert "'m'" in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_key_is_sent_and_stands_nowhere_else() -> None:
    reply, server = ask([fails(500, f"bad {KEY}"), says("ok")])
    assert server.keys == [f"Bearer {KEY}"] * 2
    assert KEY not in json.dumps(dict(reply.about))
    error = failure([fails(429, f"bad {KEY}")], attempts=1)
    assert KEY not in f"{error} {error.about}"
    garbage = failure([(200, f"<html>{KEY}</html>")])
    assert KEY not in f"{garbage} {garbage.about}"
    options = EndpointOptions("m", "http://user:secret@host/v1", KEY)
    assert KEY not in repr(options)
    assert Endpoint(options).settings["base_url"] == "http://host/v1"
    assert "secret" not in str(Endpoint(options).settings)


def test_a_late_answer_is_given_up_and_tried_again() -> None:
    with serving([lambda asked: server.released.wait(30) and says("late"), says("ok")]) as server:  # type: ignore[list-item, return-value]
        reply = endpoint_at(server).answer(ChatRequest(ASKED, TOOLS, timeout_seconds=0.1))
    assert reply.text == "ok"
    assert "error" in reply.about["attempts"][0]


def test_only_late_answers_are_a_time_out() -> None:
    late: Answer = lambda asked: server.released.wait(30) and says("late")  # type: ignore[return-value]  # noqa: E731
    with serving([late]) as server, pytest.raises(AgentError) as caught:
        endpoint_at(server, attempts=2).answer(ChatRequest(ASKED, TOOLS, timeout_seconds=0.05))
    assert caught.value.kind == "timeout"
    assert len(caught.value.about["attempts"]) == 2


def test_no_pause_goes_beyond_the_runs_end() -> None:
    with serving([fails(429)]) as server:
        server.headers["Retry-After"] = "50"
        start = time.monotonic()
        with pytest.raises(AgentError):
            endpoint_at(server).answer(ChatRequest(ASKED, TOOLS, deadline=start + 0.1))
    assert time.monotonic() - start < 5


def test_a_server_that_asks_for_no_pause_gets_none() -> None:
    with serving([fails(429), says("ok")]) as server:
        server.headers["Retry-After"] = "0"
        start = time.monotonic()
        assert endpoint_at(server, first_pause_seconds=50).answer(ChatRequest(ASKED, TOOLS)).text == "ok"
    assert time.monotonic() - start < 5


def test_nobody_there_is_a_failed_request() -> None:
    error = None
    with pytest.raises(AgentError) as caught:
        Endpoint(EndpointOptions("m", "http://127.0.0.1:9/v1", KEY, attempts=1)).answer(ChatRequest(ASKED, TOOLS))
    error = caught.value
    assert error.kind == "request"


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "",
        "null",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": null}',
        '{"choices": [[]]}',
    ],
)
def test_an_answer_of_another_kind_is_garbage(body: str) -> None:
    error = failure([(200, body)])
    assert error.kind == "garbage"
    assert error.about["answer"] == body


@pytest.mark.parametrize("calls", [[{}], ["x"], [None], [{"function": {"name": 3}}], [{"function": {"name": ""}}], "x"])
def test_a_call_that_names_no_tool_is_garbage(calls: object) -> None:
    status, body = says("x")
    body["choices"][0]["message"]["tool_calls"] = calls
    assert failure([(status, body)]).kind == "garbage"


def test_a_server_without_tools_is_told_them_in_text() -> None:
    text = 'I look. <tool_call>{"name": "read_ticket", "arguments": {"ticket_id": "T1"}}</tool_call>'
    reply, server = ask([says(text)], call_format="text")
    assert (reply.text, reply.calls[0].tool) == ("I look.", "read_ticket")
    asked = server.requests[0]
    assert "tools" not in asked
    assert HOW_TO_CALL in asked["messages"][0]["content"]
    assert reply.about["message"]["content"] == text


def test_a_whole_run_over_http() -> None:
    """Parallel calls, broken arguments, an unknown tool, a hiccup of the server, and the end."""
    answers: list[Answer] = [
        says("Reading.", ("read_ticket", {"ticket_id": "T57"}), ("lookup_customer", {"customer_id": "C28"})),
        fails(500),
        says("", ("check_inventory", '{"sku": "corn'), ("erase", {})),
        says("Done."),
    ]
    with serving(answers) as server:
        log = converse(endpoint_at(server))
    assert log.end == "final"
    statuses = [json.loads(message["content"])["status"] for message in log.messages if message["role"] == "tool"]
    assert statuses == ["ok", "ok", "invalid", "invalid"]
    assert log.messages[5]["tool_calls"][0]["function"]["arguments"] == '{"sku": "corn'
    assert [len(request["attempts"]) for request in log.requests] == [1, 2, 1]
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "tool", "tool"]
    assert all("timestamp" not in message for message in server.requests[-1]["messages"])


@pytest.mark.parametrize(
    "options",
    [{"temperature": float("nan")}, {"temperature": float("inf")}, {"temperature": -1.0}, {"max_answer_tokens": 0}],
)
def test_options_that_no_request_can_carry_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"--(temperature|max-answer-tokens): must be"):
        EndpointOptions("m", **options)  # type: ignore[arg-type]
