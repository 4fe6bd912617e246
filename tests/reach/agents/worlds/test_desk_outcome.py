"""Whether a ticket ended in the right state, against the outcomes known by construction."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from prm.reach.agents.record import RunOrder
from prm.reach.agents.runners import ScriptedRunner
from prm.reach.agents.task import Task, desk_tasks
from prm.reach.agents.worlds.desk import DeskWorld
from prm.reach.agents.worlds.desk_outcome import right_address, right_sku
from prm.reach.desk.environment import Call
from prm.reach.desk.generate import AGENTS
from prm.reach.desk.scenarios import Scenario
from prm.reach.desk.variants import load_variant


def outcome(template: str, draft: dict[str, Any], *before: Call, seed: int = 3, **write: Any) -> bool:
    """The outcome of a run that makes the calls `before`, drafts (right but for `draft`) and writes it."""
    task = desk_tasks(template, [seed])[0]
    scenario = scenario_of(task)
    desk = DeskWorld().open(task, 0, 15)
    desk.execute(before)
    ticket = scenario.tickets[scenario.ticket_id]
    right = {
        "ticket_id": scenario.ticket_id,
        "action": "ship",
        "sku": right_sku(scenario) or "",
        "qty": ticket["qty"],
        "address": right_address(scenario) or "",
        "reason": "",
    }
    drafted = desk.execute([Call("generate_action", {**right, **draft})])[0].record or {}
    legal = scenario.wanted_status if scenario.wanted_status in scenario.legal_statuses else scenario.legal_statuses[0]
    written = {"ticket_id": scenario.ticket_id, "status": legal, "action_id": drafted.get("action_id"), "note": ""}
    desk.execute([Call("update_ticket", {**written, **write})])
    return desk.final_success()


def scenario_of(task: Task) -> Scenario:
    assert task.scenario is not None
    return task.scenario


def test_the_right_shipment_is_right_and_every_wrong_value_is_not() -> None:
    assert outcome("ship_simple", {})
    for wrong in (
        {"sku": "lamp-1"},
        {"qty": 77},
        {"address": "1 Elm St, York"},
        {"action": "refund"},
        {"ticket_id": "T00"},
    ):
        assert not outcome("ship_simple", wrong)
    assert not outcome("ship_simple", {"action": "request_info"})


def test_writing_case_and_spacing_do_not_matter() -> None:
    scenario = scenario_of(desk_tasks("ship_simple", [3])[0])
    assert outcome("ship_simple", {"address": f"  {str(right_address(scenario)).upper()} ", "qty": str(3)}) is (
        scenario.tickets[scenario.ticket_id]["qty"] == 3
    )


def test_a_write_must_carry_a_drafted_action_to_the_right_ticket_with_the_wanted_status() -> None:
    assert not outcome("ship_simple", {}, action_id="A00")
    assert not outcome("related_ticket", {}, ticket_id="T00")
    other = scenario_of(desk_tasks("ship_simple", [3])[0]).legal_statuses[1]
    assert not outcome("ship_simple", {}, status=other)
    assert outcome("illegal_status", {})


def test_out_of_stock_the_users_wish_counts() -> None:
    assert outcome("out_of_stock_refund", {"action": "refund"})
    assert not outcome("out_of_stock_refund", {"action": "ship"})
    assert not outcome("out_of_stock_refund", {"action": "backorder"})
    alternative = scenario_of(desk_tasks("out_of_stock_substitute", [3])[0])
    sku = alternative.tickets[alternative.ticket_id]["alternative"]
    assert outcome("out_of_stock_substitute", {"action": "substitute", "sku": sku})
    assert not outcome("out_of_stock_substitute", {"action": "substitute"})


def test_the_item_that_the_request_corrects_counts() -> None:
    stale = scenario_of(desk_tasks("corrected_item", [3])[0])
    assert outcome("corrected_item", {})
    assert not outcome("corrected_item", {"sku": stale.tickets[stale.ticket_id]["sku"]})


def test_what_is_missing_may_be_asked_for_until_it_was_told() -> None:
    ask = Call("ask_user", {"question": "Which SKU is it?"})
    assert outcome("missing_sku", {"action": "request_info", "sku": ""})
    assert not outcome("missing_sku", {"action": "request_info", "sku": ""}, ask)
    assert outcome("missing_sku", {"action": "ship"}, ask)
    assert outcome("missing_sku_unanswered", {"action": "request_info", "sku": ""}, ask)
    assert not outcome("missing_sku_unanswered", {"action": "ship", "sku": "lamp-2"}, ask)
    where = Call("ask_user", {"question": "To which address?"})
    assert outcome("empty_address", {"action": "ship"}, where)
    assert outcome("empty_address_unanswered", {"action": "request_info"}, where)


def test_nothing_written_is_not_right() -> None:
    assert not DeskWorld().open(desk_tasks("gift", [0])[0], 0, 15).final_success()


@pytest.mark.parametrize("agent", AGENTS)
def test_it_agrees_with_the_outcomes_known_by_construction(agent: str) -> None:
    runner, counts = ScriptedRunner(agent, 15), Counter[tuple[int | None, int]]()
    for task in desk_tasks("all", [11, 12, 13]):
        run = runner.run(RunOrder(task, 0, agent, load_variant("plain")))
        counts[(run.final_label, run.extra["reach"]["outcome"])] += 1
    # The state may be right although the way was not (a wrong SKU in a request for information), never the reverse
    # but where the agent asked for what the user had just told it.
    assert counts[(1, 1)] + counts[(-1, -1)] >= 0.95 * counts.total()
    assert counts[(1, -1)] <= 1
