"""The habits of scripted agents by name: each overrides one decision of the careful walk."""

from __future__ import annotations

from prm.reach.desk.acting_habits import (
    FalseClaim,
    GuessActionId,
    IgnoreNotFound,
    IgnoreStock,
    Insist,
    NeedlessBranch,
    StopEarly,
    SubmitBlank,
    WrongTicket,
)
from prm.reach.desk.habit import Habit
from prm.reach.desk.reading_habits import (
    Detour,
    GuessReads,
    InventAddress,
    InventSku,
    Loop,
    SlipAndRecover,
    WrongAddress,
    WrongSku,
)

HABITS: dict[str, type[Habit]] = {
    "invent_sku": InventSku,
    "invent_address": InventAddress,
    "loop": Loop,
    "detour": Detour,
    "stop_early": StopEarly,
    "ignore_stock": IgnoreStock,
    "ignore_not_found": IgnoreNotFound,
    "needless_branch": NeedlessBranch,
    "guess_reads": GuessReads,
    "guess_action_id": GuessActionId,
    "slip_and_recover": SlipAndRecover,
    "submit_blank": SubmitBlank,
    "wrong_address": WrongAddress,
    "wrong_sku": WrongSku,
    "wrong_ticket": WrongTicket,
    "false_claim": FalseClaim,
    "insist": Insist,
}
"""Every habit by its name in ``ticket/agents.yaml``."""
