from __future__ import annotations

import json
from typing import Any

import pytest

from prm.reach.desk.generate import generate_runs
from prm.reach.desk.habits import HABITS
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.labels.agreement_with_habits import (
    DIAGNOSIS_OF_HABIT,
    MEASURED,
    Agreement,
    diagnosis_agreement,
    habit_agreement,
    known_diagnoses,
)
from prm.reach.labels.habit_tables import diagnosis_table, habit_table, verdict_table
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from prm.types import RunIdentity, Trajectory

SEED = 4_077
Pairs = list[tuple[Trajectory, RunVerdict]]


@pytest.fixture(scope="module")
def judged() -> Pairs:
    spec = shipped_spec("ticket")
    runs = generate_runs(400, SEED, variant="mixed")
    return [(one, judge_run(run_of_trajectory(one, spec.envelope), spec)) for one in runs]


def noted(*steps: tuple[str, Any], outcome: Any = 1) -> Trajectory:
    """A run of steps, each (what the desk noted, its one call's argument)."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for _, argument in steps:
        function = {"name": "find", "arguments": json.dumps({"name": argument})}
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"function": function}]})
    notes = {str(number): note for number, (note, _) in enumerate(steps, start=1)}
    labels = dict.fromkeys(range(1, len(messages)), None)
    return Trajectory(RunIdentity(id="x"), tuple(messages), labels, final_label=outcome, label_notes=notes)


def test_notes_say_what_a_run_is_known_for() -> None:
    assert known_diagnoses(noted(("useful", 1), ("reported", 2))) == frozenset()
    assert known_diagnoses(noted(("useful", 1), ("unused_read", 2))) == {"detour"}
    assert known_diagnoses(noted(("invented_sku", 1), outcome=-1)) == {"fabrication", "called_wrong"}
    assert known_diagnoses(noted(("wrong_id", 1), ("recovery", 2))) == {"fabrication", "recovery"}
    assert known_diagnoses(noted(("outside_failure", 1), ("recovery", 1))) == frozenset()
    stopped = noted(("minefield:x", 1), ("stopped_early", 2), outcome=-1)
    assert known_diagnoses(stopped) == {"minefield", "premature_stop", "called_wrong"}


def test_three_equal_calls_without_news_are_known_as_a_loop_and_two_as_a_detour() -> None:
    assert known_diagnoses(noted(("useful", 1), ("no_progress_1", 1), ("no_progress_2", 1))) == {"loop"}
    assert known_diagnoses(noted(("useful", 1), ("no_progress_1", 1))) == {"detour"}
    broken = noted(("useful", 1), ("no_progress_1", 1), ("useful", 2), ("no_progress_2", 1))
    assert known_diagnoses(broken) == {"detour"}


def test_precision_and_recall_of_nothing_are_undefined() -> None:
    assert Agreement("x", 0, 0, 0).precision is None
    assert Agreement("x", 0, 0, 0).recall is None
    assert (Agreement("x", 3, 4, 6).precision, Agreement("x", 3, 4, 6).recall) == (0.75, 0.5)


def test_the_mapping_speaks_of_habits_and_diagnoses_that_exist() -> None:
    assert set(DIAGNOSIS_OF_HABIT) <= set(HABITS)
    assert set(DIAGNOSIS_OF_HABIT.values()) <= set(MEASURED)


def test_the_diagnoses_agree_with_what_is_known_of_scripted_runs(judged: Pairs) -> None:
    for agreement in diagnosis_agreement(judged):
        assert agreement.known > 0, agreement.name
        assert agreement.precision is not None
        assert agreement.recall is not None
        assert agreement.precision >= 0.97, agreement
        assert agreement.recall >= 0.97, agreement


def test_a_careful_run_has_no_fault(judged: Pairs) -> None:
    runs, faults = habit_agreement(judged)[""]
    assert runs > 30
    assert (faults.known, faults.found) == (0, 0)


def test_the_tables_have_a_row_for_each_diagnosis_and_each_habit(judged: Pairs) -> None:
    habits = {verdict.habit for _, verdict in judged}
    assert len(diagnosis_table(judged).splitlines()) == 2 + len(MEASURED)
    assert len(habit_table(judged).splitlines()) == len(verdict_table(judged).splitlines()) == 2 + len(habits)
    assert "r r r r r" in verdict_table(judged)
