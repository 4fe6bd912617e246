"""Small specs and logs for the tests of the judging engine: a shop in which a lookup leads to an order."""

from __future__ import annotations

from typing import Any

from prm.reach.judging.facts import FactTimeline
from prm.reach.judging.judge import judge_in_full, judge_run
from prm.reach.judging.sweep import Swept
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.run import Run
from prm.reach.spec.load import parse_spec
from prm.reach.spec.model import Spec
from tests.reach.log.messages import call, result, says, trajectory

MISSING = object()
"""A result that the log does not hold."""

ENVELOPE = {
    "status": "status",
    "ok": "ok",
    "is_truncated": "cut",
    "record": "record",
    "outside": "timeout",
    "damage_marks": "#",
}
TOOLS = {
    "find": {"effect": "read", "parameters": {"name": "ref"}},
    "order": {"effect": "write", "parameters": {"item": "ref", "note": "free"}},
    "ask": {"effect": "read", "parameters": {"question": "free"}},
}


def shop(**parts: Any) -> Spec:
    """A spec of the shop; by default its one milestone is a lookup whose item goes into an order."""
    used = {"flow": {"from": "result.item", "to": "order.item"}}
    content = {
        "schema": "prm.reach.spec/1",
        "name": "shop",
        "envelope": ENVELOPE,
        "tools": TOOLS,
        "milestones": {"found": {"source": {"tool": "find"}, "used": used}},
    }
    return parse_spec({**content, **parts}, "shop.yaml")


def ok(record: Any, **marks: Any) -> dict[str, Any]:
    """A result in the shop's envelope."""
    return {"status": "ok", "record": record, **marks}


def step(*pairs: Any, text: str = "") -> list[Any]:
    """An assistant's message with calls, each (tool, arguments, result), and the messages of their results."""
    return [says(text, *(call(tool, arguments) for tool, arguments, _ in pairs)), *(found for *_, found in pairs)]


def run_of(spec: Spec, *messages: Any) -> Run:
    """A run of messages and of `step` lists; calls get the ids c0, c1, …"""
    flat: list[dict[str, Any]] = []
    made = 0
    for message in messages:
        if not isinstance(message, list):
            flat.append(message)
            continue
        head, *results = message
        ids = [f"c{made + number}" for number in range(len(results))]
        made += len(results)
        calls = [{**recorded, "id": id} for recorded, id in zip(head.get("tool_calls", []), ids, strict=True)]
        flat.append({**head, "tool_calls": calls})
        flat += [result(found, id) for found, id in zip(results, ids, strict=True) if found is not MISSING]
    return run_of_trajectory(trajectory(*flat), spec.envelope)


def judged(spec: Spec, *messages: Any) -> RunVerdict:
    """The verdict on such messages."""
    return judge_run(run_of(spec, *messages), spec)


def swept(spec: Spec, *messages: Any) -> Swept:
    """What the sweep found in such messages."""
    return judge_in_full(run_of(spec, *messages), spec)[1].swept


def facts_of(spec: Spec, *messages: Any) -> FactTimeline:
    """The facts of such messages."""
    return swept(spec, *messages).facts


def standing(spec: Spec, *messages: Any, name: str = "found") -> str:
    """The standing of one milestone."""
    return judged(spec, *messages).by_name[name].standing
