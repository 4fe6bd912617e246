from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.reach.desk.generate import generate_runs
from prm.reach.judging.judge import all_reached, judge_run
from prm.reach.judging.verdict import MilestoneVerdict, RunVerdict, Standing
from prm.reach.judging.verdict_json import dump_verdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import load_spec
from tests.reach.judging.hand_runs import judged, ok, shop, step
from tests.reach.log.messages import call, result, says, trajectory, user
from tests.reach.work import growth

TICKET = load_spec("ticket")
WRITES = shop(
    milestones={
        "found": {"source": {"tool": "find"}, "used": {"flow": {"from": "result.item", "to": "order.item"}}},
        "asked": {"source": {"tool": "ask"}, "used": "final", "optional": True},
    },
    never={"chair": {"acts": {"tool": "order", "where": {"args.item": "chair-9"}}}},
)
FIND = step(("find", {"name": "x"}, ok({"item": "lamp-4"})))


def order(item: str = "lamp-4") -> list[Any]:
    return step(("order", {"item": item}, ok({})))


def ticket_verdict(*messages: Any, **extra: Any) -> RunVerdict:
    return judge_run(run_of_trajectory(trajectory(*messages, **extra), TICKET.envelope), TICKET)


def test_optional_milestones_are_not_asked_for() -> None:
    verdict = judged(WRITES, user(), FIND, order())
    assert (verdict.all_reached, verdict.covered) == (True, True)


def test_a_minefield_spoils_coverage_and_not_the_milestones() -> None:
    verdict = judged(WRITES, user(), FIND, order(), order("chair-9"))
    assert (verdict.all_reached, verdict.covered) == (True, False)


@pytest.mark.parametrize(
    ("standings", "reached"),
    [
        (("reached", "n/a"), True),
        (("reached", "touched"), False),
        (("unscorable", "missed"), False),
        (("unscorable", "reached"), None),
        ((), True),
    ],
)
def test_all_reached_is_unknown_only_where_nothing_is_open(
    standings: tuple[Standing, ...], reached: bool | None
) -> None:
    assert all_reached(MilestoneVerdict(str(n), standing) for n, standing in enumerate(standings)) is reached


def test_the_right_final_state_is_the_environments_word() -> None:
    verdict = ticket_verdict(user("T41"), says("Done."), final_label=1)
    assert (verdict.final_success, verdict.legal_success, verdict.covered) == (True, True, False)
    assert ticket_verdict(user("T41"), says("Done.")).final_success is None


def test_the_habit_is_carried_along_and_changes_nothing() -> None:
    messages = (user("T41"), says("", call("read_ticket", {"ticket_id": "T41"}, "c")), result("{}", "c"))
    plain = ticket_verdict(*messages)
    known = ticket_verdict(*messages, reach={"habit": "loop"})
    assert known.habit == "loop"
    assert (known.milestones, known.diagnoses) == (plain.milestones, plain.diagnoses)


def test_leaves_are_counted() -> None:
    verdict = judged(WRITES, user("x-ray-7"), step(("find", {"name": "x-ray-7"}, ok({}))), order("lamp-4"))
    assert (verdict.ref_leaves, verdict.fabricated_leaves, verdict.unknown_leaves) == (2, 1, 0)


# Hostile input


def envelope(record: Any, **marks: Any) -> str:
    return json.dumps({"status": "ok", "data_quality": "complete", "is_truncated": False, "record": record, **marks})


def random_messages(calls: int, seed: int, *, answered: bool = True) -> list[dict[str, Any]]:
    """A long and senseless run on the ticket desk."""
    rng = random.Random(seed)
    tools = {
        "read_ticket": lambda: {"ticket_id": f"T{rng.randint(10, 9999)}"},
        "lookup_customer": lambda: {"customer_id": f"C{rng.randint(10, 9999)}"},
        "check_inventory": lambda: {"sku": f"lamp-{rng.randint(1, 999)}"},
        "update_ticket": lambda: {"ticket_id": "T41", "status": "resolved", "action_id": "A1", "note": "x"},
        "ask_user": lambda: {"question": "Which SKU?"},
    }
    messages = [user("Handle T41, set it resolved.")]
    for number in range(calls):
        tool = rng.choice(list(tools))
        messages.append(says(f"step {number}", call(tool, tools[tool](), f"c{number}")))
        if answered:
            record = {"ticket_id": "T41", "customer_id": f"C{number}", "sku": f"lamp-{number}", "stock": 0}
            messages.append(result(envelope({**record, "answer": f"It is lamp-{number}."}), f"c{number}"))
    return messages


def test_five_thousand_calls_are_judged_in_near_linear_time() -> None:
    def judging(calls: int) -> Callable[[], object]:
        messages = random_messages(calls, 1)
        return lambda: ticket_verdict(*messages)

    assert ticket_verdict(*random_messages(5000, 1)).calls == 5000
    assert growth(judging, 150) < 3


def test_five_thousand_calls_without_a_result_accuse_nobody() -> None:
    verdict = ticket_verdict(*random_messages(5000, 2, answered=False))
    assert verdict.covered is not True
    # The first call's own argument can be told; from then on nobody knows what the agent had seen.
    later = [found.name for found in verdict.diagnoses if found.batch > 1]
    assert not {"fabrication", "loop", "minefield", "ungrounded_batch"} & set(later)


def test_the_same_call_over_and_over_is_judged_once_and_for_all() -> None:
    read = envelope({"ticket_id": "T41", "customer_id": "C70", "sku": "lamp-4", "qty": 2})
    messages = [user("Handle T41.")]
    for number in range(2000):
        messages += [says("", call("read_ticket", {"ticket_id": "T41"}, f"c{number}")), result(read, f"c{number}")]
    assert ticket_verdict(*messages).by_name["M1"].standing == "touched"


def nested(depth: int) -> Any:
    value: Any = "Z9"
    for _ in range(depth):
        value = {"k": [value]}
    return value


ODD_ARGUMENTS = [
    None,
    "",
    "null",
    "[]",
    "{",
    '{"ticket_id": "T4',
    '{"ticket_id": null}',
    json.dumps(nested(50)),
    "Ｔ４１",
]


@pytest.mark.parametrize("arguments", ODD_ARGUMENTS)
def test_odd_arguments_get_a_verdict(arguments: str | None) -> None:
    verdict = ticket_verdict(user("处理工单 T41"), says(None, call("read_ticket", arguments, "c")), result("{}", "c"))
    assert len(verdict.milestones) == 5


@pytest.mark.parametrize(
    "content", [None, "", "null", '{"status":"ok","record":{"ticket_id":"T41","cust', "[1,2]", "错误"]
)
def test_odd_results_get_a_verdict(content: str | None) -> None:
    read = says("", call("read_ticket", {"ticket_id": "T41"}, "c"))
    verdict = ticket_verdict(user("T41"), read, result(content, "c"), says("好"))
    assert verdict.by_name["M1"].standing in ("touched", "unscorable")


def test_full_width_digits_and_other_scripts_are_read() -> None:
    def act(number: int, tool: str, arguments: Any, record: Any) -> list[dict[str, Any]]:
        return [says("", call(tool, arguments, f"c{number}")), result(envelope(record), f"c{number}")]

    address = "北京市海淀区 12 号"
    draft = {"ticket_id": "T41", "action": "ship", "sku": "灯-4", "qty": "２", "address": address, "reason": nested(50)}
    verdict = ticket_verdict(
        user("处理工单 T41，设为 已解决。"),
        *act(
            0,
            "read_ticket",
            {"ticket_id": "Ｔ４１"},
            {"ticket_id": "T41", "customer_id": "C７０", "sku": "灯-4", "qty": 2},
        ),
        *act(1, "lookup_customer", {"customer_id": "C70"}, {"address": address}),
        *act(2, "check_inventory", {"sku": "灯-４"}, {"sku": "灯-4", "stock": "３１"}),
        *act(3, "generate_action", draft, {"action_id": "A58"}),
        *act(4, "update_ticket", {"ticket_id": "T41", "status": "已解决", "action_id": "A58", "note": ""}, {}),
        says("好了"),
    )
    assert [milestone.standing for milestone in verdict.milestones] == ["reached"] * 5


def test_repeated_ids_and_results_before_their_calls_are_judged() -> None:
    read, stock = call("read_ticket", {"ticket_id": "T41"}, "c"), call("check_inventory", {"sku": "lamp-4"}, "c")
    record = envelope({"ticket_id": "T41", "customer_id": "C70", "sku": "lamp-4", "qty": 1})
    verdict = ticket_verdict(
        user("T41"),
        says("", read),
        result(record, "c"),
        result(envelope({}), "late"),
        says("", stock),
        result("{}", "c"),
    )
    assert verdict.by_name["M1"].standing == "reached"
    assert verdict.notes


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def wild_messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    messages = [user(draw(st.text(max_size=30)))]
    tools = st.sampled_from([*TICKET.tools, "other"])
    for number in range(draw(st.integers(0, 6))):
        arguments = draw(
            st.dictionaries(st.sampled_from(["ticket_id", "sku", "x"]), json_values, max_size=3) | st.text(max_size=5)
        )
        messages.append(says(draw(st.text(max_size=10)), call(draw(tools), arguments, f"c{number % 3}")))
        if draw(st.booleans()):
            messages.append(result(draw(json_values | st.text(max_size=8)), f"c{draw(st.integers(0, 3))}"))
    return messages


@given(wild_messages())
def test_whatever_the_log_holds_there_is_a_verdict_that_can_be_written(messages: list[dict[str, Any]]) -> None:
    verdict = ticket_verdict(*messages)
    json.dumps(dump_verdict(verdict), allow_nan=False)
    for milestone in verdict.milestones:
        assert (milestone.reached is not None) == (milestone.standing == "reached")
        assert (milestone.reason is not None) == (milestone.standing in ("missed", "touched"))
        assert milestone.standing != "missed" or milestone.touched is None


@given(st.integers(0, 10_000), st.data())
def test_a_result_taken_out_of_the_log_is_no_accusation(seed: int, data: st.DataObject) -> None:
    (run,) = generate_runs(1, seed)
    kept = [m for m in run.messages if m["role"] != "tool" or data.draw(st.booleans())]
    before, after = ticket_verdict(*run.messages), ticket_verdict(*kept)
    for old, new in zip(before.milestones, after.milestones, strict=True):
        if old.standing in ("reached", "n/a"):
            assert new.standing in ("reached", "n/a", "unscorable")
    for name, is_hit in before.minefields.items():
        assert is_hit or not after.minefields[name]
