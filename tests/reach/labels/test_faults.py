"""Errors carry on along the values that were taken, and end where a value comes from a sound place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from prm.reach.judging.judge import judge_in_full
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.faults import find_faults
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from tests.reach.labels.desk_logs import RECORD, ask, draft, lookup, read, stock, story, trajectory, update
from tests.reach.work import growth

OTHER = read({"ticket_id": "T50", "customer_id": "C99", "sku": "plum-3", "qty": 1}, "T50")


def test_what_the_user_had_said_is_sound_whatever_other_records_hold_it_too() -> None:
    record = {**RECORD, "related": "T50"}
    steps = story(read(record), OTHER, lookup("C99", "1 Bay Rd, Oslo"), request="Handle ticket T41 for customer C99.")
    assert steps[-1][1] != "wrong_entity"
    assert story(read(record), OTHER, lookup("C99", "1 Bay Rd, Oslo"))[-1] == (-1, "wrong_entity")


def test_a_value_that_a_sound_call_returns_too_is_not_tainted() -> None:
    record = {**RECORD, "customer_id": "C99", "related": "T50"}
    assert story(read(record), OTHER, lookup("C99", "1 Bay Rd, Oslo"), stock())[2] == (1, "milestone")


def test_quantities_that_are_alike_by_chance_carry_nothing_on() -> None:
    guessed = stock("pear-9", units=2)
    steps = story(read(), lookup(), guessed, stock(), draft(qty=2), update(), "Done: T41 is now closed.")
    assert steps[4] == (1, "milestone")


def test_an_answer_of_the_user_corrects_an_invented_value() -> None:
    record = {**RECORD, "sku": None}
    answer = ask("Which SKU is it?", "It is apple-4.")
    steps = story(read(record), lookup(), stock("pear-9"), answer, stock(), draft(), update(), "Done: T41 is closed.")
    assert [label for label, _ in steps] == [1, 1, -1, 1, 1, 1, 1, 1]


def test_a_wrong_quantity_is_called_wrong_and_what_it_returned_is_tainted() -> None:
    steps = story(read(), lookup(), stock(), draft(qty=40), update())
    assert steps[-2:] == [(-1, "called_wrong"), (-1, "tainted")]


def test_asking_or_refusing_without_finding_out_is_no_blind_decision() -> None:
    drafted = draft(action="request_info", sku="", address="")
    assert story(read(), drafted)[-1][1] != "blind_decision"


def test_many_values_and_many_messages_of_the_user_are_searched_in_linear_time() -> None:
    spec = shipped_spec("ticket")

    def finding(size: int) -> Callable[[], object]:
        idle = [read({"ticket_id": f"T{n}", "related": f"T{n + 1}"}, f"T{n}") for n in range(50, 50 + size)]
        made = trajectory(read({**RECORD, "related": "T50"}), *idle)
        chat = tuple({"role": "user", "content": f"Order {n} came late."} for n in range(4 * size))
        run = run_of_trajectory(replace(made, messages=made.messages + chat), spec.envelope)
        verdict, judged = judge_in_full(run, spec)
        return lambda: find_faults(judged, CallRoles(judged), verdict.diagnoses)

    assert growth(finding, 100) < 2.5
