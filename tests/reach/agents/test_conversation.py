"""The loop: what is written down, and how every run ends."""

from __future__ import annotations

import json
import time

import pytest

from prm.errors import ConfigError
from prm.reach.agents.chat import AgentError, Reply
from prm.reach.agents.conversation import Limits
from prm.reach.agents.plan import ACT, ASK
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.functions import FunctionWorld
from prm.reach.desk.environment import Call
from prm.reach.desk.variants import load_variant
from prm.reach.log.plan import plan_in
from tests.reach.agents.toys import Scripted, call, converse, desk_task

READ = call("read_ticket", json.dumps({"ticket_id": desk_task().scenario.ticket_id}))  # type: ignore[union-attr]


def test_a_run_is_system_user_and_then_calls_results_and_the_answer() -> None:
    log = converse(Scripted(Reply("Reading.", (READ,)), Reply("Done.")))
    assert [message["role"] for message in log.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert log.messages[1]["content"] == desk_task().request
    assert log.messages[2]["tool_calls"][0]["function"]["arguments"] == READ.arguments
    result = json.loads(log.messages[3]["content"])
    assert (result["status"], result["data_quality"]) == ("ok", "complete")
    assert (log.messages[3]["name"], log.messages[3]["tool_call_id"]) == ("read_ticket", "call_1")
    assert (log.end, log.error) == ("final", None)


def test_every_request_return_and_time_is_recorded() -> None:
    log = converse(Scripted(Reply("", (READ,), about={"usage": {"total_tokens": 5}}), Reply("Done.")))
    assert [(r["index"], r["purpose"]) for r in log.requests] == [(2, "act"), (4, "act")]
    assert log.requests[0]["usage"] == {"total_tokens": 5}
    assert all(r["seconds"] >= 0 and r["started"].endswith("+00:00") for r in log.requests)
    assert [(c["id"], c["index"]) for c in log.calls] == [("call_1", 3)]
    assert all(isinstance(message["timestamp"], str) for message in log.messages[2:])
    assert log.started
    assert log.seconds >= 0


def test_the_model_sees_no_key_of_ours() -> None:
    model = Scripted(Reply("", (READ,)), Reply("Done."))
    converse(model)
    keys = {key for request in model.requests for turn in request.turns for key in turn.message}
    assert keys <= {"role", "content", "tool_calls", "tool_call_id", "name"}


def test_calls_of_one_message_are_all_made_before_the_next_request() -> None:
    model = Scripted(Reply("", (READ, READ)), Reply("Done."))
    log = converse(model)
    assert [message["role"] for message in log.messages[2:]] == ["assistant", "tool", "tool", "assistant"]
    assert len(model.requests[1].turns) == 5


def test_ids_that_are_missing_or_repeat_become_unique_and_others_stay() -> None:
    batch = (call("read_ticket", "{}", "a"), call("read_ticket", "{}", "a"), call("read_ticket"))
    log = converse(Scripted(Reply("", batch), Reply("", (call("read_ticket", "{}", "call_2"),)), Reply("Done.")))
    ids = [c["id"] for message in log.messages for c in message.get("tool_calls", ())]
    assert ids[0] == "a"
    assert len(set(ids)) == 4
    assert ids == [m["tool_call_id"] for m in log.messages if m["role"] == "tool"]


@pytest.mark.parametrize("arguments", ['{"ticket_id": "T1"', "[1]", '"T1"', "null", "NaN", '{"a": ' * 300])
def test_arguments_that_are_no_object_stay_verbatim_and_the_agent_is_told(arguments: str) -> None:
    log = converse(Scripted(Reply("", (call("read_ticket", arguments),)), Reply("Sorry.")))
    assert log.messages[2]["tool_calls"][0]["function"]["arguments"] == arguments
    assert json.loads(log.messages[3]["content"])["status"] == "invalid"
    assert log.end == "final"


def test_an_unknown_tool_is_invalid_and_the_run_goes_on() -> None:
    log = converse(Scripted(Reply("", (call("delete_everything"),)), Reply("Sorry.")))
    assert json.loads(log.messages[3]["content"])["status"] == "invalid"
    assert log.end == "final"


@pytest.mark.parametrize("tool", ["read_ticket", "ask_user", "update_ticket", "generate_action", "check_inventory"])
@pytest.mark.parametrize("value", [None, [], {}, 3, True, {"a": [None]}, "１２", "票"])
def test_no_argument_breaks_the_desk(tool: str, value: object) -> None:
    parameters = next(t for t in load_variant("plain").tools if t["function"]["name"] == tool)["function"]["parameters"]
    arguments = json.dumps(dict.fromkeys(parameters["required"], value))
    log = converse(Scripted(Reply("", (call(tool, arguments),)), Reply("Done.")))
    assert (log.end, log.error) == ("final", None)


def test_over_the_cap_the_run_ends_and_the_batch_is_not_made() -> None:
    log = converse(Scripted(Reply("", (READ, READ)), Reply("More.", (READ, READ))), limits=Limits(max_calls=3))
    assert log.end == "cap"
    assert len(log.calls) == 2
    assert log.messages[-1]["role"] == "tool"
    assert log.unexecuted is not None
    assert log.unexecuted["content"] == "More."
    assert len(log.unexecuted["tool_calls"]) == 2
    assert log.requests[-1]["index"] is None


def test_exactly_the_cap_may_be_used() -> None:
    log = converse(Scripted(Reply("", (READ,)), Reply("", (READ, READ)), Reply("Done.")), limits=Limits(max_calls=3))
    assert (log.end, len(log.calls)) == ("final", 3)


def test_an_agent_that_calls_for_ever_ends_at_the_cap() -> None:
    log = converse(Scripted(Reply("", (READ,))))
    assert (log.end, len(log.calls)) == ("cap", 15)


def test_an_exception_of_the_agent_ends_the_run_with_an_error() -> None:
    log = converse(Scripted(Reply("", (READ,)), KeyError("boom")))
    assert log.end == "error"
    assert log.error == {"kind": "exception", "message": "KeyError: 'boom'"}
    assert log.messages[-1]["role"] == "tool"
    assert log.requests[-1]["error"] == "KeyError: 'boom'"


def test_what_an_agent_knows_of_its_failure_is_recorded() -> None:
    log = converse(Scripted(AgentError("timeout", "late", {"attempts": [1, 2]})))
    assert log.error == {"kind": "timeout", "message": "late"}
    assert log.requests[0]["attempts"] == [1, 2]


def test_what_no_run_can_mend_is_raised() -> None:
    with pytest.raises(ConfigError):
        converse(Scripted(ConfigError("wrong key")))


def test_a_run_that_takes_too_long_ends() -> None:
    def slow(request: object) -> Reply:
        end = time.monotonic() + 0.06
        while time.monotonic() < end:
            pass
        return Reply("", (READ,))

    log = converse(Scripted(slow), limits=Limits(run_seconds=0.05))
    assert log.error is not None
    assert log.error["kind"] == "timeout"
    assert len(log.calls) == 1


def test_the_time_left_of_the_run_bounds_a_request() -> None:
    model = Scripted(Reply("Done."))
    converse(model, limits=Limits(request_seconds=100, run_seconds=7))
    assert 0 < model.requests[0].timeout_seconds <= 7


def test_an_environment_that_breaks_ends_the_run_with_an_error() -> None:
    class Broken:
        tools = ("f",)
        calls_left = 9

        def execute(self, calls: list[Call]) -> list[object]:
            raise OSError("cable pulled")

        def final_success(self) -> None:
            return None

        def close(self) -> None:
            pass

    class BrokenWorld:
        name, declarations, settings = "broken", (), {}  # type: ignore[var-annotated]

        def open(self, *given: object) -> Broken:
            return Broken()

    log = converse(Scripted(Reply("", (call("f"),))), BrokenWorld())  # type: ignore[arg-type]
    assert log.error == {"kind": "environment", "message": "f: OSError: cable pulled"}
    assert log.messages[-1]["role"] == "assistant"


# Plans


def stating(plan: str) -> Reply:
    return Reply(plan, memory="p")


def test_a_plan_is_asked_for_before_every_batch_and_is_found_in_the_message() -> None:
    plan = '{"plan": {"why": "need it", "calls": [{"tool": "read_ticket", "arguments": {}}]}}'
    model = Scripted(
        stating(plan), Reply("Go.", (READ,), memory="a"), stating('{"plan": {"calls": []}}'), Reply("Done.")
    )
    log = converse(model, planning="json")
    assert [request.purpose for request in model.requests] == ["plan", "act", "plan", "act"]
    assert model.requests[0].turns[-1].message["content"] == ASK
    assert [turn.message["content"] for turn in model.requests[1].turns[-3:]] == [ASK, plan, ACT]
    message = log.messages[2]
    assert plan_in(message["content"], True) == json.loads(plan)["plan"]
    assert message["content"].endswith("\nGo.")
    assert log.messages[-1]["content"] == "Done."
    assert [r["index"] for r in log.requests] == [None, 2, None, 4]
    assert log.requests[0]["plan"]["why"] == "need it"


def test_the_questions_for_plans_are_no_messages_of_the_run_and_the_plan_stays_in_sight() -> None:
    model = Scripted(stating('{"plan": {"why": "x"}}'), Reply("", (READ,), memory="a"), stating("{}"), Reply("Done."))
    log = converse(model, planning="json")
    assert [message["role"] for message in log.messages] == ["system", "user", "assistant", "tool", "assistant"]
    seen = model.requests[2].turns
    assert [turn.message["role"] for turn in seen] == ["system", "user", "assistant", "tool", "user"]
    assert '"why": "x"' in seen[2].message["content"]
    assert seen[2].memory == ("p", "a")


@pytest.mark.parametrize("text", ["no idea", "", "{broken", "[1]", '{"plan": '])
def test_a_plan_that_is_none_is_recorded_as_none_and_the_run_goes_on(text: str) -> None:
    log = converse(Scripted(stating(text), Reply("Go.", (READ,)), stating(text), Reply("Done.")), planning="json")
    assert log.messages[2]["content"] == "Go."
    assert log.requests[0]["plan"] is None
    assert log.requests[0]["text"] == text
    assert log.end == "final"


def test_own_functions_are_a_world_as_good_as_the_desk() -> None:
    def double(n: int) -> int:
        """Doubles."""
        return 2 * n

    world = FunctionWorld(double, "maths")
    log = converse(Scripted(Reply("", (call("double", '{"n": 21}'),)), Reply("42")), world, task=Task("t", "21?", "t"))
    assert json.loads(log.messages[3]["content"])["record"] == {"result": 42}


@pytest.mark.parametrize("option", ["max_calls", "request_seconds", "run_seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_that_is_none_is_refused(option: str, value: float) -> None:
    with pytest.raises(ConfigError, match="must be more than 0"):
        Limits(**{option: value})  # type: ignore[arg-type]
