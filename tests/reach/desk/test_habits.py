"""Each habit breaks what it says, at the step where it says so; the careful agent breaks nothing."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest

from prm.reach.desk.generate import run_habit
from prm.reach.desk.habits import HABITS
from prm.reach.desk.scenarios import TEMPLATES, build_scenario
from prm.reach.desk.variants import load_variant
from prm.types import Trajectory

PLAIN = load_variant("plain")
RESTLESS = ("no_progress", "unused_read", "needless_question")


def one_run(habit: str | None, template: str, seed: int) -> Trajectory:
    return run_habit(habit, build_scenario(template, seed), PLAIN, 0)


def story(run: Trajectory) -> list[tuple[int | None, str]]:
    """(label, reason) of each step, without what an agent does needlessly beside its habit."""
    steps = [(run.step_labels[step.index], run.label_notes[str(step.index)]) for step in run.steps]
    return [(label, note) for label, note in steps if not note.startswith(RESTLESS)]


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_careful_agent_has_no_minus_one_and_succeeds(template: str) -> None:
    for seed in range(40):
        run = one_run(None, template, seed)
        assert -1 not in run.step_labels.values(), (template, seed)
        assert run.final_label == 1


CASES = [
    # habit, template, reason, label, outcome (None: either)
    ("invent_sku", "missing_sku", "invented_sku", -1, None),
    ("invent_sku", "ship_simple", "invented_sku", -1, None),
    ("invent_sku", "truncated_ticket", "invented_sku", -1, None),
    ("invent_address", "empty_address", "invented_address", -1, -1),
    ("invent_address", "ship_simple", "invented_address", -1, -1),
    ("stop_early", "ship_simple", "stopped_early", -1, -1),
    ("ignore_stock", "out_of_stock_refund", "minefield:ship_when_out_of_stock", -1, -1),
    ("ignore_not_found", "sku_not_found", "ignored_not_found", -1, -1),
    ("needless_branch", "ship_or_refund", "wrong_branch", -1, -1),
    ("guess_reads", "ship_simple", "guessed_reads", -1, None),
    ("guess_action_id", "ship_simple", "guessed_action_id", -1, None),
    ("slip_and_recover", "ship_simple", "wrong_id", -1, 1),
    ("slip_and_recover", "ship_simple", "recovery", 1, 1),
    ("submit_blank", "missing_sku", "incomplete_inputs", -1, 1),
    ("submit_blank", "missing_sku", "recovery", 1, 1),
    ("wrong_address", "gift", "wrong_customer", -1, -1),
    ("wrong_sku", "related_ticket", "wrong_sku", -1, -1),
    ("wrong_ticket", "related_ticket", "minefield:foreign_ticket", -1, -1),
    ("false_claim", "timeout_update", "claims_failed_write", -1, -1),
    ("false_claim", "illegal_status", "claims_failed_write", -1, -1),
    ("insist", "illegal_status", "repeated_illegal_status", -1, None),
    ("insist", "illegal_status", "learnt_by_trying", 0, None),
]


@pytest.mark.parametrize(("habit", "template", "reason", "label", "outcome"), CASES)
def test_a_habit_gives_its_label(habit: str, template: str, reason: str, label: int, outcome: int | None) -> None:
    for seed in range(15):
        run = one_run(habit, template, seed)
        labels = [given for given, note in story(run) if note == reason]
        assert labels, (seed, story(run))
        assert set(labels) == {label}
        assert outcome is None or run.final_label == outcome


def test_every_habit_is_covered_here() -> None:
    assert {case[0] for case in CASES} | {"loop", "detour"} == set(HABITS)


def test_a_repeated_call_is_neutral_once_and_bad_after() -> None:
    seen: Counter[int] = Counter()
    for seed in range(30):
        run = one_run("loop", "ship_simple", seed)
        for step in run.steps:
            note = run.label_notes[str(step.index)]
            if note.startswith("no_progress"):
                times = int(note.removeprefix("no_progress_"))
                assert step.label == (0 if times == 1 else -1)
                seen[times] += 1
    assert seen[1] >= 10
    assert seen[2] >= 10


def test_a_detour_reaches_its_end_with_some_neutral_steps() -> None:
    runs = [one_run("detour", "related_ticket", seed) for seed in range(20)]
    assert all(run.final_label == 1 for run in runs)
    assert sum(0 in run.step_labels.values() for run in runs) >= 15


def test_an_endless_loop_ends_at_the_call_cap_without_a_report() -> None:
    runs = [one_run("loop", "ship_simple", seed) for seed in range(150)]
    stuck = [run for run in runs if run.messages[-1]["role"] == "tool"]
    assert stuck
    assert all(sum(message["role"] == "tool" for message in run.messages) == 15 for run in stuck)
    assert all(run.final_label == -1 for run in stuck)


def test_errors_propagate_along_what_was_used_and_spare_the_rest() -> None:
    labels = [label for label, _ in story(one_run("invent_address", "empty_address_unanswered", 1))]
    # read, two good reads in either order, then draft, write and report rest on the address.
    assert labels == [1, 1, 1, -1, -1, -1]


def test_a_correction_stops_the_propagation() -> None:
    run = next(
        run for run in (one_run("guess_action_id", "ship_simple", seed) for seed in range(30)) if run.final_label == 1
    )
    assert story(run)[-3:] == [(-1, "guessed_action_id"), (1, "recovery"), (1, "reported")]


def test_parallel_calls_cannot_feed_each_other() -> None:
    for seed in range(20):
        run = one_run("guess_action_id", "ship_simple", seed)
        step = next(s for s in run.steps if run.label_notes[str(s.index)] == "guessed_action_id")
        update = json.loads(step.message["tool_calls"][1]["function"]["arguments"])
        drafted = json.loads(run.messages[step.index + 1]["content"])["record"]["action_id"]
        assert update["action_id"] != drafted


def test_a_call_repeated_with_an_invented_value_stays_wrong() -> None:
    repeated = 0
    for seed in range(60):
        run = one_run("invent_sku", "timeout_stock", seed)
        checks = [
            (step.label, call["function"]["arguments"])
            for step in run.steps
            for call in step.message.get("tool_calls", ())
            if call["function"]["name"] == "check_inventory"
        ]
        for (first, arguments), (second, again) in pairwise(checks):
            if arguments == again and first == -1:
                repeated += 1
                assert second == -1, seed
    assert repeated >= 10
