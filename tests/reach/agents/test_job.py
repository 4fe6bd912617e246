"""A job: order, parallel work, going on after a kill, errors, and what is never lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from prm.data.jsonl import read_jsonl
from prm.data.records import read_trajectories
from prm.errors import ConfigError
from prm.reach.agents.chat import ChatRequest, Reply
from prm.reach.agents.conversation import Limits
from prm.reach.agents.job import Job, run_job
from prm.reach.agents.runners import ChatRunner, Runner, ScriptedRunner
from prm.reach.agents.task import desk_tasks
from prm.reach.agents.worlds.desk import DeskWorld
from prm.reach.desk.variants import load_variant
from prm.reach.log.from_trajectory import run_of_trajectory
from tests.reach.agents.toys import Scripted, call

TASKS = desk_tasks("ship_simple,gift,missing_sku", [0])
PLAIN = load_variant("plain")


def chat(*replies: Any, cap: int = 15) -> ChatRunner:
    return ChatRunner(Scripted(*replies), DeskWorld(), Limits(max_calls=cap))


def answering(request: ChatRequest) -> Reply:
    """Reads the ticket, then answers."""
    if request.turns[-1].message["role"] == "user":
        return Reply("", (call("read_ticket", '{"ticket_id": "T1"}'),))
    return Reply("Done.")


def records(out: Path) -> list[dict[str, Any]]:
    return [record for _, record in read_jsonl(out)]


def without_times(value: Any) -> Any:
    timed = ("timestamp", "started", "seconds")
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in timed}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def test_every_task_agent_variant_and_repeat_is_run_in_order(tmp_path: Path) -> None:
    job = Job({"a": chat(answering), "b": ScriptedRunner("careful", 15)}, [PLAIN, load_variant("structured")], TASKS, 2)
    assert run_job(job, tmp_path / "o.jsonl") == 24
    keys = [
        (r["reach"]["scenario"], r["reach"]["agent"], r["reach"]["variant"], r["reach"]["run"])
        for r in records(tmp_path / "o.jsonl")
    ]
    assert keys == [(t.id, a, v, n) for t in TASKS for a in "ab" for v in ("plain", "structured") for n in (0, 1)]
    assert [path.name for path in tmp_path.iterdir()] == ["o.jsonl"]


def test_records_are_trajectories_that_the_reader_of_reach_understands(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run_job(Job({"a": chat(answering), "b": ScriptedRunner("careful", 15)}, [PLAIN], TASKS, 2), out)
    trajectories = list(read_trajectories(out))
    assert len({trajectory.key for trajectory in trajectories}) == 12
    assert len({trajectory.query for trajectory in trajectories}) == 3
    for trajectory in trajectories:
        run = run_of_trajectory(trajectory)
        assert (run.scenario, run.template) == (trajectory.identity.query_index, trajectory.extra["template"])
        assert (run.agent, run.variant, run.seed, run.end) == (trajectory.identity.generator, "plain", 0, "final")
        assert run.outcome == (-1 if run.agent == "a" else 1)
        assert run.notes == ()
        if run.agent == "a":
            assert set(trajectory.step_labels.values()) == {None}
            assert all(event.timestamp for event in run.events if event.kind in ("assistant", "result"))
        else:
            assert None not in trajectory.step_labels.values()


def test_workers_change_nothing_but_the_times(tmp_path: Path) -> None:
    for workers in (1, 5):
        job = Job({"a": chat(answering)}, [PLAIN], TASKS, 3, workers)
        run_job(job, tmp_path / f"{workers}.jsonl")
    assert without_times(records(tmp_path / "1.jsonl")) == without_times(records(tmp_path / "5.jsonl"))


def test_runs_are_under_way_at_once(tmp_path: Path) -> None:
    meeting = threading.Barrier(3, timeout=10)

    def meet(request: ChatRequest) -> Reply:
        meeting.wait()
        return Reply("Done.")

    run_job(Job({"a": chat(meet)}, [PLAIN], TASKS, 1, 3), tmp_path / "o.jsonl")
    assert [r["reach"]["end"] for r in records(tmp_path / "o.jsonl")] == ["final"] * 3


@pytest.mark.parametrize("workers", [1, 4])
def test_a_broken_agent_ends_its_run_and_not_the_job(tmp_path: Path, workers: int) -> None:
    def sometimes(request: ChatRequest) -> Reply:
        if "gift" in str(request.turns) or "T" in str(request.turns[1].message["content"])[:1]:
            raise ZeroDivisionError("oops")
        return Reply("Done.")

    run_job(Job({"a": chat(sometimes)}, [PLAIN], desk_tasks("all", [0]), 1, workers), tmp_path / "o.jsonl")
    ends = Counter(r["reach"]["end"] for r in records(tmp_path / "o.jsonl"))
    assert ends.keys() == {"error", "final"}
    assert ends.total() == 25
    broken = next(r for r in records(tmp_path / "o.jsonl") if r["reach"]["end"] == "error")
    assert broken["reach"]["error"] == {"kind": "exception", "message": "ZeroDivisionError: oops"}
    assert broken["final_label"] is None


@pytest.mark.parametrize("workers", [1, 4])
def test_what_no_run_can_mend_ends_the_job_and_keeps_what_was_made(tmp_path: Path, workers: int) -> None:
    out, made = tmp_path / "o.jsonl", []

    def refuse(request: ChatRequest) -> Reply:
        made.append(1)
        if len(made) > 4:
            raise ConfigError("wrong key")
        return Reply("Done.")

    with pytest.raises(ConfigError, match="wrong key"):
        run_job(Job({"a": chat(refuse)}, [PLAIN], TASKS, 3, workers), out)
    assert not out.exists()
    went_on = run_job(Job({"a": chat(answering)}, [PLAIN], TASKS, 3), out)
    assert 5 <= went_on <= 8
    assert len(records(out)) == 9


def test_the_same_command_again_makes_nothing_and_changes_nothing(tmp_path: Path) -> None:
    out, seen = tmp_path / "o.jsonl", []
    job = Job({"a": chat(answering)}, [PLAIN], TASKS, 2)
    run_job(job, out)
    before = out.read_bytes()
    assert run_job(job, out, seen.append) == 0
    assert out.read_bytes() == before
    assert len(seen) == 6


def test_more_repeats_tasks_or_agents_are_added_to_what_is_there(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run_job(Job({"a": chat(answering)}, [PLAIN], TASKS[:1], 1), out)
    first = records(out)[0]
    job = Job({"a": chat(answering), "b": chat(answering)}, [PLAIN], TASKS, 2)
    assert run_job(job, out) == 11
    assert records(out)[0] == first


def test_runs_that_ended_in_an_error_are_made_again(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run_job(Job({"a": chat(Reply("Done."), OSError("down"))}, [PLAIN], TASKS, 1), out)
    assert [r["reach"]["end"] for r in records(out)] == ["final", "error", "error"]
    assert run_job(Job({"a": chat(answering)}, [PLAIN], TASKS, 1), out) == 2
    assert [r["reach"]["end"] for r in records(out)] == ["final"] * 3


def test_a_file_of_another_job_is_refused_and_stays(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    run_job(Job({"a": chat(answering)}, [PLAIN], TASKS, 2), out)
    before = out.read_bytes()
    others: list[Job] = [
        Job({"a": chat(answering)}, [PLAIN], TASKS, 1),
        Job({"b": chat(answering)}, [PLAIN], TASKS, 2),
        Job({"a": chat(answering, cap=14)}, [PLAIN], TASKS, 2),
        Job({"a": chat(answering)}, [load_variant("structured")], TASKS, 2),
    ]
    for job in others:
        with pytest.raises(ConfigError) as caught:
            run_job(job, out)
        assert "\n" not in str(caught.value)
        assert out.read_bytes() == before


def test_a_changed_setting_is_another_run(tmp_path: Path) -> None:
    """A journal that a killed job left is not mixed with runs of other settings."""
    out = tmp_path / "o.jsonl"
    refusing: dict[str, Runner] = {"a": chat(Reply("Done."), ConfigError("stop"))}
    with pytest.raises(ConfigError):
        run_job(Job(refusing, [PLAIN], TASKS, 1), out)
    assert run_job(Job({"a": chat(answering, cap=3)}, [PLAIN], TASKS, 1), out) == 3


@pytest.mark.parametrize("numbers", [{"repeats": 0}, {"workers": 0}])
def test_wrong_numbers_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Job({}, [], [], **numbers)


KILLED_AGENT = """
import os, signal
from pathlib import Path

def agent(messages, tools):
    made = Path("made")
    with made.open("a") as stream:
        stream.write(messages[1]["content"] + "\\n")
    if len(made.read_text().splitlines()) == int(os.environ["KILL_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return "Done."
"""


def test_a_killed_job_goes_on_and_no_run_is_made_twice(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED_AGENT)
    words = ["reach", "run", "--agent", "function:killed:agent", "--scenarios", "ship_simple,gift", "--out", "o.jsonl"]

    def go(kill_at: int) -> int:
        environment = {**os.environ, "KILL_AT": str(kill_at)}
        command = [sys.executable, "-m", "prm", *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode

    assert go(3) == -signal.SIGKILL
    assert not (tmp_path / "o.jsonl").exists()
    assert go(6) == -signal.SIGKILL
    assert go(0) == 0
    runs = records(tmp_path / "o.jsonl")
    assert [r["reach"]["end"] for r in runs] == ["final"] * 6
    # Six runs, and the two in which the process was killed.
    assert len((tmp_path / "made").read_text().splitlines()) == 8
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    assert json.dumps(runs)
