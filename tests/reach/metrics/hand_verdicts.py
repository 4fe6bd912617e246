"""Verdicts written down by hand, as short words: ``rrtm-`` is reached, reached, touched, missed, n/a; ``?`` unscorable."""

from __future__ import annotations

from typing import Any

from prm.reach.judging.verdict import Diagnosis, MilestoneVerdict, Moment, RunVerdict, Standing
from prm.types import RunIdentity

STANDINGS: dict[str, Standing] = {"r": "reached", "t": "touched", "m": "missed", "-": "n/a", "?": "unscorable"}
CHAIN = {"M1": (), "M2": ("M1",), "M3": ("M1",), "M4": ("M2", "M3"), "M5": ("M4",)}


def verdict(word: str, scenario: str = "s", run: int = 0, **changes: Any) -> RunVerdict:
    """A verdict over the ticket desk's chain; milestone k is touched at call k − 1 and reached at call k."""
    names = list(CHAIN)[: len(word)]
    milestones = tuple(_milestone(name, place, word) for place, name in enumerate(names))
    open_ones = [m for m in milestones if m.standing in ("missed", "touched")]
    every = False if open_ones else None if "?" in word else True
    given = {
        "identity": RunIdentity("desk", scenario, run, generator="agent"),
        "scenario": scenario,
        "template": scenario.partition("-")[0],
        "run": run,
        "agent": "agent",
        "variant": "plain",
        "seed": None,
        "spec": "ticket",
        "spec_sha256": "0" * 64,
        "calls": len(word),
        "end": "final",
        "milestones": milestones,
        "all_reached": every,
        "covered": every,
        "final_success": every,
        "legal_success": every,
    }
    if "agent" in changes or "variant" in changes:
        generator = f"{changes.get('agent', 'agent')}/{changes.get('variant', 'plain')}"
        given["identity"] = RunIdentity("desk", scenario, run, generator=generator)
    return RunVerdict(**{**given, **changes})


def _milestone(name: str, place: int, word: str) -> MilestoneVerdict:
    standing = STANDINGS[word[place]]
    touched = Moment(2 * place, place) if standing in ("touched", "reached") else None
    reached = Moment(2 * place + 2, place) if standing == "reached" else None
    reason = {"missed": "never_called", "touched": "called_wrong"}.get(standing)
    after = tuple(before for before in CHAIN[name] if list(CHAIN).index(before) < len(word))
    states = {word[list(CHAIN).index(before)] for before in after}
    ready = False if states & {"m", "t"} else None if "?" in states else True
    return MilestoneVerdict(
        name, standing, touched=touched, reached=reached, after=after, after_reached=ready, reason=reason
    )


def fabricated(subject: str = "check_inventory.sku", batch: int = 0) -> Diagnosis:
    return Diagnosis("fabrication", batch, "call_1", subject)
