"""Habits that spoil what an agent decides, drafts, writes or reports."""

from __future__ import annotations

from prm.reach.desk.environment import Envelope
from prm.reach.desk.habit import Habit, ticket_of
from prm.reach.desk.scenarios import Scenario, invent_id
from prm.reach.desk.walk import Value


class SubmitBlank(Habit):
    """Drafts with an empty field, is refused, and only then asks."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        address = scenario.customers[ticket_of(scenario)["customer_id"]]
        missing = not address["address"] and "merged_into" not in address
        return 1.0 if missing or (ticket_of(scenario)["sku"] is None and "related" not in ticket_of(scenario)) else 0.0

    def ask(self, topic: str) -> str:
        self.labelled_step("generate_action", [self.draft_call()], -1, "incomplete_inputs")
        self.recovering = True
        return super().ask(topic)


class StopEarly(Habit):
    """Reports success before the ticket is written, sometimes before anything was drafted."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0

    def conclude(self) -> None:
        if self.rng.random() < 0.6:
            self.draft()
        else:
            self.action = self.decide()
        self.finish()

    def final_flaw(self) -> str | None:
        return "stopped_early"


class IgnoreStock(Habit):
    """Ships what is out of stock."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0 if scenario.stock.get(scenario.true_sku) == 0 else 0.0

    def decide(self) -> str:
        self.action_flaw = "minefield:ship_when_out_of_stock"
        return "ship"


class IgnoreNotFound(Habit):
    """Ships a SKU that the desk does not know."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 0.0 if scenario.true_sku in scenario.stock else 1.0

    def unknown_sku(self) -> None:
        self.action_flaw = "ignored_not_found"

    def decide(self) -> str:
        return "ship"


class NeedlessBranch(Habit):
    """Falls back although the item is there, or asks for information that it has."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        in_stock = scenario.stock.get(scenario.true_sku, 0) > 0
        return 0.5 if in_stock and "sku" not in scenario.answers and ticket_of(scenario)["sku"] else 0.0

    def decide(self) -> str:
        right = super().decide()
        if right != "ship":
            return right
        self.action_flaw = "wrong_branch"
        if self.rng.random() < 0.2:
            return "request_info"
        return self.scenario.fallback or self.rng.choice(("backorder", "refund"))


class GuessActionId(Habit):
    """Drafts and writes in one batch, with an action id that it cannot know yet; sometimes puts it right."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 0.3 if scenario.wanted_status in scenario.legal_statuses and not scenario.faults else 0.0

    def conclude(self) -> None:
        self.action = self.decide()
        self.action_id = Value(invent_id("A", self.rng), "guessed_action_id", used=True)
        calls = [self.draft_call(), self.update_call()]
        draft, _ = self.labelled_step("generate_action", calls, -1, "guessed_action_id")
        self.updated = True
        if self.rng.random() < 0.35:
            self.action_id = Value(str((draft.record or {})["action_id"]))
            self.recovering = True
            self.update()
        self.finish()


class WrongTicket(Habit):
    """Writes the state to the related ticket."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 1.0 if "related" in ticket_of(scenario) else 0.0

    def update(self) -> None:
        self.ticket_id = Value(str(self.ticket["related"]), "minefield:foreign_ticket")
        super().update()


class FalseClaim(Habit):
    """Reports a write that failed."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        illegal = scenario.wanted_status not in scenario.legal_statuses
        return 1.0 if illegal or "update_ticket" in scenario.faults else 0.0

    def write_failed(self, result: Envelope) -> bool:
        self.action_id.flaw = "claims_failed_write"
        return False


class Insist(Habit):
    """Repeats an illegal status unchanged before it gives way, or gives up and claims success."""

    @staticmethod
    def relevance(scenario: Scenario) -> float:
        return 0.0 if scenario.wanted_status in scenario.legal_statuses else 1.0

    def write_failed(self, result: Envelope) -> bool:
        for _ in range(self.rng.choice((1, 1, 2))):
            call = self.update_call()
            self.labelled_step(self.repeat_bank(call), [call], -1, "repeated_illegal_status")
        if self.rng.random() < 0.5:
            return super().write_failed(result)
        self.action_id.flaw = "claims_failed_write"
        return False
