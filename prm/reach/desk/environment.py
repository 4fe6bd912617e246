"""The simulated ticket desk: five tools and `ask_user`, deterministic; the scenario injects the failures.

Every return is an envelope: a missing field is said, not hidden. The desk is lenient where real ones are: it
cannot tell an invented address from a real one, and it accepts a write to a foreign ticket.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from prm.errors import InputError
from prm.reach.desk.phrasing import phrase
from prm.reach.desk.scenarios import CORRUPTION, Scenario, invent_id
from prm.reach.desk.variants import Variant

DEFAULT_MAX_CALLS = 15

Status = Literal["ok", "not_found", "refused", "illegal_status", "invalid", "timeout", "error"]
"""The last: the tool itself failed; the desk's never do."""


@dataclass(frozen=True)
class Call:
    """One tool call: the tool's name and its arguments."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Envelope:
    """What a tool returns.

    Attributes:
        status: "ok", or why there is no full answer.
        data_quality: "partial" where a field is missing, empty or damaged, or nothing came back.
        is_truncated: The record was cut; asking again may give the rest.
        record: The answer, or None.
    """

    status: Status
    data_quality: Literal["complete", "partial"]
    is_truncated: bool
    record: Mapping[str, Any] | None

    @property
    def ok(self) -> bool:
        """Whether the tool did what was asked, in full."""
        return self.status == "ok" and not self.is_truncated

    def shown(self, variant: Variant) -> dict[str, Any]:
        """The envelope as the agent of `variant` sees it."""
        record = None if self.record is None else dict(self.record)
        if variant.envelope == "raw":
            return record or {} if self.status == "ok" else {"error": self.status, **(record or {})}
        if variant.envelope == "bare":
            return {"status": self.status, "record": record}
        marks = {"data_quality": self.data_quality, "is_truncated": self.is_truncated}
        return {"status": self.status, **marks, "record": record}


class CallCapReached(InputError):
    """The run has used its tool calls; it ends here."""


class Environment(Protocol):
    """What an agent acts in."""

    @property
    def tools(self) -> Sequence[str]:
        """The names of the tools."""

    @property
    def calls_left(self) -> int:
        """How many calls are still allowed."""

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """Runs one batch of parallel calls; a result is visible only to later batches.

        Raises:
            CallCapReached: More calls than are left; none of them was run.
        """


class TicketDesk:
    """The ticket desk in one scenario; one instance is one run.

    Args:
        scenario: The world; it is not changed.
        run_seed: Draws the identifiers of drafts and the wording of answers.
        max_calls: Tool-call cap.
    """

    tools: Sequence[str] = (
        "read_ticket",
        "lookup_customer",
        "check_inventory",
        "generate_action",
        "update_ticket",
        "ask_user",
    )

    def __init__(self, scenario: Scenario, run_seed: int = 0, max_calls: int = DEFAULT_MAX_CALLS) -> None:
        self._scenario = scenario
        self._rng = random.Random(f"desk/{scenario.id}/{run_seed}")
        self._calls_left = max_calls
        self._faults = dict(scenario.faults)
        self._states: dict[str, str] = {}

    @property
    def calls_left(self) -> int:
        """How many calls are still allowed."""
        return self._calls_left

    @property
    def states(self) -> Mapping[str, str]:
        """Ticket id → the state that was written, for tickets written to."""
        return dict(self._states)

    def execute(self, calls: Sequence[Call]) -> list[Envelope]:
        """See `Environment.execute`."""
        if len(calls) > self._calls_left:
            raise CallCapReached.at("desk", "calls must stay under the cap", len(calls), f"{self._calls_left} are left")
        self._calls_left -= len(calls)
        return [self._execute_one(call) for call in calls]

    def _execute_one(self, call: Call) -> Envelope:
        if call.tool not in self.tools:
            return _failure("invalid", {"error": f"no tool {call.tool}"})
        fault = self._faults.pop(call.tool, None)
        if fault == "timeout":
            return _failure("timeout")
        try:
            envelope: Envelope = getattr(self, f"_{call.tool}")(**call.arguments)
        except TypeError:
            return _failure("invalid", {"error": "wrong parameters"})
        return _truncated(envelope) if fault == "truncated" else envelope

    def _read_ticket(self, ticket_id: str) -> Envelope:
        return _found(self._scenario.tickets.get(ticket_id))

    def _lookup_customer(self, customer_id: str) -> Envelope:
        return _found(self._scenario.customers.get(customer_id))

    def _check_inventory(self, sku: str) -> Envelope:
        stock = self._scenario.stock.get(sku)
        return _found(None if stock is None else {"sku": sku, "stock": stock})

    def _generate_action(self, ticket_id: str, action: str, sku: str, qty: int, address: str, reason: str) -> Envelope:
        if action != "request_info" and not all((ticket_id, sku, qty, address)):
            return _failure("refused")
        return _found({"action_id": invent_id("A", self._rng)})

    def _update_ticket(self, ticket_id: str, status: str, action_id: str, note: str) -> Envelope:
        if status not in self._scenario.legal_statuses:
            return _failure("illegal_status", {"legal": list(self._scenario.legal_statuses)})
        self._states[ticket_id] = status
        return _found({"ticket_id": ticket_id, "status": status})

    def _ask_user(self, question: str) -> Envelope:
        topic = "address" if "address" in str(question).lower() else "sku"
        value = self._scenario.answers.get(topic) or self._known(topic)
        if value is None:
            return _found({"answer": phrase("no_answer", {}, self._rng)})
        return _found({"answer": phrase("answer", {"value": value}, self._rng)})

    def _known(self, topic: str) -> str | None:
        """What the user can repeat because the desk's own records hold it."""
        ticket = self._scenario.tickets[self._scenario.ticket_id]
        customer = self._scenario.customers[ticket.get("ship_to", ticket["customer_id"])]
        value = customer["address"] if topic == "address" else self._scenario.corrections.get("sku", ticket["sku"])
        return value if value and CORRUPTION not in value else None


def _found(record: Mapping[str, Any] | None) -> Envelope:
    if record is None:
        return _failure("not_found")
    damaged = any(value in (None, "") or (isinstance(value, str) and CORRUPTION in value) for value in record.values())
    return Envelope("ok", "partial" if damaged else "complete", False, record)


def _failure(status: Status, record: Mapping[str, Any] | None = None) -> Envelope:
    return Envelope(status, "partial", False, record)


def _truncated(envelope: Envelope) -> Envelope:
    """Only the first half of the fields came through."""
    record = dict(list((envelope.record or {}).items())[: len(envelope.record or {}) // 2])
    return Envelope(envelope.status, "partial", True, record)
