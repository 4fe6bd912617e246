"""Hand-made logs of the ticket desk: one request, one ticket, and what an agent does with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from prm.reach.labels.rules import label_trajectory
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec
from prm.reach.spec.model import Spec
from prm.types import RunIdentity, StepLabel, Trajectory

REQUEST = "Please handle ticket T41 and set it to closed. If out of stock, backorder it."
RECORD = {"ticket_id": "T41", "customer_id": "C70", "sku": "apple-4", "qty": 2}
ADDRESS = "5 Elm St, Boston"

Call = tuple[str, Mapping[str, Any], Mapping[str, Any] | None]
"""(tool, arguments, the whole result or None where the log lacks it)."""


def ok(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"status": "ok", "data_quality": "complete", "is_truncated": False, "record": record}


def failed(status: str, record: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"status": status, "data_quality": "partial", "is_truncated": False, "record": record}


def read(record: Mapping[str, Any] = RECORD, ticket_id: str = "T41") -> Call:
    return "read_ticket", {"ticket_id": ticket_id}, ok(record)


def lookup(customer_id: str = "C70", address: str = ADDRESS, **more: Any) -> Call:
    return "lookup_customer", {"customer_id": customer_id}, ok({"customer_id": customer_id, "address": address, **more})


def stock(sku: str = "apple-4", units: int = 7) -> Call:
    return "check_inventory", {"sku": sku}, ok({"sku": sku, "stock": units})


def draft(**changed: Any) -> Call:
    arguments = {
        "ticket_id": "T41",
        "action": "ship",
        "sku": "apple-4",
        "qty": 2,
        "address": ADDRESS,
        "reason": "per ticket",
    }
    result = changed.pop("result", ok({"action_id": "A55"}))
    return "generate_action", {**arguments, **changed}, result


def update(**changed: Any) -> Call:
    result = changed.pop("result", None) or ok({"ticket_id": "T41", "status": "closed"})
    arguments = {"ticket_id": "T41", "status": "closed", "action_id": "A55", "note": "handled"}
    return "update_ticket", {**arguments, **changed}, result


def ask(question: str, answer: str) -> Call:
    return "ask_user", {"question": question}, ok({"answer": answer})


Step = Call | list[Call] | str
"""One call, a batch of calls, or something said."""

DONE = "Done: T41 is now closed, with ship."


def trajectory(*steps: Step, request: str = REQUEST, tools: Sequence[Mapping[str, Any]] = ()) -> Trajectory:
    messages: list[dict[str, Any]] = [{"role": "user", "content": request}]
    for step in steps:
        messages += _messages(step, len(messages))
    labels: dict[int, StepLabel | None] = {i: None for i, m in enumerate(messages) if m["role"] == "assistant"}
    return Trajectory(RunIdentity(id="hand-made"), tuple(messages), labels, tools=tuple(tools))


def _messages(step: Step, at: int) -> list[dict[str, Any]]:
    if isinstance(step, str):
        return [{"role": "assistant", "content": step}]
    calls = step if isinstance(step, list) else [step]
    named = [(f"c{at}.{number}", call) for number, call in enumerate(calls)]
    made = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        for name, (tool, arguments, _) in named
    ]
    results = [
        {"role": "tool", "tool_call_id": name, "name": tool, "content": json.dumps(result)}
        for name, (tool, _, result) in named
        if result is not None
    ]
    return [{"role": "assistant", "content": "", "tool_calls": made}, *results]


def labelled(*steps: Step, spec: Spec | None = None, **more: Any) -> Trajectory:
    used = spec or shipped_spec("ticket")
    run, _ = label_trajectory(run_of_trajectory(trajectory(*steps, **more), used.envelope), used)
    return run


def story(*steps: Step, **more: Any) -> list[tuple[int | None, str]]:
    """(label, rule) of each step."""
    run = labelled(*steps, **more)
    return [(label, run.label_notes[str(index)]["rule"]) for index, label in run.step_labels.items()]
