"""The ticket spec: the nine contrasting logs with exactly these verdicts, and the scripted agents' habits."""

from __future__ import annotations

from collections import Counter

import pytest

from prm.reach.desk.generate import generate_runs
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import load_spec
from prm.reach.spec.self_test_logs import self_test_logs, trajectory_of

TICKET = load_spec("ticket")
LOGS = self_test_logs(TICKET, "ticket")
LETTERS = {"reached": "r", "touched": "t", "missed": "m", "n/a": "-", "unscorable": "?"}

NINE = {
    "normal": ("rrrrr", set(), True),
    "parallel_lookups_after_the_ticket": ("rrrrr", set(), True),
    "all_reads_guessed_in_one_batch": (
        "tttmm",
        {"ungrounded_batch", "premature_stop", "never_called", "called_wrong"},
        False,
    ),
    "out_of_stock_backordered_in_another_order": ("rrrrr", set(), True),
    "out_of_stock_ignored_and_shipped": ("rrtrr", {"minefield", "called_wrong"}, False),
    "missing_sku_asked_for": ("rr-rr", set(), True),
    "missing_sku_invented": ("rr-tr", {"fabrication", "called_wrong"}, False),
    "illegal_status_then_legal": ("rrrrr", {"recovery"}, True),
    "address_unknown_sent": ("rtrtr", {"fabrication", "called_wrong"}, False),
}


def word(verdict: RunVerdict) -> str:
    return "".join(LETTERS[milestone.standing] for milestone in verdict.milestones)


def judge_log(name: str) -> RunVerdict:
    return judge_run(run_of_trajectory(trajectory_of(name, LOGS[name]), TICKET.envelope), TICKET)


@pytest.mark.parametrize("name", NINE)
def test_the_nine_contrasting_logs(name: str) -> None:
    verdict = judge_log(name)
    standings, diagnoses, covered = NINE[name]
    assert (word(verdict), verdict.covered) == (standings, covered)
    assert {found.name for found in verdict.diagnoses} == diagnoses


def test_the_stock_that_was_ignored_is_a_minefield_of_that_name() -> None:
    verdict = judge_log("out_of_stock_ignored_and_shipped")
    assert verdict.minefields == {"ship_when_out_of_stock": True, "foreign_ticket": False, "unlisted_write": False}


def test_reads_guessed_in_one_batch_leave_two_milestones_never_called() -> None:
    verdict = judge_log("all_reads_guessed_in_one_batch")
    assert [m.name for m in verdict.milestones if m.reason == "never_called"] == ["M4", "M5"]


def test_what_the_agents_did_about_missing_information() -> None:
    responses = {
        name: [(one.fact, one.response) for one in judge_log(name).missing_information]
        for name in ("normal", "missing_sku_asked_for", "missing_sku_invented", "address_unknown_sent")
    }
    assert responses == {
        "normal": [],
        "missing_sku_asked_for": [("no_sku", "asks")],
        "missing_sku_invented": [("no_sku", "invents")],
        "address_unknown_sent": [("no_address", "invents")],
    }


def test_the_evidence_names_the_value_its_source_and_where_it_went() -> None:
    use = judge_log("normal").by_name["M2"].evidence[1]
    assert use.what == "'12 Elm St, Boston' of address went into generate_action.address"
    assert (use.source_call_id, use.source_path, use.call_id, use.path) == ("call_2", "address", "call_4", "address")


@pytest.fixture(scope="module")
def desk_verdicts() -> list[tuple[int | None, RunVerdict]]:
    """(the outcome known by construction, the verdict) of scripted runs."""
    runs = generate_runs(800, 4242, variant="mixed")
    return [(run.final_label, judge_run(run_of_trajectory(run, TICKET.envelope), TICKET)) for run in runs]


def test_coverage_is_the_outcome_known_by_construction(
    desk_verdicts: list[tuple[int | None, RunVerdict]],
) -> None:
    # A looper that writes the ticket and then runs into the cap has covered everything, and ends badly all the same.
    # Whoever goes on from a truncated ticket may end well, and has not reached its first milestone.
    settled = [
        (outcome, verdict)
        for outcome, verdict in desk_verdicts
        if not (verdict.habit == "loop" and verdict.calls == 15) and verdict.template != "truncated_ticket"
    ]
    assert len(settled) > 700
    wrong = [verdict.habit for outcome, verdict in settled if verdict.covered is not (outcome == 1)]
    assert wrong == []


BROKEN = {
    "ignore_stock": "M3",
    "needless_branch": "M3",
    "ignore_not_found": "M3",
    "invent_address": "M4",
    "wrong_address": "M2",
    "wrong_sku": "M3",
    "wrong_ticket": "M5",
    "false_claim": "M5",
    "stop_early": "M5",
}


def test_every_habit_that_ends_badly_breaks_its_milestone(
    desk_verdicts: list[tuple[int | None, RunVerdict]],
) -> None:
    failed = [verdict for outcome, verdict in desk_verdicts if outcome == -1 and verdict.habit in BROKEN]
    assert {verdict.habit for verdict in failed} >= set(BROKEN) - {"false_claim", "ignore_not_found"}
    for verdict in failed:
        assert verdict.by_name[BROKEN[str(verdict.habit)]].standing in ("touched", "missed"), verdict.habit


def test_minefields_are_hit_by_the_habits_that_are_made_of_them_and_by_no_other(
    desk_verdicts: list[tuple[int | None, RunVerdict]],
) -> None:
    hits = Counter(
        (verdict.habit, name) for _, verdict in desk_verdicts for name, is_hit in verdict.minefields.items() if is_hit
    )
    assert set(hits) == {("ignore_stock", "ship_when_out_of_stock"), ("wrong_ticket", "foreign_ticket")}


def test_careful_runs_have_no_open_milestone_and_no_fabrication(
    desk_verdicts: list[tuple[int | None, RunVerdict]],
) -> None:
    careful = [verdict for _, verdict in desk_verdicts if verdict.habit is None]
    assert len(careful) > 50
    assert {word(verdict) for verdict in careful} <= {"rrrrr", "rr-rr"}
    assert sum(verdict.fabricated_leaves for verdict in careful) == 0


def test_the_bare_envelope_is_judged_like_the_marked_one() -> None:
    runs = generate_runs(120, 9, variant="bare_envelope")
    verdicts = [judge_run(run_of_trajectory(run, TICKET.envelope), TICKET) for run in runs]
    assert {word(verdict) for verdict in verdicts if verdict.habit is None} <= {"rrrrr", "rr-rr"}
    assert not any("?" in word(verdict) for verdict in verdicts)
