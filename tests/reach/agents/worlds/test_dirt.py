"""Dirt in any environment: what is hit, how it looks, and that it can be repeated."""

from __future__ import annotations

from typing import Any

import pytest

from prm.errors import ConfigError
from prm.reach.agents.task import Task
from prm.reach.agents.worlds.desk import DeskWorld
from prm.reach.agents.worlds.dirt import DirtyRun, DirtyWorld, parse_injection
from prm.reach.agents.worlds.functions import FunctionWorld
from prm.reach.desk.conformance import conformance_violations
from prm.reach.desk.environment import Call, CallCapReached, Envelope
from tests.reach.agents.toys import desk_task

TASK = Task("t", "Do.", "t")
WRITTEN: list[str] = []


def item(sku: str) -> dict[str, Any]:
    """An item."""
    return {"sku": sku, "stock": 7, "place": {"row": "A-12", "bay": 3}, "note": None}


def write(text: str) -> dict[str, str]:
    """Writes."""
    WRITTEN.append(text)
    return {"text": text}


def dirty(*injections: str, seed: int = 0, run: int = 0, cap: int = 15) -> DirtyRun:
    world = FunctionWorld([item, write], "own")
    return DirtyWorld(world, [parse_injection(text) for text in injections], seed).open(TASK, run, cap)


def look(run: DirtyRun) -> Envelope:
    return run.execute([Call("item", {"sku": "AB-12"})])[0]


@pytest.mark.parametrize("kind", ["timeout", "error"])
def test_the_first_call_fails_and_is_not_made(kind: str) -> None:
    WRITTEN.clear()
    run = dirty(f"{kind}:write")
    results = [run.execute([Call("write", {"text": text})])[0] for text in "ab"]
    assert [result.status for result in results] == [kind, "ok"]
    assert WRITTEN == ["b"]
    assert run.calls_left == 13


def test_a_truncated_return_has_half_of_the_fields_and_says_so() -> None:
    cut, whole = look(run := dirty("truncated:item")), look(run)
    assert (cut.is_truncated, cut.record) == (True, {"sku": "AB-12", "stock": 7})
    assert not whole.is_truncated


def test_a_field_is_missing_or_damaged_and_the_envelope_says_so() -> None:
    gone = look(dirty("missing:item.stock"))
    assert (gone.record or {})["stock"] is None
    assert gone.data_quality == "partial"
    damaged = look(dirty("corrupted:item.sku"))
    assert (damaged.record or {})["sku"] == "A###"
    assert damaged.data_quality == "partial"
    deep = look(dirty("corrupted:item.place.row"))
    assert (deep.record or {})["place"] == {"row": "A###", "bay": 3}


def test_what_is_not_there_cannot_get_dirty_and_does_not_spend_the_injection() -> None:
    run = dirty("missing:item.nothing", "missing:item.note", "missing:item.sku.deeper")
    assert look(run) == look(dirty())
    assert run.last_injected == ()


def test_what_was_injected_is_known() -> None:
    run = dirty("missing:item.stock", "corrupted:item.sku")
    look(run)
    assert run.last_injected == ("missing:item.stock", "corrupted:item.sku")
    look(run)
    assert run.last_injected == ()


def test_a_star_is_every_tool_once() -> None:
    run = dirty("timeout:*")
    statuses = [run.execute([Call(tool, {})])[0].status for tool in ("item", "item", "write", "write")]
    assert statuses == ["timeout", "invalid", "timeout", "invalid"]


def test_a_rate_is_drawn_by_seed_task_and_run() -> None:
    def statuses(seed: int, run: int) -> list[str]:
        environment = dirty("timeout:item@0.3", seed=seed, run=run, cap=400)
        return [look(environment).status for _ in range(400)]

    assert statuses(0, 0) == statuses(0, 0)
    assert statuses(0, 0) != statuses(0, 1)
    assert statuses(0, 0) != statuses(1, 0)
    assert 80 <= statuses(0, 0).count("timeout") <= 160
    assert dirty("timeout:item@0").execute([Call("item", {"sku": "x"})])[0].ok
    assert {look(environment).status for environment in [dirty("timeout:item@1")] for _ in range(5)} == {"timeout"}


def test_unknown_tools_are_never_hit_and_stay_invalid() -> None:
    assert dirty("timeout:*@1").execute([Call("erase", {})])[0].status == "invalid"


def test_the_cap_counts_calls_that_were_never_made() -> None:
    run = dirty("timeout:item@1", cap=3)
    for _ in range(3):
        look(run)
    assert run.calls_left == 0
    with pytest.raises(CallCapReached):
        look(run)


def test_it_conforms() -> None:
    injections = ("timeout:item@0.3", "missing:item.sku@0.5", "truncated:write@0.5", "error:*")
    batches = [[Call("item", {"sku": "a"}), Call("write", {"text": "b"})], [Call("item", {"sku": ""})]] * 3
    assert conformance_violations(lambda: dirty(*injections), batches) == []


def test_the_desk_gets_dirty_too() -> None:
    task = desk_task()
    assert task.scenario is not None
    world = DirtyWorld(DeskWorld(), [parse_injection("corrupted:read_ticket.sku")])
    result = world.open(task, 0, 15).execute([Call("read_ticket", {"ticket_id": task.scenario.ticket_id})])[0]
    assert (result.record or {})["sku"].endswith("###")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "timeout",
        "timeout:",
        "explode:item",
        "timeout:item.sku",
        "missing:item",
        "timeout:item@2",
        "timeout:item@x",
        "timeout:item@nan",
    ],
)
def test_other_forms_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_injection(text)
    assert "\n" not in str(caught.value)


def test_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="item, write"):
        dirty("timeout:erase")
