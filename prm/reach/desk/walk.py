"""What an agent holds while it works a ticket, and how its steps get their labels.

Labels are known by construction: every value carries its flaw, if it has one, and a step that uses a flawed
value is −1 until the value is replaced. Decides nothing; see `policies`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.scenarios import CORRUPTION, Scenario
from prm.reach.desk.transcript import Transcript
from prm.types import StepLabel


@dataclass
class Value:
    """Something the agent holds.

    Attributes:
        text: The value; empty where it could not be obtained.
        flaw: Why it must not be used (such as "invented_sku"), or None.
        used: Whether a step with the flaw has been taken; what follows only depends on it.
    """

    text: str
    flaw: str | None = None
    used: bool = False


class Walk:
    """One run under way."""

    def __init__(self, transcript: Transcript, scenario: Scenario, rng: random.Random) -> None:
        self.transcript, self.scenario, self.rng = transcript, scenario, rng
        self.ticket: Mapping[str, Any] = {}
        self.ticket_id = Value(scenario.ticket_id)
        self.sku = Value("")
        self.address = Value("")
        self.action_id = Value("")
        self.action = "ship"
        self.action_flaw: str | None = None
        self.in_stock: int | None = None
        self.updated = False
        self.status = Value(scenario.wanted_status)
        self.recovering = False

    # Steps

    def step(self, bank: str, calls: list[Call], *values: Value) -> list[Envelope]:
        """A step that uses `values`: +1, or −1 where one of them is flawed."""
        flawed = next((value for value in values if value.flaw), None)
        if flawed is not None:
            note = f"depends_on:{flawed.flaw}" if flawed.used else str(flawed.flaw)
            flawed.used, self.recovering = True, False
            return self.labelled_step(bank, calls, -1, note)
        note, self.recovering = ("recovery" if self.recovering else "useful"), False
        return self.labelled_step(bank, calls, 1, note)

    def labelled_step(self, bank: str, calls: list[Call], label: StepLabel, note: str) -> list[Envelope]:
        """A step with a label of its own."""
        return self.transcript.act(bank, calls, self.slots(calls), label, note)

    def read(self, call: Call) -> Mapping[str, Any]:
        """A read, repeated once if it timed out or came back truncated; returns the record."""
        return self.complete(self.step(call.tool, [call])[0], call)

    def complete(self, result: Envelope, call: Call) -> Mapping[str, Any]:
        """The record of `result`, asked for again if it did not come through in full."""
        return self.complete_envelope(result, call).record or {}

    def complete_envelope(self, result: Envelope, call: Call, *values: Value) -> Envelope:
        """`result`, or that of the call with `values` repeated if it did not come through in full."""
        if result.status != "timeout" and not result.is_truncated:
            return result
        self.recovering = True
        return self.step(self.repeat_bank(call), [call], *values)[0]

    def repeat_bank(self, call: Call) -> str:
        """The phrase bank for a repeated call: sometimes it is announced as one, mostly where it helps."""
        return "again" if self.rng.random() < (0.5 if self.recovering else 0.15) else call.tool

    # What is known

    def sku_is_plain(self) -> bool:
        """Whether the ticket names its SKU, undamaged."""
        return bool(self.ticket.get("sku")) and CORRUPTION not in self.ticket["sku"]

    def told_sku(self) -> str:
        """The SKU that the request puts in place of the ticket's, else the ticket's, undamaged; empty without one."""
        plain = str(self.ticket["sku"]) if self.sku_is_plain() else ""
        return self.scenario.corrections.get("sku", plain)

    def customer_id(self) -> str:
        """Whose address counts: the recipient's, else the customer's."""
        return str(self.ticket.get("ship_to", self.ticket.get("customer_id")))

    def quantity(self) -> int:
        """The ordered quantity; 1 where it is not known."""
        return int(self.ticket.get("qty", 1))

    def ticket_call(self, ticket_id: str | None = None) -> Call:
        """Reading a ticket, by default the one of the request."""
        return Call("read_ticket", {"ticket_id": ticket_id or self.scenario.ticket_id})

    def customer_call(self, customer_id: str) -> Call:
        """Looking up a customer."""
        return Call("lookup_customer", {"customer_id": customer_id})

    def slots(self, calls: list[Call] | None = None) -> dict[str, str]:
        """What phrases may name: what the agent holds, and what its calls say."""
        said = {name: value for call in calls or () for name, value in call.arguments.items()}
        return {
            "ticket": said.get("ticket_id", self.ticket_id.text),
            "customer": said.get("customer_id", "the customer"),
            "sku": said.get("sku") or self.sku.text or "the item",
            "address": self.address.text or "the customer",
            "action": self.action.replace("_", " "),
            "action_id": self.action_id.text,
            "status": self.status.text,
        }


def stock_call(sku: str) -> Call:
    """Checking the stock of a SKU."""
    return Call("check_inventory", {"sku": sku})
