"""The ticket desk keeps the contract of an environment and fails exactly where a scenario says so."""

from __future__ import annotations

import pytest

from prm.reach.desk.conformance import conformance_violations
from prm.reach.desk.environment import Call, CallCapReached, Envelope, TicketDesk
from prm.reach.desk.scenarios import ABNORMAL_TEMPLATES, CORRUPTION, TEMPLATES, Scenario, build_scenario
from prm.reach.desk.variants import VARIANTS, load_variant


def all_batches(scenario: Scenario) -> list[list[Call]]:
    ticket = scenario.tickets[scenario.ticket_id]
    draft = {"ticket_id": scenario.ticket_id, "action": "ship", "sku": scenario.true_sku, "qty": 1}
    write = {
        "ticket_id": scenario.ticket_id,
        "status": scenario.wanted_status,
        "action_id": "A10",
        "note": "",
    }
    return [
        [Call("read_ticket", {"ticket_id": scenario.ticket_id})],
        [
            Call("lookup_customer", {"customer_id": ticket["customer_id"]}),
            Call("check_inventory", {"sku": scenario.true_sku}),
        ],
        [Call("generate_action", {**draft, "address": "1 Elm St, York", "reason": "per ticket"})],
        [Call("update_ticket", write)],
        [
            Call("ask_user", {"question": "Which SKU is it?"}),
            Call("ask_user", {"question": "Which address?"}),
        ],
    ]


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_desk_conforms_in_every_template(template: str) -> None:
    scenario = build_scenario(template, 3)
    assert conformance_violations(lambda: TicketDesk(scenario, 1), all_batches(scenario)) == []


class HidingDesk(TicketDesk):
    """Claims that every answer is complete."""

    def execute(self, calls):  # type: ignore[no-untyped-def]
        return [Envelope(r.status, "complete", r.is_truncated, r.record) for r in super().execute(calls)]


def test_the_conformance_check_catches_a_desk_that_hides_missing_fields() -> None:
    scenario = build_scenario("missing_sku", 3)
    violations = conformance_violations(lambda: HidingDesk(scenario, 1), all_batches(scenario))
    assert "a missing field was hidden: data_quality must be partial" in violations


def read(scenario: Scenario, desk: TicketDesk) -> Envelope:
    return desk.execute([Call("read_ticket", {"ticket_id": scenario.ticket_id})])[0]


def test_a_missing_sku_is_said_not_hidden() -> None:
    scenario = build_scenario("missing_sku", 0)
    result = read(scenario, TicketDesk(scenario))
    assert result.record is not None
    assert (result.status, result.data_quality, result.record["sku"]) == ("ok", "partial", None)


def test_a_corrupted_sku_is_partial() -> None:
    scenario = build_scenario("corrupted_sku", 0)
    result = read(scenario, TicketDesk(scenario))
    assert result.record is not None
    assert CORRUPTION in result.record["sku"]
    assert result.data_quality == "partial"


def test_a_truncated_return_lacks_fields_once() -> None:
    scenario = build_scenario("truncated_ticket", 0)
    desk = TicketDesk(scenario)
    first, second = read(scenario, desk), read(scenario, desk)
    assert first.is_truncated
    assert not first.ok
    assert "sku" not in (first.record or {})
    assert second.ok
    assert (second.record or {})["sku"] == scenario.true_sku


def test_a_timeout_happens_once() -> None:
    scenario = build_scenario("timeout_read", 0)
    desk = TicketDesk(scenario)
    assert [read(scenario, desk).status, read(scenario, desk).status] == ["timeout", "ok"]


def test_stock_zero_empty_address_and_unknown_sku() -> None:
    out = build_scenario("out_of_stock_refund", 0)
    stock = TicketDesk(out).execute([Call("check_inventory", {"sku": out.true_sku})])[0]
    assert stock.record == {"sku": out.true_sku, "stock": 0}
    empty = build_scenario("empty_address", 0)
    customer_id = empty.tickets[empty.ticket_id]["customer_id"]
    customer = TicketDesk(empty).execute([Call("lookup_customer", {"customer_id": customer_id})])[0]
    assert (customer.record or {})["address"] == ""
    assert customer.data_quality == "partial"
    unknown = build_scenario("sku_not_found", 0)
    missing = TicketDesk(unknown).execute([Call("check_inventory", {"sku": unknown.true_sku})])[0]
    assert (missing.status, missing.record) == ("not_found", None)


def test_with_incomplete_inputs_only_request_info_is_drafted() -> None:
    scenario = build_scenario("ship_simple", 0)
    arguments = {
        "ticket_id": scenario.ticket_id,
        "sku": "",
        "qty": 1,
        "address": "1 Elm St, York",
        "reason": "x",
    }
    desk = TicketDesk(scenario)
    drafted = {}
    for action in ("ship", "backorder", "refund", "substitute", "request_info"):
        drafted[action] = desk.execute([Call("generate_action", {**arguments, "action": action})])[0].status
    assert drafted.pop("request_info") == "ok"
    assert set(drafted.values()) == {"refused"}


def test_an_illegal_status_is_refused_with_the_legal_ones_and_nothing_is_written() -> None:
    scenario = build_scenario("illegal_status", 0)
    desk = TicketDesk(scenario)
    arguments = {"ticket_id": scenario.ticket_id, "action_id": "A10", "note": ""}
    bad = desk.execute([Call("update_ticket", {**arguments, "status": scenario.wanted_status})])[0]
    assert bad.status == "illegal_status"
    assert desk.states == {}
    legal = (bad.record or {})["legal"][0]
    assert desk.execute([Call("update_ticket", {**arguments, "status": legal})])[0].ok
    assert desk.states == {scenario.ticket_id: legal}


def test_calls_beyond_the_cap_are_refused_whole() -> None:
    desk = TicketDesk(build_scenario("ship_simple", 0), max_calls=2)
    call = Call("check_inventory", {"sku": "none-1"})
    with pytest.raises(CallCapReached):
        desk.execute([call] * 3)
    assert desk.calls_left == 2
    assert len(desk.execute([call, call])) == 2


def test_there_are_enough_templates_and_about_a_third_of_scenarios_is_abnormal() -> None:
    from prm.reach.desk.ticket_data import ticket_data

    weights = {name: ticket_data("templates")[name]["weight"] for name in TEMPLATES}
    share = sum(weights[name] for name in ABNORMAL_TEMPLATES) / sum(weights.values())
    assert len(TEMPLATES) >= 10
    assert 0.25 <= share <= 0.38


def test_a_scenario_is_fixed_by_template_and_seed() -> None:
    assert build_scenario("gift", 5) == build_scenario("gift", 5)
    assert build_scenario("gift", 5) != build_scenario("gift", 6)


def test_every_variant_declares_the_same_tools_and_bare_envelopes_hide_the_marks() -> None:
    assert {"plain", "structured", "explicit_missing", "bare_envelope"} == set(VARIANTS)
    result = Envelope("ok", "partial", False, {"sku": None})
    for name in VARIANTS:
        variant = load_variant(name)
        assert [tool["function"]["name"] for tool in variant.tools] == list(TicketDesk.tools)
        assert ("data_quality" in result.shown(variant)) == (name != "bare_envelope")
