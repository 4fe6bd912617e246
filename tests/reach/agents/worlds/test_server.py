"""A tool server over HTTP: the protocol, and everything that can go wrong in it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from prm.errors import ConfigError
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.server import ServerWorld
from prm.reach.desk.conformance import conformance_violations
from prm.reach.desk.environment import Call, Envelope
from tests.reach.agents.local_server import JsonHandler, listening

TASK = Task("t", "Do.", "t", data={"more": 1})
DECLARED = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
Answers = Callable[[dict[str, Any] | None], tuple[int, Any]]


@contextmanager
def serving(answers: Answers) -> Iterator[tuple[str, list[Any]]]:
    """A server; yields its address and the bodies it was asked with."""
    asked: list[Any] = []

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            self.send(*answers(None))

        def do_POST(self) -> None:
            body = self.body()
            asked.append(body)
            self.send(*answers(body))

    with listening(Handler) as address:
        yield f"{address}/", asked


def one_tool(status: int, value: Any) -> Answers:
    return lambda body: (200, {"tools": [DECLARED]}) if body is None else (status, value)


def result(status: int, value: Any) -> Envelope:
    with serving(one_tool(status, value)) as (url, _):
        return ServerWorld(url, 5).open(TASK, 0, 15).execute([Call("f", {"a": "灯"})])[0]


def test_a_call_is_posted_and_its_return_is_the_record() -> None:
    with serving(one_tool(200, {"x": 1})) as (url, asked):
        world = ServerWorld(url, 5)
        run = world.open(TASK, 2, 15)
        assert world.declarations == (DECLARED,)
        assert run.execute([Call("f", {"a": "灯"})]) == [Envelope("ok", "complete", False, {"x": 1})]
        assert run.final_success() is None
    assert (asked[0]["tool"], asked[0]["arguments"]) == ("f", {"a": "灯"})
    assert asked[0]["run"].startswith("t/2/")


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "invalid"),
        (404, "not_found"),
        (408, "timeout"),
        (422, "invalid"),
        (403, "refused"),
        (409, "refused"),
        (500, "error"),
        (504, "timeout"),
    ],
)
def test_a_status_says_what_went_wrong(status: int, told: str) -> None:
    assert result(status, {"error": "because"}).status == told


def test_the_servers_words_reach_the_agent() -> None:
    assert result(409, {"error": "no copy is in"}).record == {"error": "no copy is in"}
    assert result(409, {"message": "no"}).record == {"error": "no"}
    assert result(409, "plain words").record == {"error": "HTTP status 409 Conflict"}


def test_an_envelope_passes_and_other_values_are_wrapped() -> None:
    assert result(200, {"status": "refused", "record": {"why": "x"}}) == Envelope(
        "refused", "partial", False, {"why": "x"}
    )
    assert result(200, [1]).record == {"result": [1]}
    assert result(200, None).record == {"result": None}


@pytest.mark.parametrize("body", ["<html>", "", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 5000])
def test_an_answer_that_is_no_json_is_an_error(body: str) -> None:
    assert result(200, body).status == "error"


def test_a_late_answer_is_a_time_out() -> None:
    never = threading.Event()

    def late(body: dict[str, Any] | None) -> tuple[int, Any]:
        if body is not None:
            never.wait(30)
        return 200, {"tools": [DECLARED]}

    with serving(late) as (url, _):
        assert ServerWorld(url, 0.2).open(TASK, 0, 15).execute([Call("f", {})])[0].status == "timeout"
        never.set()


def test_a_server_that_has_gone_is_an_error() -> None:
    with serving(one_tool(200, {})) as (url, _):
        run = ServerWorld(url, 5).open(TASK, 0, 15)
    assert run.execute([Call("f", {})])[0].status == "error"


def test_one_with_sessions_is_told_beginning_and_end() -> None:
    def answer(body: dict[str, Any] | None) -> tuple[int, Any]:
        if body is None:
            return 200, {"tools": [DECLARED], "sessions": True}
        return 200, {"final_success": True} if "end" in body else {}

    with serving(answer) as (url, asked):
        run = ServerWorld(url, 5).open(TASK, 0, 15)
        run.execute([Call("f", {})])
        assert run.final_success() is True
    assert [next(iter(body)) for body in asked] == ["start", "tool", "end"]
    assert asked[0]["start"]["task"] == TASK.content
    assert len({asked[0]["start"]["run"], asked[1]["run"], asked[2]["end"]["run"]}) == 1


@pytest.mark.parametrize("value", [[], {}, {"tools": []}, {"tools": [{}]}, {"tools": [{"function": {}}]}, "<html>"])
def test_a_server_that_declares_no_tools_is_refused_in_one_line(value: Any) -> None:
    with serving(lambda body: (200, value)) as (url, _), pytest.raises(ConfigError) as caught:
        ServerWorld(url, 5)
    assert "\n" not in str(caught.value)


def test_what_does_not_speak_http_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=lambda: other.accept()[0].sendall(b"220 mail.example\r\n"), daemon=True).start()
        with pytest.raises(ConfigError, match="must answer") as caught:
            ServerWorld(f"http://127.0.0.1:{other.getsockname()[1]}/", 5)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://a b/", "file:///etc/hosts", "http://"])
def test_an_address_without_a_server_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ServerWorld(url, 5)
    assert "\n" not in str(caught.value)


def test_it_conforms() -> None:
    def answer(body: dict[str, Any] | None) -> tuple[int, Any]:
        if body is None:
            return 200, {"tools": [DECLARED]}
        return (422, {"error": "x"}) if "no_such_parameter" in body["arguments"] else (200, {"a": None})

    with serving(answer) as (url, _):
        world = ServerWorld(url, 5)
        assert conformance_violations(lambda: world.open(TASK, 0, 15), [[Call("f", {}), Call("g", {})]]) == []
