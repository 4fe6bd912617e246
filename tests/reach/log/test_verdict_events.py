from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prm.errors import InputError
from prm.reach.judging.verdict import Diagnosis, Evidence, MilestoneVerdict, Moment, RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.judged import pair_verdicts
from prm.reach.log.otlp_values import plain_attributes
from prm.reach.log.read import read_runs
from prm.reach.log.verdict_events import evaluation_document
from prm.types import RunIdentity
from tests.reach.log.messages import call, says, trajectory, user
from tests.reach.log.spans import EPOCH, document, said, span, text, tool_call


def verdict(*milestones: MilestoneVerdict, covered: bool | None = False, **more: Any) -> RunVerdict:
    identity = RunIdentity("here", 7, 2, more.pop("id", None))
    return RunVerdict(
        *(identity, "s-1", "s", 2, more.pop("agent", "bot"), "plain", 3, "ticket", "0", 4, "final", milestones),
        covered=covered,
        **more,
    )


def events_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    (resource,) = document["resourceLogs"]
    (scope,) = resource["scopeLogs"]
    return [{**record, "attributes": plain_attributes(record, "test")} for record in scope["logRecords"]]


def test_one_event_a_milestone_and_one_for_coverage_with_value_label_and_explanation() -> None:
    proof = Evidence(3, "'C9' of the ticket went into lookup_customer.customer_id")
    found = events_of(
        evaluation_document(
            verdict(
                MilestoneVerdict("M1", "reached", reached=Moment(4, 1), evidence=(proof,)),
                MilestoneVerdict("M2", "touched", reason="called_wrong"),
                MilestoneVerdict("M3", "n/a"),
                MilestoneVerdict("M4", "missed", reason="never_called"),
                MilestoneVerdict("M5", "unscorable"),
                minefields={"foreign_ticket": True, "other": None},
                diagnoses=(Diagnosis("fabrication", 4, evidence=(Evidence(4, "'X' stands nowhere"),)),),
            )
        )
    )
    scored = [
        tuple(
            event["attributes"].get(f"gen_ai.evaluation.{name}")
            for name in ("name", "score.value", "score.label", "explanation")
        )
        for event in found
    ]
    assert scored == [
        ("reach.M1", 1.0, "reached", proof.what),
        ("reach.M2", 0.5, "touched", "called_wrong"),
        ("reach.M3", None, "n/a", None),
        ("reach.M4", 0.0, "missed", "never_called"),
        ("reach.M5", None, "unscorable", None),
        (
            *("reach.covered", 0.0, "not_covered"),
            "1 of 4 required milestones reached; open: M2, M4; cannot be judged: M5; minefields hit: foreign_ticket; "
            "'X' stands nowhere",
        ),
    ]
    assert {event["eventName"] for event in found} == {"gen_ai.evaluation.result"}
    assert found[0]["attributes"]["prm.scenario"] == "s-1"
    assert found[0]["attributes"]["gen_ai.agent.name"] == "bot"


def test_what_cannot_be_judged_has_no_score() -> None:
    (event,) = events_of(evaluation_document(verdict(covered=None)))
    assert event["attributes"]["gen_ai.evaluation.score.label"] == "unscorable"
    assert "gen_ai.evaluation.score.value" not in event["attributes"]


def test_events_of_a_trace_stand_at_its_spans(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    output = [said("assistant", tool_call("read", {"id": 1}, "a"))]
    chat = span("chat", 1, 2, "t1", "chat-1", input=[said("user", text("Go."))], output=output)
    path.write_text(json.dumps(document(chat)))
    (run,) = read_runs(path)
    reached = MilestoneVerdict("M1", "reached", reached=Moment(run.calls[0].batch, 0))
    first, last = events_of(evaluation_document(verdict(reached, covered=True, id="otel:t1"), run))
    assert (first["traceId"], first["spanId"], first["timeUnixNano"]) == ("t1", "chat-1", str(EPOCH + 2 * 10**9))
    assert (last["traceId"], last.get("spanId")) == ("t1", None)
    assert first["attributes"]["gen_ai.conversation.id"] == "t1"


def test_runs_find_their_verdicts_and_a_verdict_on_no_run_is_refused() -> None:
    runs = [
        run_of_trajectory(
            trajectory(
                user(), says("", call("read", {})), reach={"scenario": "s-1", "agent": agent, "variant": "plain"}
            )
        )
        for agent in "ab"
    ]
    of_b = verdict(agent="b")
    assert list(pair_verdicts(runs, [of_b])) == [(runs[0], None), (runs[1], of_b)]
    with pytest.raises(InputError, match="each must be on a run of the logs"):
        list(pair_verdicts(runs, [of_b, of_b]))
