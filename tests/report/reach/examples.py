"""Runs with verdicts for tests of the reach page: a small ticket desk, drawn by seed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prm.reach.judging.verdict import (
    Diagnosis,
    Evidence,
    MilestoneVerdict,
    MissingInformation,
    Moment,
    RunVerdict,
    Standing,
)
from prm.reach.log.run import Event, Run, ToolCall, ToolResult
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.report import build_report
from prm.reach.metrics.report_values import Report
from prm.types import RunIdentity, Trajectory

CHAIN: dict[str, tuple[str, ...]] = {"M1": (), "M2": ("M1",), "M3": ("M1",), "M4": ("M2", "M3"), "M5": ("M4",)}
"""Milestone → what it comes after."""

TOOLS = {
    "M1": "read_ticket",
    "M2": "lookup_customer",
    "M3": "check_inventory",
    "M4": "generate_action",
    "M5": "update_ticket",
}
LETTERS: dict[str, Standing] = {"r": "reached", "t": "touched", "m": "missed", "-": "n/a", "?": "unscorable"}


def milestone(name: str, letter: str, call: int, after: tuple[str, ...] = (), **more: Any) -> MilestoneVerdict:
    """One milestone; `call` is its first call's ordinal, its message is 2 + 2 · call."""
    at = Moment(2 + 2 * call, call)
    then = Moment(4 + 2 * call, call + 1)
    standing = LETTERS[letter]
    given: dict[str, Any] = {
        "touched": at if letter in "rt" else None,
        "source": at if letter == "r" else None,
        "reached": then if letter == "r" else None,
        "used": "flow" if letter == "r" else None,
        "reason": {"t": "called_wrong", "m": "never_called"}.get(letter),
        "after": after,
    }
    return MilestoneVerdict(name, standing, **{**given, **more})


def verdict(letters: str, chain: dict[str, tuple[str, ...]] = CHAIN, **more: Any) -> RunVerdict:
    """A run whose milestones stand as `letters` says: r reached, t touched, m missed, - n/a, ? unscorable."""
    by_name = dict(zip(chain, letters, strict=True))
    stands = [
        milestone(name, letter, k, chain[name], after_reached=all(by_name[one] in "r-" for one in chain[name]))
        for k, (name, letter) in enumerate(by_name.items())
    ]
    applies = [letter for letter in letters if letter != "-"]
    reached = False if set(applies) & set("tm") else None if "?" in applies else True
    given: dict[str, Any] = {
        "identity": RunIdentity("desk", "s0", 0, generator="careful"),
        "scenario": "s0",
        "template": "t0",
        "run": 0,
        "agent": "careful",
        "variant": "plain",
        "seed": 0,
        "spec": "ticket_desk",
        "spec_sha256": "0" * 64,
        "calls": sum(letter in "rt" for letter in letters),
        "end": "final",
        "milestones": tuple(stands),
        "all_reached": reached,
        "covered": reached,
        "final_success": reached,
        "legal_success": reached,
    }
    return RunVerdict(**{**given, **more})


@dataclass(frozen=True)
class Agent:
    """How a drawn agent does: by variant the chance to reach each milestone, and what it does where it fails."""

    name: str
    chances: dict[str, dict[str, float]]
    fault: str


AGENTS = (
    Agent("gpt-large", {"plain": {"M3": 0.62}, "structured": {"M3": 0.86}}, "fabrication"),
    Agent("small-3b", {"plain": {"M2": 0.7, "M3": 0.35, "M5": 0.8}, "structured": {"M2": 0.8, "M3": 0.5}}, "loop"),
)

PAIR = AGENTS[:1]
"""One agent under two variants."""

ALONE = (Agent("small-3b", {"plain": {"M2": 0.7, "M3": 0.35}}, "fabrication"),)
"""One agent under one variant."""


def drawn(
    scenarios: int = 30, repeats: int = 3, seed: int = 0, agents: Sequence[Agent] = AGENTS
) -> tuple[list[RunVerdict], list[Run]]:
    """Every agent and variant on the same scenarios, `repeats` times each."""
    verdicts, runs = [], []
    for agent in agents:
        for variant, chances in agent.chances.items():
            for scenario in range(scenarios):
                for repeat in range(repeats):
                    rng = random.Random(f"{seed}/{agent.name}/{variant}/{scenario}/{repeat}")
                    one, run = _drawn(agent, variant, chances, scenario, repeat, rng)
                    verdicts.append(one)
                    runs.append(run)
    return verdicts, runs


def _letters(chances: dict[str, float], hard: float, rng: random.Random) -> str:
    letters = ""
    for name in CHAIN:
        if "m" in letters or ("t" in letters and rng.random() < 0.4):
            letters += "m"
        else:
            letters += "r" if rng.random() < chances.get(name, 0.96) * hard else rng.choice("ttm")
    return letters


def _drawn(
    agent: Agent, variant: str, chances: dict[str, float], scenario: int, repeat: int, rng: random.Random
) -> tuple[RunVerdict, Run]:
    name = f"desk/{scenario:04d}"
    hard = 1.0 - 0.25 * random.Random(scenario).random()
    letters = _letters(chances, hard, rng)
    identity = RunIdentity("desk", name, f"{agent.name}-{variant}-{repeat}", generator=agent.name)
    found = verdict(
        letters,
        identity=identity,
        scenario=name,
        template=f"template_{scenario % 7}",
        run=repeat,
        agent=agent.name,
        variant=variant,
        seed=scenario,
        diagnoses=_diagnoses(agent, letters, rng),
        missing_information=_missing(letters, rng),
        minefields={"ship_when_out_of_stock": False},
        end="final" if rng.random() < 0.95 else "cap",
        habit=None,
    )
    return found, run_of(found, letters)


def _missing(letters: str, rng: random.Random) -> tuple[MissingInformation, ...]:
    if rng.random() > 0.3:
        return ()
    response: Any = rng.choice(["asks", "refuses", "other"]) if letters[2] == "r" else "invents"
    return (MissingInformation("no_sku", response, 6),)


def _diagnoses(agent: Agent, letters: str, rng: random.Random) -> tuple[Diagnosis, ...]:
    found = []
    for k, (name, letter) in enumerate(zip(CHAIN, letters, strict=True)):
        batch = 2 + 2 * k
        if letter == "t" and rng.random() < 0.7:
            proof = Evidence(
                batch,
                f"{TOOLS[name]} was called with sku SKU-{rng.randrange(9999):04d}, which no result, user or system text holds",
                call_id=f"c{k}",
                path="sku",
                value="SKU-0001",
                source_index=3,
                source_call_id="c0",
                source_path="record.sku",
            )
            found.append(Diagnosis("fabrication", batch, f"c{k}", "sku", evidence=(proof,)))
        if letter == "t":
            proof = Evidence(batch, f"{TOOLS[name]} was called, and what it returned reached no later call", f"c{k}")
            found.append(Diagnosis("called_wrong", batch, f"c{k}", name, evidence=(proof,)))
        if letter == "m":
            proof = Evidence(10, f"{TOOLS[name]} was never called")
            found.append(Diagnosis("never_called", 10, None, name, evidence=(proof,)))
    if agent.fault == "loop" and rng.random() < 0.2:
        proof = Evidence(4, "the same call with the same result as in message 2, and nothing new between", "c1")
        found.append(Diagnosis("loop", 4, "c1", "lookup_customer", kind="2", evidence=(proof,)))
    return tuple(found)


def run_of(found: RunVerdict, letters: str, hostile: str = "") -> Run:
    """A run with a call for each milestone, and a last message."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You work a ticket desk with tools."},
        {"role": "user", "content": f"Please handle ticket T-{found.seed}. {hostile}"},
    ]
    events = [Event("system", 0, "You work a ticket desk with tools."), Event("user", 1, messages[1]["content"])]
    for k, (name, letter) in enumerate(zip(CHAIN, letters, strict=True)):
        if letter == "m":
            continue
        raw = json.dumps({"ticket_id": f"T-{found.seed}", "sku": f"SKU-{k:04d}", "note": hostile})
        call_id, index = f"c{k}", len(messages)
        call = ToolCall(k, index, call_id, TOOLS[name], json.loads(raw), raw)
        value = {
            "status": "ok",
            "data_quality": "complete",
            "record": {"sku": f"SKU-{k:04d}", "stock": k, "x": hostile},
        }
        said = f"I call {TOOLS[name]} now. {hostile}"
        messages.append(
            {
                "role": "assistant",
                "content": said,
                "tool_calls": [
                    {"id": call_id, "type": "function", "function": {"name": TOOLS[name], "arguments": raw}}
                ],
            }
        )
        messages.append({"role": "tool", "tool_call_id": call_id, "name": TOOLS[name], "content": json.dumps(value)})
        events.append(Event("assistant", index, said, (call,)))
        events.append(Event("result", index + 1, "", result=ToolResult(index + 1, call_id, True, value)))
    messages.append({"role": "assistant", "content": "Done."})
    events.append(Event("assistant", len(messages) - 1, "Done."))
    trajectory = Trajectory(found.identity, tuple(messages), {}, 1, question=messages[1]["content"])
    return Run(
        trajectory,
        found.scenario,
        found.template,
        found.run,
        found.agent,
        found.variant,
        found.seed,
        tuple(events),
        "final",
    )


SETTINGS = Settings(cap=15, bootstrap=50, seed=0)


def report_of(verdicts: Sequence[RunVerdict]) -> Report:
    """What is measured on the runs."""
    return build_report(verdicts, SETTINGS)


def repeated(*letters: str, **more: Any) -> list[RunVerdict]:
    """Runs of one agent on scenarios of their own; several of one scenario are parted by a blank: ``"rrrrr rrtrr"``."""
    return [
        verdict(
            one,
            scenario=f"s{scenario}",
            template=f"t{scenario}",
            run=run,
            identity=RunIdentity("desk", f"s{scenario}", f"{more.get('agent', 'careful')}-{run}"),
            **more,
        )
        for scenario, runs in enumerate(letters)
        for run, one in enumerate(runs.split())
    ]
