from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from prm.data.readers.registry import iterate_all
from prm.data.schema import read_schema
from prm.errors import InputError, RecordError
from prm.reach.metrics.estimate import Arm, Settings
from prm.reach.metrics.json_form import as_json
from prm.reach.metrics.outcome_stability import StabilityFile, stability_of_trajectories, stability_of_verdicts
from prm.types import RunIdentity, StepLabel, Trajectory
from tests.reach.metrics.hand_verdicts import verdict

SETTINGS = Settings(1, 200, 0)


def trajectory(query: int, sample: int, outcome: StepLabel | None, agent: str = "a", **extra: Any) -> Trajectory:
    identity = RunIdentity("desk", query, sample, generator=agent)
    return Trajectory(identity, (), {}, outcome, extra=extra)


def stability_of(*trajectories: Trajectory) -> StabilityFile:
    return stability_of_trajectories(trajectories, SETTINGS, "runs.jsonl")


def test_the_shipped_airline_runs_give_the_published_stability(shared_data: Path) -> None:
    source = str(shared_data / "tau_bench" / "gpt-4o-airline.json")
    (arm,) = stability_of_trajectories(iterate_all([source]), SETTINGS, source).arms
    outcome = arm.outcomes["outcome"]
    assert (arm.arm, arm.runs, arm.scenarios) == (Arm("gpt-4o", ""), 200, 50)
    assert [round(point.all_of.value or 0.0, 3) for point in outcome.curve] == [0.420, 0.273, 0.220, 0.200]
    assert [round(point.any_of.value or 0.0, 3) for point in outcome.curve] == [0.420, 0.567, 0.660, 0.720]
    assert outcome.curve[0].all_of.ci95 is not None


def test_runs_of_one_query_by_one_agent_are_its_repeats() -> None:
    found = stability_of(trajectory(1, 0, 1), trajectory(1, 1, -1), trajectory(1, 0, 1, "b"), trajectory(2, 0, 1))
    assert [(arm.arm.agent, arm.runs, arm.scenarios) for arm in found.arms] == [("a", 3, 2), ("b", 1, 1)]
    assert found.arms[0].outcomes["outcome"].flip_rate.value == 1.0


def test_a_neutral_outcome_is_no_success_and_an_unknown_one_is_left_out() -> None:
    (arm,) = stability_of(trajectory(1, 0, 1), trajectory(1, 1, None), trajectory(1, 2, -1)).arms
    point = arm.outcomes["outcome"].curve[0].all_of
    assert (point.value, point.runs, point.left_out) == (0.5, 2, 1)


def test_a_reward_serves_where_there_is_no_label_and_only_one_is_success() -> None:
    runs = [trajectory(1, n, None, reward=reward) for n, reward in enumerate([1, 1.0, 0.5, 0, True, "1"])]
    point = stability_of(*runs).arms[0].outcomes["outcome"].curve[0].all_of
    assert (point.value, point.left_out) == (0.5, 2)


def test_scenarios_of_a_template_are_its_clusters() -> None:
    runs = [trajectory(query, run, 1, template=f"t{query % 2}") for query in range(6) for run in range(2)]
    assert (stability_of(*runs).arms[0].scenarios, stability_of(*runs).arms[0].templates) == (6, 2)


def test_runs_without_any_outcome_are_refused() -> None:
    with pytest.raises(InputError, match="runs with an outcome"):
        stability_of(trajectory(1, 0, None))


def test_verdicts_tell_the_stability_of_every_outcome_and_milestone() -> None:
    given = [verdict(word, "a-1", run, final_success=None) for run, word in enumerate(["rr", "rt", "rr"])]
    found = stability_of_verdicts(given, SETTINGS, "v.jsonl")
    (arm,) = found.arms
    assert list(arm.outcomes) == ["all_reached", "covered", "legal_success"]
    assert arm.milestones["M1"].abilities["stable"] == 1
    assert arm.milestones["M2"].abilities["unstable"] == 1


def test_stability_follows_its_schema() -> None:
    schema = jsonschema.Draft202012Validator(json.loads(read_schema("reach-stability")))
    for found in (
        stability_of(trajectory(1, 0, 1), trajectory(1, 1, None), trajectory(2, 0, None, "b")),
        stability_of_verdicts([verdict("r?-tm")], SETTINGS, "v.jsonl"),
    ):
        schema.validate(json.loads(json.dumps(as_json(found), allow_nan=False)))


def test_a_run_that_comes_twice_is_refused_and_not_a_repeat() -> None:
    with pytest.raises(RecordError, match="2 times run 0 of desk/1 by a"):
        stability_of(trajectory(1, 0, 1), trajectory(1, 1, 1), trajectory(1, 0, 1))
