"""Scenarios of the ticket desk: a template and a seed fix one world and one request (one *query*).

A world holds tickets, customers and stock; what is missing or will fail is part of it. Nothing here acts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prm.errors import ConfigError
from prm.reach.desk.phrasing import fill, phrase
from prm.reach.desk.ticket_data import ticket_data

TEMPLATES: tuple[str, ...] = tuple(name for name, spec in ticket_data("templates").items() if not spec.get("late"))
"""The names of the scenario templates; a split may hold out whole ones."""

LATE_TEMPLATES: tuple[str, ...] = tuple(name for name, spec in ticket_data("templates").items() if spec.get("late"))
"""Those that are drawn only where they are named; see `late_habits`."""

ABNORMAL_TEMPLATES: tuple[str, ...] = tuple(name for name in TEMPLATES if ticket_data("templates")[name]["abnormal"])
"""Those in which something is missing or fails."""

CORRUPTION = "#"
"""Stands for the characters that a corrupted field lost."""


@dataclass(frozen=True)
class Scenario:
    """One world and one request.

    Attributes:
        id: "<template>-<seed>"; the query of every run of it.
        request: What the user writes.
        ticket_id: The ticket of the request.
        wanted_status: The state the user asks for; illegal where it is not in `legal_statuses`.
        fallback: What the user wants if the item is out of stock (backorder | refund | substitute), or None.
        tickets, customers: Records by id, as the tools return them.
        stock: Units by SKU; a SKU that is absent is unknown to the desk.
        answers: What the user answers when asked for the "sku" or the "address"; a missing one is not known.
        corrections: Field of the ticket → what the request puts in its place ("sku"), or nothing.
        named_ids: Customer and SKU that the request itself names ("customer_id", "sku"), or nothing.
        faults: Tool → "timeout" | "truncated": its first call fails that way.
        true_sku: The SKU the ticket is about, whether or not anybody tells it.
    """

    id: str
    template: str
    seed: int
    request: str
    ticket_id: str
    wanted_status: str
    legal_statuses: tuple[str, ...]
    fallback: str | None
    tickets: Mapping[str, Mapping[str, Any]]
    customers: Mapping[str, Mapping[str, Any]]
    stock: Mapping[str, int]
    answers: Mapping[str, str]
    true_sku: str
    corrections: Mapping[str, str] = field(default_factory=dict)
    named_ids: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def unnamed_skus(self) -> tuple[str, ...]:
        """SKUs in stock that no ticket and no answer names: an agent can only guess them."""
        named = {str(value) for ticket in self.tickets.values() for value in ticket.values()}
        return tuple(sorted(set(self.stock) - named - {self.true_sku, *self.answers.values()}))

    @property
    def ids(self) -> frozenset[str]:
        """Every id of the world: tickets, customers, SKUs."""
        return frozenset({*self.tickets, *self.customers, *self.stock, self.true_sku})


def build_scenario(template: str, seed: int) -> Scenario:
    """The scenario of `template` and `seed`; the same two give the same scenario.

    Raises:
        ConfigError: There is no such template.
    """
    known = (*TEMPLATES, *LATE_TEMPLATES)
    if template not in known:
        raise ConfigError.at("template", f"must be one of {', '.join(known)}", template, "choose one of them")
    return _Builder(template, seed).build()


def draw_template(rng: random.Random, templates: tuple[str, ...] = TEMPLATES) -> str:
    """One of `templates`, by their weights."""
    weights = [ticket_data("templates")[name]["weight"] for name in templates]
    return rng.choices(templates, weights)[0]


def invent_sku(rng: random.Random) -> str:
    """A SKU in the desk's form."""
    return f"{rng.choice(ticket_data('names')['sku_words'])}-{rng.randint(2, 9)}"


def invent_address(rng: random.Random) -> str:
    """An address in the desk's form."""
    names = ticket_data("names")
    street = f"{rng.randint(2, 98)} {rng.choice(names['streets'])} {rng.choice(names['street_kinds'])}"
    return f"{street}, {rng.choice(names['cities'])}"


def invent_id(prefix: str, rng: random.Random) -> str:
    """An identifier in the desk's form, such as ``T41`` or ``C70``."""
    return f"{prefix}{rng.randint(10, 99)}"


class _Builder:
    """Draws the parts of one scenario in a fixed order."""

    def __init__(self, template: str, seed: int) -> None:
        self.template, self.seed = template, seed
        self.spec: Mapping[str, Any] = ticket_data("templates")[template]
        self.rng = random.Random(f"scenario/{template}/{seed}")
        self._used: set[str] = set()
        self.tickets: dict[str, dict[str, Any]] = {}
        self.customers: dict[str, dict[str, Any]] = {}
        self.stock: dict[str, int] = {}
        self.answers: dict[str, str] = {}
        self.corrections: dict[str, str] = {}

    def build(self) -> Scenario:
        spec = self.spec
        ticket_id, sku = self._fresh("T"), self._fresh_sku()
        customer_id = self._customer()
        self._stock_up(sku)
        ticket = {"ticket_id": ticket_id, "customer_id": customer_id, "sku": sku, "qty": self.rng.randint(1, 5)}
        self.tickets[ticket_id] = ticket
        self._add_optional_fields(ticket, sku)
        self._lose_sku(ticket, sku)
        self._outdate_sku(ticket, sku)
        self._lose_address(ticket)
        named = {"customer_id": customer_id, "sku": sku} if spec.get("request_ids") else {}
        legal, wanted = self._statuses()
        fault = spec.get("fault")
        return Scenario(
            id=f"{self.template}-{self.seed}",
            template=self.template,
            seed=self.seed,
            request=self._request(ticket_id, wanted, named),
            ticket_id=ticket_id,
            wanted_status=wanted,
            legal_statuses=legal,
            fallback=spec.get("fallback"),
            tickets=self.tickets,
            customers=self.customers,
            stock=self.stock,
            answers=self.answers,
            true_sku=sku,
            corrections=self.corrections,
            named_ids=named,
            faults=dict([reversed(fault.split(":"))]) if fault else {},
        )

    def _fresh(self, prefix: str) -> str:
        name = invent_id(prefix, self.rng)
        while name in self._used:
            name = invent_id(prefix, self.rng)
        self._used.add(name)
        return name

    def _fresh_sku(self) -> str:
        sku = invent_sku(self.rng)
        while sku in self._used:
            sku = invent_sku(self.rng)
        self._used.add(sku)
        return sku

    def _customer(self) -> str:
        customer_id = self._fresh("C")
        self.customers[customer_id] = {"customer_id": customer_id, "address": invent_address(self.rng)}
        return customer_id

    def _stock_up(self, sku: str) -> None:
        kind = self.spec.get("stock", "some")
        if kind != "unknown":
            self.stock[sku] = 0 if kind == "none" else self.rng.randint(20, 90)
        for _ in range(4):
            self.stock[self._fresh_sku()] = self.rng.choice((0, 0, *range(20, 90, 7)))
        if kind == "unknown":
            self.answers["sku"] = self._fresh_sku()
            self.stock[self.answers["sku"]] = self.rng.randint(20, 90)

    def _add_optional_fields(self, ticket: dict[str, Any], sku: str) -> None:
        if self.spec.get("recipient"):
            ticket["ship_to"] = self._customer()
        if self.spec.get("fallback") == "substitute":
            ticket["alternative"] = self._fresh_sku()
            self.stock[ticket["alternative"]] = self.rng.randint(20, 90)
        related = self.spec.get("related")
        # Many tickets that name their SKU refer to one that has no bearing on them.
        plain = self.spec.get("sku", "given") == "given" and self.spec.get("fault") is None
        if related is None and plain and self.rng.random() < 0.3:
            related = "other"
        if related is not None:
            ticket["related"] = self._related(sku if related == "source" else self._fresh_sku())

    def _related(self, sku: str) -> str:
        ticket_id = self._fresh("T")
        self.stock.setdefault(sku, self.rng.randint(20, 90))
        customer_id = self._customer()
        record = {"ticket_id": ticket_id, "customer_id": customer_id, "sku": sku, "qty": self.rng.randint(1, 5)}
        self.tickets[ticket_id] = record
        return ticket_id

    def _lose_sku(self, ticket: dict[str, Any], sku: str) -> None:
        kind = self.spec.get("sku", "given")
        if kind == "missing":
            ticket["sku"] = None
        elif kind == "corrupted":
            ticket["sku"] = sku[:1] + CORRUPTION * 3
        if kind != "given" and self.spec.get("answer", True) and self.spec.get("related") != "source":
            self.answers["sku"] = sku

    def _outdate_sku(self, ticket: dict[str, Any], sku: str) -> None:
        if self.spec.get("corrects") == "sku":
            self.corrections["sku"] = sku
            ticket["sku"] = self._fresh_sku()
            self.stock[ticket["sku"]] = self.rng.choice((0, self.rng.randint(20, 90)))

    def _lose_address(self, ticket: Mapping[str, Any]) -> None:
        kind = self.spec.get("address", "given")
        customer = self.customers[ticket["customer_id"]]
        if kind == "merged":
            customer["address"], customer["merged_into"] = "", self._customer()
        elif kind == "missing":
            address, customer["address"] = customer["address"], ""
            if self.spec.get("answer", True):
                self.answers["address"] = address

    def _statuses(self) -> tuple[tuple[str, ...], str]:
        words = self.rng.sample(ticket_data("names")["statuses"], 4)
        if self.spec.get("status") == "illegal":
            return tuple(words[1:]), words[0]
        return tuple(words), words[0]

    def _request(self, ticket_id: str, status: str, named: Mapping[str, str]) -> str:
        banks = ticket_data("phrases")
        slots = {"ticket": ticket_id, "status": status, "ids": "", "fallback": ""}
        if named:
            ids = {"customer": named["customer_id"], "sku": named["sku"]}
            slots["ids"] = fill(self.rng.choice(banks["request_ids"]), ids, self.rng)
        if self.corrections:
            slots["ids"] = fill(self.rng.choice(banks["request_correction"]), self.corrections, self.rng)
        if self.spec.get("fallback"):
            slots["fallback"] = fill(self.rng.choice(banks["request_fallback"][self.spec["fallback"]]), {}, self.rng)
        return phrase("request", slots, self.rng)
