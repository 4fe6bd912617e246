"""Habits held back from the default mix: they test rules that were frozen before these were written.

Whoever writes a rule must not have seen a run of theirs, so they are drawn only where ``--agents`` names their agents;
the same holds for the templates of ``ticket/templates.yaml`` that are marked late.
"""

from __future__ import annotations

from typing import Any

from prm.reach.desk.environment import Envelope
from prm.reach.desk.habit import Habit, ticket_of
from prm.reach.desk.scenarios import Scenario
from prm.reach.desk.ticket_data import ticket_data
from prm.reach.desk.walk import Value


class SkipCheck(Habit):
    """Never checks the stock: takes it that the item is there, and ships."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0 if _has_sku(scenario) and _has_address(scenario) else 0.0

    def open(self) -> None:
        self.ticket = self.read(self.ticket_call())

    def gather_together(self) -> None:
        self.obtain_stock()
        self.obtain_address()

    def obtain_stock(self) -> None:
        self.obtain_sku()

    def decide(self) -> str:
        if not self.sku.text or not self.address.text:
            return super().decide()
        self.action_flaw = "unchecked_stock"
        return "ship"


class ImproviseStatus(Habit):
    """Writes a state of its own choice in place of the one asked for; if it is refused, sometimes thinks better."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked = self.status.text
        self.status = Value(self.improvised_word(), "improvised_status")

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        asked_is_legal = scenario.wanted_status in scenario.legal_statuses
        return 1.0 if asked_is_legal and "update_ticket" not in scenario.faults else 0.0

    def improvised_word(self) -> str:
        """A state other than the one asked for; as often one that the desk takes as one that it does not."""
        legal = set(self.scenario.legal_statuses)
        every: set[str] = set(ticket_data("names")["statuses"])
        words = legal if self.rng.random() < 0.5 else every - legal
        return self.rng.choice(sorted(words - {self.asked}))

    def correct_status(self, result: Envelope) -> None:
        """The list of legal states is no licence: only the one asked for puts it right."""
        if result.status != "illegal_status":
            return
        if self.rng.random() < 0.6:
            self.status = Value(self.asked)
        else:
            others = [word for word in (result.record or {})["legal"] if word != self.asked]
            self.status = Value(self.rng.choice(others), "improvised_status")


def _has_sku(scenario: Scenario) -> bool:
    """Whether the SKU can be had from the records or the user."""
    ticket = ticket_of(scenario)
    told = "sku" in scenario.corrections or "sku" in scenario.answers
    return told or ticket["sku"] == scenario.true_sku or "related" in ticket


def _has_address(scenario: Scenario) -> bool:
    """Whether the address can be had from the records or the user."""
    customer = scenario.customers[ticket_of(scenario)["customer_id"]]
    return bool(customer["address"]) or "merged_into" in customer or "address" in scenario.answers


LATE_HABITS: dict[str, type[Habit]] = {"skip_check": SkipCheck, "improvise_status": ImproviseStatus}
"""Every late habit by its name in ``ticket/agents.yaml``."""
