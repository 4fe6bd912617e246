"""The airline spec on 200 real runs: nothing in the engine knows of tickets, and the verdicts say something."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.read import read_runs
from prm.reach.spec.load import load_spec

AIRLINE = load_spec("airline")


@pytest.fixture(scope="module")
def verdicts(shared_data: Path) -> list[RunVerdict]:
    path = shared_data / "tau_bench" / "gpt-4o-airline.json"
    if not path.is_file():
        pytest.skip("the tau-bench runs are not here")
    return [judge_run(run, AIRLINE) for run in read_runs(path, envelope=AIRLINE.envelope)]


def success(runs: list[RunVerdict]) -> float:
    return sum(bool(run.final_success) for run in runs) / len(runs)


def test_all_runs_get_a_verdict_and_keep_their_reward(verdicts: list[RunVerdict]) -> None:
    assert len(verdicts) == 200
    assert len({verdict.scenario for verdict in verdicts}) == 50
    assert success(verdicts) == pytest.approx(0.42)


def test_nothing_is_unscorable_in_a_full_log(verdicts: list[RunVerdict]) -> None:
    standings = {milestone.standing for verdict in verdicts for milestone in verdict.milestones}
    assert standings == {"reached", "touched", "missed", "n/a"}
    assert all(verdict.covered is not None for verdict in verdicts)


def test_covered_runs_succeed_more_often_and_minefields_spoil(verdicts: list[RunVerdict]) -> None:
    covered = [verdict for verdict in verdicts if verdict.covered]
    others = [verdict for verdict in verdicts if not verdict.covered]
    hit = [verdict for verdict in verdicts if any(verdict.minefields.values())]
    assert len(covered) > 50
    assert len(others) > 50
    assert success(covered) > success(others) + 0.15
    assert len(hit) > 10
    assert success(hit) < 0.25


def test_every_form_of_use_occurs(verdicts: list[RunVerdict]) -> None:
    used = {milestone.used for verdict in verdicts for milestone in verdict.milestones}
    assert used == {"flow", "decides", "said", "final", None}


def test_a_user_number_taken_from_a_mail_address_is_not_the_users(verdicts: list[RunVerdict]) -> None:
    run = next(v for v in verdicts if v.scenario == "tau_bench_airline/32" and v.run == 1)
    assert run.by_name["records"].standing == "touched"
    assert run.by_name["records"].evidence[0].what == "get_user_details: args.user_id is 'sophia_silva_7557'"


def test_a_write_in_answer_to_a_question_is_unconfirmed(verdicts: list[RunVerdict]) -> None:
    run = next(v for v in verdicts if v.scenario == "tau_bench_airline/14" and v.run == 1)
    assert run.minefields["unconfirmed_write"] is True
