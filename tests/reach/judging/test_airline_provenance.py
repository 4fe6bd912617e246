"""Provenance on real runs: 200 airline runs of one agent (tau-bench), by the shipped spec and by classes alone."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prm.data.readers.registry import iterate_all
from prm.reach.judging.judge import judge_run
from prm.reach.judging.provenance import trace
from prm.reach.judging.provenance_records import Leaf
from prm.reach.judging.provenance_records import Path as LeafPath
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.run import Run
from prm.reach.spec.load import parse_spec, shipped_spec
from prm.reach.spec.model import Spec

SEED = 20
CLASSES = {
    "get_user_details": ("read", {"user_id": "ref"}),
    "get_reservation_details": ("read", {"reservation_id": "ref"}),
    "search_direct_flight": ("read", {"origin": "value", "destination": "value", "date": "value"}),
    "search_onestop_flight": ("read", {"origin": "value", "destination": "value", "date": "value"}),
    "calculate": ("pure", {"expression": "free"}),
    "think": ("pure", {"thought": "free"}),
    "transfer_to_human_agents": ("write", {"summary": "free"}),
    "send_certificate": ("write", {"user_id": "ref", "amount": "value"}),
    "cancel_reservation": ("write", {"reservation_id": "ref"}),
    "book_reservation": (
        "write",
        {
            "user_id": "ref",
            "origin": "value",
            "destination": "value",
            "flight_type": "enum",
            "cabin": "enum",
            "flights.flight_number": "ref",
            "flights.date": "value",
            "passengers": "value",
            "payment_methods.payment_id": "ref",
            "payment_methods.amount": "value",
            "total_baggages": "value",
            "nonfree_baggages": "value",
            "insurance": "flag",
        },
    ),
    "update_reservation_flights": (
        "write",
        {
            "reservation_id": "ref",
            "cabin": "enum",
            "flights.flight_number": "ref",
            "flights.date": "value",
            "payment_id": "ref",
        },
    ),
    "update_reservation_baggages": (
        "write",
        {"reservation_id": "ref", "total_baggages": "value", "nonfree_baggages": "value", "payment_id": "ref"},
    ),
    "update_reservation_passengers": ("write", {"reservation_id": "ref", "passengers": "value"}),
}


@pytest.fixture(scope="module")
def runs(shared_data: Path) -> list[Run]:
    source = shared_data / "tau_bench" / "gpt-4o-airline.json"
    if not source.is_file():
        pytest.skip("the airline runs are not here")
    return [run_of_trajectory(trajectory) for trajectory in iterate_all([str(source)], None)]


@pytest.fixture(scope="module", params=["shipped", "classes"])
def spec(request: pytest.FixtureRequest) -> Spec:
    if request.param == "shipped":
        return shipped_spec("airline")
    tools = {name: {"effect": effect, "parameters": classes} for name, (effect, classes) in CLASSES.items()}
    read = {"source": {"tool": "get_reservation_details"}, "used": "final"}
    content = {"schema": "prm.reach.spec/1", "name": "classes", "tools": tools, "milestones": {"read": read}}
    return parse_spec(content, "classes")


def test_honest_arguments_are_rarely_flagged(runs: list[Run], spec: Spec) -> None:
    """Flagged: unsupported leaves, of whatever class but free text. Over all leaves, and over those of class ref."""
    leaves = [leaf for run in runs for leaf in trace(run, spec).leaves]
    flagged = [leaf for leaf in leaves if leaf.origin == "unsupported" and leaf.kind != "free"]
    refs = [leaf for leaf in leaves if leaf.kind == "ref"]
    assert len(leaves) == 3_349
    assert len(flagged) / len(leaves) <= 0.02
    assert sum(leaf.fabricated is not False for leaf in refs) / len(refs) <= 0.005


def test_what_is_flagged_as_fabricated_was_never_said_or_returned(runs: list[Run], spec: Spec) -> None:
    found = Counter(str(leaf.value) for run in runs for leaf in trace(run, spec).leaves if leaf.fabricated)
    assert found == {"credit_card_5634230": 2, "credit_card_7334": 2}


def test_one_digit_forgeries_are_caught(runs: list[Run]) -> None:
    """Every `ref` leaf with a digit gets one digit changed, one batch at a time, and is traced on what came before."""
    rng = random.Random(SEED)
    planted = [forged for run in runs for forged in _forgeries(run, shipped_spec("airline"), rng)]
    caught = sum(leaf.fabricated is True for leaf in planted)
    assert len(planted) >= 1_000
    assert caught / len(planted) >= 0.98


def _forgeries(run: Run, spec: Spec, rng: random.Random) -> Iterator[Leaf]:
    """The leaves of the run as they are traced once one of their digits is another."""
    by_batch: defaultdict[int, dict[tuple[str, LeafPath], str]] = defaultdict(dict)
    for leaf in trace(run, spec).leaves:
        if leaf.kind == "ref" and leaf.fabricated is False and isinstance(leaf.value, str):
            digits = [at for at, character in enumerate(leaf.value) if character.isdigit()]
            if digits:
                by_batch[leaf.batch][leaf.call_id, leaf.path] = _forged(leaf.value, rng.choice(digits), rng)
    for batch, forged in by_batch.items():
        planted = trace(_planted(run, batch, forged), spec)
        yield from (leaf for leaf in planted.leaves if (leaf.call_id, leaf.path) in forged)


def _forged(value: str, at: int, rng: random.Random) -> str:
    other = rng.choice([digit for digit in "0123456789" if digit != value[at]])
    return value[:at] + other + value[at + 1 :]


def _planted(run: Run, batch: int, forged: dict[tuple[str, LeafPath], str]) -> Run:
    """The run up to a batch, with the forged values in its arguments."""
    events = [event for event in run.events if event.index <= batch]
    calls = []
    for call in events[-1].calls:
        arguments: Any = call.arguments
        for (call_id, path), value in forged.items():
            arguments = _put(arguments, path, value) if call_id == call.id else arguments
        calls.append(replace(call, arguments=arguments))
    events[-1] = replace(events[-1], calls=tuple(calls))
    return replace(run, events=tuple(events))


def _put(value: Any, path: LeafPath, leaf: str) -> Any:
    if not path:
        return leaf
    if isinstance(value, list):
        return [_put(item, path[1:], leaf) if number == path[0] else item for number, item in enumerate(value)]
    return {key: _put(item, path[1:], leaf) if key == path[0] else item for key, item in value.items()}


@pytest.mark.parametrize("trial", [1, 3])
def test_the_invented_card_of_task_20_is_found_and_so_is_its_recovery(runs: list[Run], trial: int) -> None:
    run = next(run for run in runs if run.scenario.endswith("/20") and run.run == trial)
    diagnoses = judge_run(run, shipped_spec("airline")).diagnoses
    (fabrication,) = [one for one in diagnoses if one.name == "fabrication"]
    (recovery,) = [one for one in diagnoses if one.name == "recovery"]
    assert fabrication.evidence[0].value == "credit_card_5634230"
    assert fabrication.batch < recovery.batch
    assert any("became 'gift_card_5634230'" in line.what for line in recovery.evidence)
    assert any("credit_card_5634230" in line.what for line in recovery.evidence)
