"""Whether a ticket ended in the right state: told from what was written, whatever way led there.

Right is: the ticket of the request, and no other, was written, last with the status the user asked for (any legal one
where that is illegal), and it carries an action that was drafted for it and that the world demands:

    the SKU and the address can be had    ship, or out of stock what the user wants then (else backorder or refund),
                                          with the right SKU, quantity and address
    they cannot, or not yet               ask for them: request_info

A customer whom the request itself names may get the goods too, whoever the ticket says receives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.scenarios import CORRUPTION, Scenario

Exchange = tuple[Call, Envelope]
"""A call and what it returned."""

_WITHOUT_WISH = ("backorder", "refund")


def final_success(scenario: Scenario, exchanges: Sequence[Exchange]) -> bool:
    """Whether the exchanges of a run left the desk as the scenario's request wants it."""
    writes = [call for call, result in exchanges if call.tool == "update_ticket" and result.status == "ok"]
    if not writes or any(call.arguments.get("ticket_id") != scenario.ticket_id for call in writes):
        return False
    last = writes[-1].arguments
    wanted = scenario.wanted_status
    if wanted in scenario.legal_statuses and last.get("status") != wanted:
        return False
    drafts = _drafts(exchanges)
    draft = drafts.get(str(last.get("action_id")))
    return draft is not None and _is_right(scenario, draft, exchanges)


def _drafts(exchanges: Iterable[Exchange]) -> dict[str, Mapping[str, Any]]:
    """Action id → the arguments it was drafted with."""
    return {
        str((result.record or {}).get("action_id")): call.arguments
        for call, result in exchanges
        if call.tool == "generate_action" and result.status == "ok"
    }


def _is_right(scenario: Scenario, draft: Mapping[str, Any], exchanges: Sequence[Exchange]) -> bool:
    if draft.get("ticket_id") != scenario.ticket_id:
        return False
    if draft.get("action") == "request_info":
        return _lacks_something(scenario, exchanges)
    action_and_sku = (draft.get("action"), _plain(draft.get("sku")))
    if action_and_sku not in [(action, _plain(sku)) for action, sku in _legal_actions(scenario)]:
        return False
    right_quantity = _plain(draft.get("qty")) == _plain(scenario.tickets[scenario.ticket_id]["qty"])
    return right_quantity and _plain(draft.get("address")) in map(_plain, _right_addresses(scenario))


def _legal_actions(scenario: Scenario) -> list[tuple[str, str]]:
    """(action, SKU) of every action but `request_info` that the world demands."""
    sku = right_sku(scenario)
    if sku is None or right_address(scenario) is None:
        return []
    if scenario.stock[sku] > 0:
        return [("ship", sku)]
    if scenario.fallback == "substitute":
        return [("substitute", scenario.tickets[scenario.ticket_id]["alternative"])]
    return [(action, sku) for action in ((scenario.fallback,) if scenario.fallback else _WITHOUT_WISH)]


def right_sku(scenario: Scenario) -> str | None:
    """The SKU that the ticket is about, where the records or the user can tell one that the desk knows."""
    recorded = scenario.corrections.get("sku") or _whole(scenario.tickets[scenario.ticket_id]["sku"])
    if recorded is None and "related" in scenario.tickets[scenario.ticket_id]:
        recorded = _whole(scenario.tickets[scenario.tickets[scenario.ticket_id]["related"]]["sku"])
    return recorded if recorded in scenario.stock else scenario.answers.get("sku")


def _whole(sku: str | None) -> str | None:
    """A SKU that is neither missing nor damaged."""
    return None if sku is None or CORRUPTION in sku else sku


def right_address(scenario: Scenario) -> str | None:
    """Where the goods go: the recipient's address, a merged customer's under the new id, or what the user can tell."""
    ticket = scenario.tickets[scenario.ticket_id]
    return _address_of(scenario, ticket.get("ship_to", ticket["customer_id"])) or scenario.answers.get("address")


def _right_addresses(scenario: Scenario) -> list[str]:
    named = scenario.named_ids.get("customer_id")
    addresses = (right_address(scenario), None if named is None else _address_of(scenario, named))
    return [address for address in addresses if address]


def _address_of(scenario: Scenario, customer_id: str) -> str:
    customer = scenario.customers[customer_id]
    customer = scenario.customers[customer["merged_into"]] if "merged_into" in customer else customer
    return str(customer["address"])


def _lacks_something(scenario: Scenario, exchanges: Sequence[Exchange]) -> bool:
    """Whether the ticket leaves the SKU or the address open and nothing in this run has told it."""
    told = {topic for topic, value in scenario.answers.items() if _was_told(value, exchanges)}
    ticket = scenario.tickets[scenario.ticket_id]
    if _whole(ticket["sku"]) not in scenario.stock and "sku" not in told:
        sku = right_sku(scenario)
        return sku is None or not _was_told(sku, exchanges)
    return not _right_addresses(scenario) or ("address" in scenario.answers and "address" not in told)


def _was_told(value: str, exchanges: Sequence[Exchange]) -> bool:
    """Whether a result, other than that of a call which itself names the value, holds it."""
    return any(
        value in str(held) and value not in call.arguments.values()
        for call, result in exchanges
        for held in (result.record or {}).values()
    )


def _plain(value: Any) -> str:
    """As text, case and spacing aside."""
    return " ".join(str(value).split()).casefold()
