from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prm.data.jsonl import write_jsonl
from prm.errors import RecordError
from prm.reach.desk.generate import generate_runs
from prm.reach.judging.provenance_records import Leaf, Provenance, Source
from prm.reach.judging.verdict import Evidence, MilestoneVerdict, Moment, RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.read import read_runs
from prm.reach.log.run import Run
from prm.reach.log.to_flat import flat_log, flat_rows
from prm.types import RunIdentity
from tests.reach.log.messages import call, result, says, trajectory, user

KEYS = [
    *("round_id", "step", "call_id", "batch", "tool", "input", "result", "source", "target"),
    *("result_status", "milestones_reached", "timestamp"),
]


def row(**values: Any) -> dict[str, Any]:
    return {"round_id": "r1", "tool": "read", "input": {}, **values}


def runs_of(tmp_path: Path, *rows: dict[str, Any]) -> list[Run]:
    path = tmp_path / "flat.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return list(read_runs(path))


def calls_of(run: Run) -> list[tuple[Any, ...]]:
    found = []
    for number, event in enumerate(event for event in run.batches if event.calls):
        for one in event.calls:
            back = run.results.get(one.id)
            shown = (
                None if back is None else (back.ok, back.value, back.error, back.partial, back.truncated, back.envelope)
            )
            found.append(
                (
                    number,
                    one.id,
                    one.tool,
                    one.arguments,
                    one.raw if one.arguments is None else "",
                    shown,
                    one.timestamp,
                )
            )
    return found


def test_a_round_trip_keeps_calls_results_batches_and_who_ran_what(tmp_path: Path) -> None:
    runs = [run_of_trajectory(one) for one in generate_runs(40, seed=3, variant="mixed")]
    path = tmp_path / "flat.jsonl"
    write_jsonl(path, flat_log((run, None, None) for run in runs))
    back = list(read_runs(path))
    assert [calls_of(run) for run in back] == [calls_of(run) for run in runs]
    for read, run in zip(back, runs, strict=True):
        assert (
            read.scenario,
            read.template,
            read.run,
            read.agent,
            read.variant,
            read.seed,
            read.end,
            read.outcome,
        ) == (
            *(run.scenario, run.template, run.run, run.agent, run.variant, run.seed, run.end),
            run.outcome,
        )
        assert read.calls_only


def test_a_round_trip_keeps_broken_arguments_errors_and_missing_results(tmp_path: Path) -> None:
    run = run_of_trajectory(
        trajectory(
            user(),
            says(
                "",
                *(
                    call("read", arguments, id)
                    for arguments, id in (('{"id": "T', "a"), (None, "b"), ({"编号": "１"}, "c"))
                ),
            ),
            result("Error: no such flight", "a"),
            result("plain text", "b"),
            says("", call("read", {"n": 1}, "d"), call("read", {"n": 2}, "e")),
            result('{"cut": "of', "e"),
            says("bye"),
        )
    )
    path = tmp_path / "flat.jsonl"
    write_jsonl(path, flat_rows(run))
    (back,) = read_runs(path)
    assert calls_of(back) == calls_of(run)
    assert back.results["e"].incomplete
    assert "d" not in back.results


def test_a_row_holds_the_twelve_keys_in_their_order_and_who_ran_what() -> None:
    run = run_of_trajectory(
        trajectory(user(), says("", {**call("read", {"id": 1}, "a"), "timestamp": 5}), result({"x": [1]}, "a"))
    )
    (written,) = flat_rows(run)
    assert list(written)[:12] == KEYS
    assert {key: written[key] for key in KEYS} == {
        "round_id": "here/here/7/bot/2",
        "step": 1,
        "call_id": "a",
        "batch": 1,
        "tool": "read",
        "input": {"id": 1},
        "result": {"x": [1]},
        "source": None,
        "target": None,
        "result_status": "ok",
        "milestones_reached": None,
        "timestamp": 5,
    }
    assert {key: value for key, value in written.items() if key not in KEYS} == {
        "scenario": "here/7",
        "template": "here/7",
        "run": 2,
        "agent": "bot",
        "request": "Go.",
    }


def verdict(*milestones: MilestoneVerdict) -> RunVerdict:
    return RunVerdict(RunIdentity("here", 7, 2), "here/7", "here/7", 2, "bot", "", None, "s", "0", 2, None, milestones)


def test_verdict_and_provenance_fill_what_was_reached_and_what_fed_what() -> None:
    run = run_of_trajectory(
        trajectory(
            user(),
            says("", call("read", {}, "a")),
            result({"sku": "lamp-4"}, "a"),
            says("", call("stock", {"sku": "lamp-4"}, "b")),
        )
    )
    proof = Evidence(3, "lamp-4 went on", "b", "sku", "lamp-4", 2, "a", "sku")
    reached = MilestoneVerdict("M1", "reached", reached=Moment(3, 1), evidence=(proof, proof))
    rows = list(flat_rows(run, verdict(reached, MilestoneVerdict("M2", "missed"))))
    assert [(r["source"], r["target"], r["milestones_reached"]) for r in rows] == [([], ["b"], []), (["a"], [], ["M1"])]
    traced = Provenance(
        (Leaf(3, "b", "stock", ("sku",), "lamp-4", "ref", "result", (Source(2, "a", ("sku",)), Source(0))),)
    )
    rows = list(flat_rows(run, None, traced))
    assert [(r["source"], r["target"], r["milestones_reached"]) for r in rows] == [([], ["b"], None), (["a"], [], None)]


def test_rows_of_several_runs_may_stand_mixed(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path,
        row(round_id="r1", tool="a"),
        row(round_id="r2", tool="b"),
        row(round_id="r2", tool="c"),
        row(round_id="r1", tool="d"),
        row(round_id=3, tool="e"),
    )
    assert [(run.scenario, [c.tool for c in run.calls]) for run in runs] == [
        ("r2", ["b", "c"]),
        ("r1", ["a", "d"]),
        ("3", ["e"]),
    ]


def test_steps_give_the_order_and_equal_batches_one_message(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path,
        row(step=3, tool="c", batch=4, result=1),
        row(step=1, tool="a", batch=2, result=2),
        row(step=2, tool="b", batch=2, result=3),
        row(step=4, tool="d", result=4),
        row(step=5, tool="e", result=5),
    )
    assert [[c.tool for c in event.calls] for event in run.batches] == [["a", "b"], ["c"], ["d"], ["e"]]
    assert [run.results[c.id].value for c in run.calls] == [2, 3, 1, 4, 5]


def test_repeated_call_ids_and_missing_results_stay_with_their_rows(tmp_path: Path) -> None:
    (run,) = runs_of(
        tmp_path, row(call_id="c", batch=1), row(call_id="c", batch=1, result="two"), row(call_id="c", result="three")
    )
    assert [run.results[c.id].value if c.id in run.results else None for c in run.calls] == [None, "two", "three"]


@pytest.mark.parametrize(
    ("status", "value", "ok"),
    [
        ("ok", {"a": 1}, True),
        ("error", {"a": 1}, False),
        ("not_found", None, False),
        ("pending", {"a": 1}, None),
        (None, {"status": "refused", "record": None}, False),
        ("ok", {"status": "refused", "record": None}, False),
    ],
)
def test_the_status_says_how_it_went_unless_the_result_does(tmp_path: Path, status: Any, value: Any, ok: Any) -> None:
    (run,) = runs_of(tmp_path, row(call_id="a", result_status=status, result=value))
    assert run.results["a"].ok is ok


def test_a_status_without_a_result_leaves_what_was_returned_unknown(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, row(call_id="a", result_status="ok"))
    assert (run.results["a"].ok, run.results["a"].incomplete, run.results["a"].value) == (True, True, None)


def test_runs_of_one_scenario_without_a_number_are_counted(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, *(row(round_id=f"r{n}", scenario="s") for n in range(3)))
    assert [(run.scenario, run.run) for run in runs] == [("s", 0), ("s", 1), ("s", 2)]


@pytest.mark.parametrize(
    ("broken", "key"),
    [
        ({"round_id": None}, "round_id"),
        ({"round_id": True}, "round_id"),
        ({"tool": 5}, "tool"),
        ({"input": [1]}, "input"),
        ({"result_status": 200}, "result_status"),
        ({"outcome": True}, "outcome"),
        ({"outcome": 0}, "outcome"),
        ({"agent": 5}, "agent"),
        ({"request": ["Go."]}, "request"),
    ],
)
def test_a_broken_row_is_one_line_with_its_place(tmp_path: Path, broken: dict[str, Any], key: str) -> None:
    with pytest.raises(RecordError, match=rf"flat\.jsonl:1: {key}: must"):
        runs_of(tmp_path, row(**broken))


def test_the_request_is_the_first_message_and_what_else_was_said_stays_unknown(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, row(request="Ticket T1."), row(request="not the first row's"))
    assert [(event.kind, event.text) for event in run.events] == [
        ("user", "Ticket T1."),
        ("assistant", ""),
        ("assistant", ""),
    ]
    assert run.calls_only
