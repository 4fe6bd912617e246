"""Habits and templates held back from the default mix: what they break, and that the default mix knows nothing of them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.records import dump_trajectory, parse_trajectory, read_trajectories
from prm.errors import ConfigError
from prm.reach.desk.conformance import conformance_violations
from prm.reach.desk.environment import Call, TicketDesk
from prm.reach.desk.generate import (
    AGENTS,
    LATE_AGENTS,
    LATE_TEMPLATES,
    TEMPLATES,
    generate_runs,
    run_habit,
)
from prm.reach.desk.habits import HABITS
from prm.reach.desk.late_habits import LATE_HABITS
from prm.reach.desk.scenarios import Scenario, build_scenario
from prm.reach.desk.variants import load_variant
from prm.types import Trajectory

PLAIN = load_variant("plain")
DEFAULT_DIGESTS = {
    (0, "plain"): "814f53016faeed26b94090ffecb235d422991687e996264467ac2acd9ae99173",
    (0, "mixed"): "f09831c9992126451db6cf42e8531f90b1ca1879c250a03a1d4f66dd8a99e9c2",
    (1, "plain"): "0b894b5b244ed5637a965fa3d7a5d8008528c050ed94108deee00ddd212cc847",
    (1, "mixed"): "aa46293ee0eab8089f105a7434fdd769994c86d5323b8ed594bf714c3de63e91",
}
"""Of the first 200 runs by seed and variant, taken before there was anything late."""


def one_run(habit: str | None, template: str, seed: int) -> Trajectory:
    return run_habit(habit, build_scenario(template, seed), PLAIN, 0)


def story(run: Trajectory) -> list[tuple[str, int | None, str]]:
    """(tools called, label, reason) of each step."""
    return [
        (
            "+".join(call["function"]["name"] for call in step.message.get("tool_calls", ())),
            run.step_labels[step.index],
            run.label_notes[str(step.index)],
        )
        for step in run.steps
    ]


def arguments_of(run: Trajectory, tool: str) -> list[dict[str, str]]:
    """The arguments of every call of `tool`."""
    calls = [call["function"] for step in run.steps for call in step.message.get("tool_calls", ())]
    return [json.loads(call["arguments"]) for call in calls if call["name"] == tool]


# Labelled by hand


def test_a_shipment_without_a_look_at_the_stock_is_wrong_from_the_draft_on() -> None:
    run = one_run("skip_check", "ship_or_refund", 1)
    assert story(run) == [
        ("read_ticket", 1, "useful"),
        ("lookup_customer", 1, "useful"),
        ("generate_action", -1, "unchecked_stock"),
        ("update_ticket", -1, "depends_on:unchecked_stock"),
        ("", -1, "depends_on:unchecked_stock"),
    ]
    assert run.final_label == -1


def test_a_state_of_its_own_choice_that_the_desk_takes_spoils_the_write_and_the_report() -> None:
    run = one_run("improvise_status", "gift", 1)
    assert story(run) == [
        ("read_ticket", 1, "useful"),
        ("check_inventory", 1, "useful"),
        ("lookup_customer", 1, "useful"),
        ("generate_action", 1, "useful"),
        ("update_ticket", -1, "improvised_status"),
        ("", -1, "depends_on:improvised_status"),
    ]
    assert "finished" in str(run.question)
    assert arguments_of(run, "update_ticket")[0]["status"] == "pending"
    assert run.final_label == -1


def test_a_state_of_its_own_choice_that_is_refused_may_be_put_right() -> None:
    run = one_run("improvise_status", "ship_simple", 2)
    assert story(run) == [
        ("read_ticket", 1, "useful"),
        ("read_ticket", 0, "no_progress_1"),
        ("lookup_customer+check_inventory", 1, "useful"),
        ("generate_action", 1, "useful"),
        ("update_ticket", -1, "improvised_status"),
        ("update_ticket", 1, "recovery"),
        ("", 1, "reported"),
    ]
    assert [given["status"] for given in arguments_of(run, "update_ticket")] == ["pending", "completed"]
    assert run.final_label == 1


def test_the_item_of_the_request_counts_and_not_that_of_the_ticket() -> None:
    careful = one_run(None, "corrected_item", 0)
    assert "the item is chair-5" in str(careful.question)
    assert [(label, note) for _, label, note in story(careful)] == [(1, "useful")] * 5 + [(1, "reported")]
    assert arguments_of(careful, "check_inventory") == [{"sku": "chair-5"}]
    assert arguments_of(careful, "generate_action")[0]["sku"] == "chair-5"
    assert careful.final_label == 1

    stale = one_run("wrong_sku", "corrected_item", 1)
    assert "whose item is now stamp-5" in str(stale.question)
    assert story(stale) == [
        ("read_ticket", 1, "useful"),
        ("lookup_customer", 1, "useful"),
        ("lookup_customer", 0, "no_progress_1"),
        ("check_inventory", -1, "wrong_sku"),
        ("generate_action", -1, "depends_on:wrong_sku"),
        ("update_ticket", -1, "depends_on:wrong_sku"),
        ("", -1, "depends_on:wrong_sku"),
    ]
    assert arguments_of(stale, "check_inventory") == [{"sku": "watch-2"}]
    assert stale.final_label == -1


# Every seed and template


@pytest.mark.parametrize("template", [*TEMPLATES, *LATE_TEMPLATES])
def test_the_stock_is_never_looked_at_where_the_check_can_be_skipped(template: str) -> None:
    for seed in range(15):
        scenario = build_scenario(template, seed)
        run = run_habit("skip_check", scenario, PLAIN, 0)
        assert arguments_of(run, "check_inventory") == []
        if LATE_HABITS["skip_check"].relevance(scenario):
            assert (run.final_label, run.step_labels[run.steps[-1].index]) == (-1, -1)
            assert [note for _, _, note in story(run)].count("unchecked_stock") == 1
            assert arguments_of(run, "generate_action")[0]["sku"] == scenario.true_sku


def test_the_check_cannot_be_skipped_where_there_is_nothing_to_ship() -> None:
    suits = {
        name: LATE_HABITS["skip_check"].relevance(build_scenario(name, 1)) for name in (*TEMPLATES, *LATE_TEMPLATES)
    }
    assert {name for name, weight in suits.items() if not weight} == {
        "missing_sku_unanswered",
        "empty_address_unanswered",
    }


def test_an_improvised_state_is_wrong_whenever_it_is_written_and_the_asked_one_puts_it_right() -> None:
    ends: Counter[tuple[int, int | None]] = Counter()
    for seed in range(60):
        scenario = build_scenario("ship_or_backorder", seed)
        run = run_habit("improvise_status", scenario, PLAIN, 0)
        written = [given["status"] for given in arguments_of(run, "update_ticket")]
        labels = [label for tools, label, _ in story(run) if tools == "update_ticket"]
        assert labels == [1 if status == scenario.wanted_status else -1 for status in written]
        assert (run.final_label == 1) == (written[-1] == scenario.wanted_status)
        assert written[-1] in scenario.legal_statuses
        ends[(len(written), run.final_label)] += 1
    assert set(ends) == {(1, -1), (2, 1), (2, -1)}
    assert min(ends.values()) >= 5


def test_a_time_out_does_not_stop_the_improviser() -> None:
    assert LATE_HABITS["improvise_status"].relevance(build_scenario("timeout_update", 0)) == 0
    assert {one_run("improvise_status", "timeout_update", seed).final_label for seed in range(20)} <= {1, -1}


@pytest.mark.parametrize("template", LATE_TEMPLATES)
def test_the_careful_agent_succeeds_on_late_templates(template: str) -> None:
    for seed in range(40):
        run = one_run(None, template, seed)
        assert -1 not in run.step_labels.values()
        assert run.final_label == 1


@pytest.mark.parametrize("template", LATE_TEMPLATES)
def test_the_desk_conforms_in_late_templates(template: str) -> None:
    scenario = build_scenario(template, 3)
    calls = [Call("read_ticket", {"ticket_id": scenario.ticket_id}), Call("ask_user", {"question": "Which SKU is it?"})]
    assert conformance_violations(lambda: TicketDesk(scenario, 1), [calls]) == []
    answer = TicketDesk(scenario).execute(calls)[1].record or {}
    assert scenario.true_sku in answer["answer"]


def test_an_item_is_corrected_to_one_in_stock_and_the_ticket_s_own_exists_too() -> None:
    worlds: list[Scenario] = [build_scenario("corrected_item", seed) for seed in range(30)]
    for world in worlds:
        own = world.tickets[world.ticket_id]["sku"]
        assert world.corrections == {"sku": world.true_sku}
        assert own != world.true_sku
        assert world.stock[world.true_sku] > 0
        assert world.true_sku in world.request
        assert own not in world.request
    assert {world.stock[world.tickets[world.ticket_id]["sku"]] > 0 for world in worlds} == {True, False}


def test_every_agent_runs_on_late_templates_with_grounded_good_steps() -> None:
    runs = list(generate_runs(240, 2, agents=(*AGENTS, *LATE_AGENTS), templates=LATE_TEMPLATES, repeats=6))
    assert {run.identity.generator for run in runs} == {*AGENTS, *LATE_AGENTS}
    for run in runs:
        assert parse_trajectory(json.loads(json.dumps(dump_trajectory(run))), "run") == run
        for step in run.steps:
            if step.label != -1:
                earlier = " ".join(str(m["content"]) for m in run.messages[: step.index] if m["role"] != "assistant")
                calls = [json.loads(c["function"]["arguments"]) for c in step.message.get("tool_calls", ())]
                used = [call[name] for call in calls for name in ("sku", "address", "action_id") if call.get(name)]
                assert all(value in earlier for value in used), run.key


# The default mix


@pytest.mark.parametrize(("seed", "variant"), DEFAULT_DIGESTS)
def test_the_default_mix_is_what_it_was_before_there_was_anything_late(seed: int, variant: str) -> None:
    digest = hashlib.sha256()
    for run in generate_runs(200, seed, variant=variant):
        digest.update(json.dumps(dump_trajectory(run), sort_keys=True, ensure_ascii=False).encode() + b"\n")
    assert digest.hexdigest() == DEFAULT_DIGESTS[(seed, variant)]


def test_nothing_late_is_in_the_default_lists() -> None:
    assert set(LATE_AGENTS) == {"skipper", "improviser"}
    assert set(LATE_TEMPLATES) == {"corrected_item"}
    assert not set(LATE_AGENTS) & set(AGENTS)
    assert not set(LATE_TEMPLATES) & set(TEMPLATES)
    assert not set(LATE_HABITS) & set(HABITS)


def test_late_names_can_be_mixed_with_others() -> None:
    names = ("skipper", "careful")
    runs = list(generate_runs(40, 4, agents=names, templates=("gift", "corrected_item"), repeats=2))
    assert {run.identity.generator for run in runs} == set(names)
    assert {run.extra["template"] for run in runs} == {"gift", "corrected_item"}
    with pytest.raises(ConfigError, match="skipper"):
        generate_runs(1, agents=["nobody"])


def test_the_verb_takes_late_names(tmp_path: Path) -> None:
    out = tmp_path / "late.jsonl"
    names = ["--agents", "skipper,improviser,looper", "--templates", "corrected_item,gift"]
    result = CliRunner().invoke(app, ["reach", "generate", "--runs", "24", "--out", str(out), *names])
    assert result.exit_code == 0, result.output
    habits = {run.extra["reach"]["habit"] for run in read_trajectories(out)}
    assert {"skip_check", "improvise_status"} <= habits
