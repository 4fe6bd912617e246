"""What every habit of a scripted agent shares: a little restlessness, and what repeating a call is worth."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from prm.reach.desk.environment import Call, Envelope
from prm.reach.desk.policies import CarefulWalk
from prm.reach.desk.scenarios import Scenario, invent_id, invent_sku
from prm.types import StepLabel

READS = ("read_ticket", "lookup_customer", "check_inventory")


class Habit(CarefulWalk):
    """A careful walk but for one decision, and a little restless: now and then it does something needless."""

    restlessness: Sequence[int] = (0, 0, 1, 1, 1)
    """How many needless steps a run may hold, drawn evenly."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.needless_left = self.rng.choice(self.restlessness)
        self.made: list[Call] = []
        self.repeats: dict[str, int] = {}

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        """How well the scenario suits the habit; 0 where it cannot show."""
        raise NotImplementedError

    def labelled_step(self, bank: str, calls: list[Call], label: StepLabel, note: str) -> list[Envelope]:
        results = super().labelled_step(bank, calls, label, note)
        if label != -1:
            fine = [call for call, result in zip(calls, results, strict=True) if result.ok]
            self.made += [call for call in fine if call.tool in READS]
        if results[0].ok and self.made and self.needless_left and self.rng.random() < 0.4:
            self.needless_left -= 1
            self.wander()
        return results

    def repeat(self, call: Call) -> None:
        """Makes a call that returns nothing new: first 0, then −1."""
        times = self.repeats[repr(call)] = self.repeats.get(repr(call), 0) + 1
        label: StepLabel = 0 if times == 1 else -1
        bank = self.repeat_bank(call)
        if call.tool == "ask_user":
            bank = "ask_address" if "address" in call.arguments["question"] else "ask_sku"
        self.transcript.act(bank, [call], self.slots([call]), label, f"no_progress_{times}")

    def wander(self) -> None:
        """One needless step."""
        aside = self.aside()
        if aside is not None and self.rng.random() < 0.5:
            self.repeats[repr(aside)] = 1
            self.transcript.act(aside.tool, [aside], self.slots([aside]), 0, "unused_read")
        elif self.rng.random() < 0.3 and self.known_topics():
            self.ask_again(self.rng.choice(self.known_topics()))
        else:
            self.repeat(self.rng.choice(self.made))

    def aside(self) -> Call | None:
        """A read that has no bearing on the ticket, if the ticket names one that was not made yet."""
        asides = []
        if "ship_to" in self.ticket:
            asides.append(self.customer_call(self.ticket["customer_id"]))
        if "related" in self.ticket and self.sku_is_plain():
            asides.append(self.ticket_call(self.ticket["related"]))
        fresh = [call for call in asides if repr(call) not in self.repeats]
        return self.rng.choice(fresh) if fresh else None

    def known_topics(self) -> list[str]:
        """What the agent has from a record and need not ask for."""
        topics = ["address"] * (bool(self.address.text) and not self.address.flaw)
        in_stock = self.scenario.true_sku in self.scenario.stock
        return topics + ["sku"] * (self.sku_is_plain() and in_stock and not topics)

    def ask_again(self, topic: str) -> None:
        """Asks for what the records hold: needless once, and no progress after."""
        times = self.repeats[topic] = self.repeats.get(topic, 0) + 1
        call = self.question_call(topic)
        label: StepLabel = 0 if times == 1 else -1
        self.transcript.act(f"ask_{topic}", [call], self.slots([call]), label, "needless_question")


def ticket_of(scenario: Scenario) -> Any:
    """The record of the ticket that the request is about."""
    return scenario.tickets[scenario.ticket_id]


def unknown_id(prefix: str, scenario: Scenario, rng: random.Random) -> str:
    """An id (a SKU where the prefix is empty) that the desk does not have."""
    while True:
        drawn = invent_id(prefix, rng) if prefix else invent_sku(rng)
        if drawn not in scenario.ids:
            return drawn
