"""The careful scripted agent: walks any legal path of a ticket; a habit overrides one decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prm.reach.desk.environment import Call, CallCapReached, Envelope
from prm.reach.desk.phrasing import phrase
from prm.reach.desk.ticket_data import ticket_data
from prm.reach.desk.walk import Value, Walk, stock_call
from prm.types import StepLabel


class CarefulWalk(Walk):
    """Works one ticket without a mistake; the order of reads is drawn where none binds."""

    def run(self) -> StepLabel:
        """Walks the ticket to its end or to the call cap; returns the outcome."""
        try:
            self.open()
            self.gather()
            self.conclude()
        except CallCapReached:
            return -1
        return 1 if self.updated and not self.final_flaw() else -1

    # Phases

    def open(self) -> None:
        """Reads the ticket, together with the other reads where the request names their ids."""
        named = self.scenario.named_ids
        if named and self.rng.random() < 0.6:
            calls = [self.ticket_call(), self.customer_call(named["customer_id"]), stock_call(named["sku"])]
            self.sku = Value(named["sku"])
            ticket, customer, stock = self.step("batch_read", calls)
            self.ticket = self.complete(ticket, calls[0])
            self.take_customer(customer)
            self.take_stock(stock)
        else:
            self.ticket = self.read(self.ticket_call())

    def gather(self) -> None:
        """Gets the address and the stock, in either order or together."""
        if self.in_stock is not None:
            return
        order = self.rng.random()
        if order < 0.25 and self.sku_is_plain():
            self.gather_together()
        elif order < 0.6:
            self.obtain_address()
            self.obtain_stock()
        else:
            self.obtain_stock()
            self.obtain_address()

    def conclude(self) -> None:
        """Drafts the action, writes it to the ticket and reports."""
        self.draft()
        self.update()
        self.finish()

    # Reads

    def gather_together(self) -> None:
        """Customer and stock in one batch: both ids are known."""
        self.obtain_sku()
        calls = [self.customer_call(self.customer_id()), stock_call(self.sku.text)]
        customer, stock = self.step("batch_read", calls, self.sku)
        self.take_customer(customer)
        self.take_stock(self.complete_envelope(stock, calls[1], self.sku))

    def obtain_address(self) -> None:
        """Finds out where the order goes."""
        self.take_customer(self.read(self.customer_call(self.customer_id())))

    def obtain_stock(self) -> None:
        """Finds out the SKU and checks its stock; without a SKU there is nothing to check."""
        self.obtain_sku()
        if self.sku.text:
            self.take_stock(self.check_sku())

    def obtain_sku(self) -> None:
        """Takes the SKU from the request or the ticket, from the ticket it refers to, or from the user."""
        told = self.told_sku()
        if told:
            self.sku = Value(told)
        elif "related" in self.ticket:
            self.sku = Value(str(self.read(self.ticket_call(self.ticket["related"]))["sku"]))
        else:
            self.sku = Value(self.ask("sku"))

    def check_sku(self) -> Envelope:
        """Checks the stock of the SKU held; the step is −1 if the SKU is flawed."""
        call = stock_call(self.sku.text)
        result = self.step("check_inventory", [call], self.sku)[0]
        return self.complete_envelope(result, call, self.sku)

    def take_customer(self, result: Envelope | Mapping[str, Any]) -> None:
        """Takes the address from a customer's record, following a merge and asking where it is empty."""
        record = (result.record or {}) if isinstance(result, Envelope) else result
        if "merged_into" in record:
            record = self.read(self.customer_call(record["merged_into"]))
        self.address = Value(record["address"]) if record.get("address") else self.missing_address()

    def missing_address(self) -> Value:
        """What to do about an empty address: ask."""
        return Value(self.ask("address"))

    def take_stock(self, result: Envelope) -> None:
        """Heeds the stock: asks about an unknown SKU, looks at the alternative if there is none left."""
        if result.status == "not_found":
            self.unknown_sku()
            return
        self.in_stock = int((result.record or {})["stock"])
        if self.in_stock == 0 and self.scenario.fallback == "substitute" and not self.sku.flaw:
            self.read(stock_call(self.ticket["alternative"]))

    def unknown_sku(self) -> None:
        """The desk does not know the SKU: corrects it where it was the agent's own, else asks the user."""
        right = self.told_sku() if self.sku.flaw else ""
        self.recovering = self.sku.flaw is not None
        self.sku = Value(right or self.ask("sku"))
        if self.sku.text:
            self.take_stock(self.check_sku())

    def ask(self, topic: str) -> str:
        """Asks the user for the "sku" or the "address"; returns the answer's value, empty if not known."""
        self.step(f"ask_{topic}", [self.question_call(topic)])
        return self.scenario.answers.get(topic, "")

    def question_call(self, topic: str) -> Call:
        """Asking the user for the "sku" or the "address"."""
        return Call("ask_user", {"question": phrase(f"question_{topic}", {}, self.rng)})

    # Decision and writes

    def decide(self) -> str:
        """The action that what was found demands."""
        if not self.sku.text or not self.address.text:
            return "request_info"
        if self.in_stock:
            return "ship"
        return self.scenario.fallback or "backorder"

    def draft_call(self) -> Call:
        """The call that drafts the action decided on."""
        sku = self.sku.text
        if self.action == "substitute":
            sku = str(self.ticket.get("alternative", sku))
        arguments = {
            "ticket_id": self.ticket_id.text,
            "action": self.action,
            "sku": sku,
            "qty": self.quantity(),
        }
        reason = self.rng.choice(ticket_data("phrases")["reasons"])
        return Call("generate_action", {**arguments, "address": self.address.text, "reason": reason})

    def draft(self) -> None:
        """Drafts the action; the action is flawed if anything it rests on is."""
        self.action = self.decide()
        flaws = [value for value in (self.sku, self.address) if value.flaw]
        if self.action_flaw:
            flaws = [Value("", self.action_flaw), *flaws]
        result = self.step("generate_action", [self.draft_call()], *flaws)[0]
        self.action_id = Value(str((result.record or {})["action_id"]), flaws[0].flaw if flaws else None, True)

    def update_call(self) -> Call:
        """The call that writes the state."""
        note = self.rng.choice(ticket_data("phrases")["notes"])
        arguments = {
            "ticket_id": self.ticket_id.text,
            "status": self.status.text,
            "action_id": self.action_id.text,
        }
        return Call("update_ticket", {**arguments, "note": note})

    def update(self) -> None:
        """Writes the state, again after a time-out, and with a legal status after an illegal one."""
        result = self.write()
        self.updated = result.ok or self.write_failed(result)

    def write(self) -> Envelope:
        """One attempt to write the state."""
        result = self.step("update_ticket", [self.update_call()], self.action_id, self.ticket_id, self.status)[0]
        if result.status == "illegal_status" and self.transcript.labels[max(self.transcript.labels)] == 1:
            self.transcript.relabel_last(0, "learnt_by_trying")
        return result

    def write_failed(self, result: Envelope) -> bool:
        """What to do about a failed write: correct it and try again. Returns whether it worked."""
        self.correct_status(result)
        self.recovering = True
        return self.write().ok

    def correct_status(self, result: Envelope) -> None:
        """Takes a legal status where the one asked for was refused."""
        if result.status == "illegal_status":
            self.status = Value(self.rng.choice((result.record or {})["legal"]))

    def final_flaw(self) -> str | None:
        """What makes the run's end wrong, or None."""
        return self.action_id.flaw or self.ticket_id.flaw or self.status.flaw

    def finish(self) -> None:
        """Reports to the user."""
        flaw = self.final_flaw()
        own = flaw in ("stopped_early", "claims_failed_write")
        note = "reported" if flaw is None else flaw if own else f"depends_on:{flaw}"
        self.transcript.report("final", self.slots(), 1 if flaw is None else -1, note)
