"""Habits that spoil or repeat what an agent reads: ids and values invented, guessed, mixed up, read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.habit import READS, Habit, ticket_of, unknown_id
from prm.reach.desk.scenarios import Scenario, invent_address
from prm.reach.desk.walk import Value, stock_call
from prm.types import StepLabel


class InventSku(Habit):
    """Puts a SKU of its own in place of the ticket's; goes on from a truncated ticket."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        if scenario.named_ids:
            return 0.0
        return 1.0 if ticket_of(scenario)["sku"] == scenario.true_sku and not scenario.faults else 3.0

    def complete_envelope(self, result: Envelope, call: Call, *values: Value) -> Envelope:
        return result if result.is_truncated else super().complete_envelope(result, call, *values)

    def obtain_sku(self) -> None:
        exists = self.rng.random() < 0.85
        sku = self.rng.choice(self.scenario.unnamed_skus) if exists else unknown_id("", self.scenario, self.rng)
        self.sku = Value(sku, "invented_sku")


class InventAddress(Habit):
    """Writes an address that nobody gave: in place of an empty one, or without looking the customer up."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        if scenario.named_ids:
            return 0.0
        return 1.0 if scenario.customers[ticket_of(scenario)["customer_id"]]["address"] else 4.0

    def gather_together(self) -> None:
        self.obtain_stock()
        self.obtain_address()

    def obtain_address(self) -> None:
        if self.relevance(self.scenario) > 1 or self.rng.random() < 0.5:
            super().obtain_address()
        if not self.address.flaw:
            self.address = Value(invent_address(self.rng), "invented_address")

    def missing_address(self) -> Value:
        return Value(invent_address(self.rng), "invented_address")


class Loop(Habit):
    """Makes the same call over and over; now and then it never gets out."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.start = self.rng.randint(0, 4)
        self.length = 15 if self.rng.random() < 0.04 else self.rng.choice((2, 2, 3, 4))

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0

    def labelled_step(self, bank: str, calls: list[Call], label: StepLabel, note: str) -> list[Envelope]:
        results = super().labelled_step(bank, calls, label, note)
        if len(calls) == 1 and results[0].ok and calls[0].tool != "generate_action":
            if self.start == 0:
                for _ in range(self.length):
                    self.repeat(calls[0])
            self.start -= 1
        return results


class Detour(Habit):
    """Reads again, reads what does not matter, asks what it knows; gets there all the same."""

    restlessness = (2, 3, 4)

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0


class GuessReads(Habit):
    """Reads the ticket, a customer and a SKU in one batch although only the ticket's id is known."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 0.0 if scenario.named_ids or scenario.faults else 1.0

    def open(self) -> None:
        ticket = ticket_of(self.scenario)
        others = sorted(set(self.scenario.customers) - {ticket["customer_id"], ticket.get("ship_to")})
        customer_id, sku = self.guess(others, "C"), self.guess(self.scenario.unnamed_skus, "")
        self.sku = Value(sku, "guessed_sku", used=True)
        calls = [self.ticket_call(), self.customer_call(customer_id), stock_call(sku)]
        read, customer, stock = self.labelled_step("batch_read", calls, -1, "guessed_reads")
        self.ticket = read.record or {}
        address = (customer.record or {}).get("address")
        if stock.status == "ok" and address and self.rng.random() < 0.75:
            self.address = Value(address, "guessed_customer", used=True)
            self.in_stock = int((stock.record or {})["stock"])
        else:
            self.recovering = True

    def guess(self, others: Sequence[str], prefix: str) -> str:
        """An id that is another's, or nobody's."""
        if others and self.rng.random() < 0.75:
            return self.rng.choice(others)
        return unknown_id(prefix, self.scenario, self.rng)


class SlipAndRecover(Habit):
    """Gets one id wrong, sees the error and uses the right one."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.before = self.rng.randint(0, 2)

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 0.0 if scenario.faults else 1.0

    def gather_together(self) -> None:
        self.obtain_stock()
        self.obtain_address()

    def labelled_step(self, bank: str, calls: list[Call], label: StepLabel, note: str) -> list[Envelope]:
        if len(calls) == 1 and calls[0].tool in READS:
            if self.before == 0:
                slip = self.slip(calls[0])
                super().labelled_step(bank, [slip], -1, "wrong_id")
                self.recovering = True
                bank, note = self.repeat_bank(calls[0]), "recovery"
                self.recovering = False
            self.before -= 1
        return super().labelled_step(bank, calls, label, note)

    def slip(self, call: Call) -> Call:
        """The same call with an id that the desk does not have."""
        ((name, _),) = call.arguments.items()
        prefix = {"ticket_id": "T", "customer_id": "C"}.get(name, "")
        return Call(call.tool, {name: unknown_id(prefix, self.scenario, self.rng)})


class WrongAddress(Habit):
    """Takes another's address: of who ordered although the goods go elsewhere, or of a related ticket."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        ticket = ticket_of(scenario)
        if scenario.named_ids or scenario.customers[ticket["customer_id"]]["address"] == "":
            return 0.0
        return 1.0 if "ship_to" in ticket else 0.6 if "related" in ticket and ticket["sku"] else 0.0

    def aside(self) -> Call | None:
        return None

    def gather_together(self) -> None:
        self.obtain_stock()
        self.obtain_address()

    def obtain_address(self) -> None:
        if "ship_to" in self.ticket:
            self.take_from(self.ticket["customer_id"], 0, "unused_read")
            return
        related = self.ticket_call(self.ticket["related"])
        (result,) = self.labelled_step(related.tool, [related], 0, "unused_read")
        self.take_from((result.record or {})["customer_id"], -1, "wrong_customer")

    def take_from(self, customer_id: str, label: StepLabel, note: str) -> None:
        """Looks a customer up whose address has no bearing on the ticket, and takes it."""
        call = self.customer_call(customer_id)
        (result,) = self.labelled_step(call.tool, [call], label, note)
        self.address = Value(str((result.record or {})["address"]), "wrong_customer", used=label == -1)


class WrongSku(Habit):
    """Takes the SKU of a related ticket, the alternative, or one that the request corrects, for the right one."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        if scenario.corrections:
            return 1.0
        ticket = ticket_of(scenario)
        own = ticket["sku"] == scenario.true_sku and not scenario.named_ids and not scenario.faults
        return 1.0 if own and ("related" in ticket or "alternative" in ticket) else 0.0

    def aside(self) -> Call | None:
        return None

    def obtain_sku(self) -> None:
        sku = self.ticket["sku"] if self.scenario.corrections else self.ticket.get("alternative")
        if sku is None:
            call = self.ticket_call(self.ticket["related"])
            (result,) = self.labelled_step(call.tool, [call], 0, "unused_read")
            sku = (result.record or {})["sku"]
        self.sku = Value(str(sku), "wrong_sku")
