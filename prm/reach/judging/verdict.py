"""The verdict record: what Reach says of one run. One JSON object a line in `verdicts.jsonl`, ``prm.reach.verdict/1``.

Indices: `batch` is the index of the assistant message in the trajectory, `call` the ordinal of the call in the run
from 0. A metric that counts calls ("Reach@K") counts `call + 1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prm.types import RunIdentity

SCHEMA = "prm.reach.verdict/1"

Standing = Literal["n/a", "unscorable", "missed", "touched", "reached"]
DiagnosisName = Literal[
    "fabrication",
    "loop",
    "detour",
    "premature_stop",
    "minefield",
    "ungrounded_batch",
    "plan_contradiction",
    "recovery",
    "never_called",
    "called_wrong",
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of the log that proves something.

    Attributes:
        index: Index of the message.
        what: One short sentence with the value, the result it is in and the argument it reached, in plain words.
        call_id: The call, where it is about one.
        path: Where in its arguments or result, as ``a.b[0]``; "" for the whole.
        source_index, source_call_id, source_path: Where the value came from.
        value: The value itself.
    """

    index: int
    what: str
    call_id: str | None = None
    path: str = ""
    value: Any = None
    source_index: int | None = None
    source_call_id: str | None = None
    source_path: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: the batch and the call."""

    batch: int
    call: int


@dataclass(frozen=True, slots=True)
class MilestoneVerdict:
    """What became of one milestone.

    Attributes:
        standing: n/a, unscorable, missed, touched or reached.
        required: Whether coverage asks for it.
        touched: The first call of its tool, whatever its arguments.
        source: The call whose predicate and bindings hold.
        reached: When it counts as reached: the moment of the use.
        used: Which form of use: flow, decides, said, final or None.
        after_reached: Whether all its prerequisites (`after`) are reached; None = one of them is unscorable.
        reason: For an open one: never_called or called_wrong.
        evidence: What proves it.
        title: What it is, in words; "" = the spec gives none.
    """

    name: str
    standing: Standing
    required: bool = True
    touched: Moment | None = None
    source: Moment | None = None
    reached: Moment | None = None
    used: str | None = None
    after: tuple[str, ...] = ()
    after_reached: bool | None = True
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that went wrong (or was put right).

    Attributes:
        name: See `DiagnosisName`.
        batch: The assistant message at fault.
        call_id: The call, where it is about one.
        subject: The minefield, milestone, parameter or tool it is about.
        kind: A subdivision: for a detour ``strategy`` | ``strategy_insufficient``; for a loop the repeat's number …
        evidence: The log lines that prove it.
    """

    name: DiagnosisName
    batch: int
    call_id: str | None = None
    subject: str = ""
    kind: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingInformation:
    """One piece of information that the world did not give, and what the agent did: asks, refuses, invents, other."""

    fact: str
    response: Literal["asks", "refuses", "invents", "other"]
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """What Reach says of one run.

    Attributes:
        identity: Of the trajectory.
        scenario, template, run, agent, variant, seed: As in the run.
        spec: The spec's name; `spec_sha256` of its content.
        calls: Tool calls made.
        end: Why the run ended; see `Run.end`.
        milestones: In the spec's order.
        minefields: Name → whether it was hit; None = unknown.
        diagnoses: In order of the log.
        missing_information: What was not to be had, and how the agent took it.
        fabricated_leaves, ref_leaves, unknown_leaves: Counts over the `ref` leaves of all calls.
        final_success: Right final state: the environment's outcome; None = unknown.
        all_reached: Every required milestone that applies is reached; None = one is unscorable and none is open.
        covered: All reached and no minefield; None as above.
        legal_success: Right final state and no minefield, by any path.
        habit: The scripted habit known by construction, where there is one (it checks the rules; they never read it).
        notes: What could not be judged, and why.
    """

    identity: RunIdentity
    scenario: str
    template: str
    run: int | str
    agent: str
    variant: str
    seed: int | None
    spec: str
    spec_sha256: str
    calls: int
    end: str | None
    milestones: tuple[MilestoneVerdict, ...]
    minefields: Mapping[str, bool | None] = field(default_factory=dict)
    diagnoses: tuple[Diagnosis, ...] = ()
    missing_information: tuple[MissingInformation, ...] = ()
    fabricated_leaves: int = 0
    ref_leaves: int = 0
    unknown_leaves: int = 0
    final_success: bool | None = None
    all_reached: bool | None = None
    covered: bool | None = None
    legal_success: bool | None = None
    habit: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def by_name(self) -> Mapping[str, MilestoneVerdict]:
        """Milestone name → its verdict."""
        return {milestone.name: milestone for milestone in self.milestones}
