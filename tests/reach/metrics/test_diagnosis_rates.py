from __future__ import annotations

import pytest

from prm.reach.judging.verdict import Diagnosis, RunVerdict
from prm.reach.metrics.diagnosis_rates import MAX_CAUSES, MAX_SUBJECTS, diagnosis_reports, miss_causes
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.node_values import MissCause
from prm.reach.metrics.report_values import DiagnosisReport
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import fabricated, verdict


def reports(*verdicts: RunVerdict) -> list[DiagnosisReport]:
    arrays = encode_verdicts(verdicts)
    return list(diagnosis_reports(arrays, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))())


def causes(milestone: str, *verdicts: RunVerdict) -> list[MissCause]:
    arrays = encode_verdicts(verdicts)
    return list(miss_causes(arrays, milestone, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))())


def test_a_diagnosis_counts_once_a_run_and_its_times_in_all() -> None:
    found = reports(
        verdict("r", "a", diagnoses=(fabricated(), fabricated(), fabricated("draft.address"))), verdict("r", "b")
    )
    assert [(one.name, one.subject, one.runs, one.times, one.share.value) for one in found] == [
        ("fabrication", "", 1, 3, 0.5),
        ("fabrication", "check_inventory.sku", 1, 2, 0.5),
        ("fabrication", "draft.address", 1, 1, 0.5),
    ]


def test_a_detour_in_two_runs_is_a_habit_and_in_one_is_not() -> None:
    detour = Diagnosis("detour", 3, "call_2", "read_ticket", "strategy")
    once, twice = (
        reports(verdict("r", "a", diagnoses=(detour, detour))),
        reports(verdict("r", "a", diagnoses=(detour,)), verdict("r", "b", diagnoses=(detour,))),
    )
    assert [one.habit for one in once] == [None, False]
    assert [one.habit for one in twice] == [None, True]
    assert twice[1].kind == "strategy"


def test_a_habit_is_one_whether_or_not_its_runs_completed() -> None:
    completed, failed = (
        Diagnosis("detour", 3, "c", "read_ticket", kind) for kind in ("strategy", "strategy_insufficient")
    )
    found = reports(verdict("r", "a", diagnoses=(completed,)), verdict("m", "b", diagnoses=(failed,)))
    assert [(one.kind, one.runs, one.habit) for one in found] == [
        ("", 2, None),
        ("strategy", 1, True),
        ("strategy_insufficient", 1, True),
    ]


def test_a_repeats_number_does_not_make_it_another_diagnosis() -> None:
    loops = tuple(Diagnosis("loop", 3, "c", "read_ticket", str(number)) for number in range(5))
    assert [(one.subject, one.times) for one in reports(verdict("r", diagnoses=loops))] == [("", 5), ("read_ticket", 5)]


def test_endless_subjects_are_only_counted_in_the_whole() -> None:
    found = reports(verdict("r", diagnoses=tuple(fabricated(f"p{number}") for number in range(100))))
    assert len(found) == 1 + MAX_SUBJECTS
    assert found[0].times == 100


def test_causes_are_shares_of_the_misses() -> None:
    found = causes(
        "M3",
        verdict("rrt", "a", diagnoses=(fabricated(batch=4),)),
        verdict("rrt", "b", diagnoses=(fabricated(batch=4),)),
        verdict("rrm", "c"),
        verdict("rrm", "d"),
        verdict("rrr", "e", diagnoses=(fabricated(batch=4),)),
    )
    assert [(one.words, one.share.value, one.runs) for one in found] == [("an invented SKU", 0.5, 2)]


def test_what_happened_where_the_milestone_was_touched_is_closer_than_the_rest_of_the_run() -> None:
    stop = Diagnosis("premature_stop", 9)
    found = causes("M3", verdict("rrt", diagnoses=(fabricated(batch=4), stop)))
    assert [one.diagnosis for one in found] == ["fabrication"]
    assert [one.diagnosis for one in causes("M3", verdict("rrm", diagnoses=(stop,)))] == ["premature_stop"]


def test_what_names_the_milestone_is_closest() -> None:
    other, own = Diagnosis("loop", 8, "c", "read_ticket"), Diagnosis("premature_stop", 9, None, "M3")
    assert [one.diagnosis for one in causes("M3", verdict("rrm", diagnoses=(other, own)))] == ["premature_stop"]


def test_neither_a_recovery_nor_a_detour_nor_the_reason_itself_is_a_cause() -> None:
    given = (
        Diagnosis("recovery", 4),
        Diagnosis("detour", 4, "c", "read_ticket"),
        Diagnosis("never_called", 4, None, "M3"),
    )
    assert causes("M3", verdict("rrm", diagnoses=given)) == []


def test_only_the_most_frequent_causes_are_kept() -> None:
    verdicts = [verdict("m", f"s{n}", diagnoses=(fabricated(f"p{n}"),)) for n in range(MAX_CAUSES + 5)]
    assert len(causes("M1", *verdicts)) == MAX_CAUSES


def test_without_misses_there_are_no_causes() -> None:
    assert causes("M1", verdict("r", diagnoses=(fabricated(),))) == []


def test_causes_are_macro_over_scenarios() -> None:
    many = [verdict("m", "a", run, diagnoses=(fabricated(),)) for run in range(3)]
    assert causes("M1", *many, verdict("m", "b"))[0].share.value == pytest.approx(0.5)
