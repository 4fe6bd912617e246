"""What labelling a run by rules gives: a label a step with the rule that gave it, and what it all rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from prm.reach.judging.verdict import Evidence, RunVerdict
from prm.reach.log.run import Run
from prm.types import StepLabel, Trajectory

RULES_VERSION = "2"
"""Of the rule set; any change of what a rule says needs a new one."""


@dataclass(frozen=True, slots=True)
class RuleLabel:
    """The label of one step.

    Attributes:
        index: Index of the assistant message.
        label: −1, 0, +1, or None where no rule speaks (masked).
        rule: Id of the first rule that fired; `unknown` where none did.
        why: One sentence.
        evidence: The lines of the log that prove it.
    """

    index: int
    label: StepLabel | None
    rule: str
    why: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Basis:
    """What labels rest on.

    Attributes:
        spec: Name of the spec, `spec_sha256` of its content.
        rules_version: Of the rule set.
        order: Ids of the rules in the order in which they were asked.
        order_from: ``default`` or ``spec``, where the spec sets an order of its own.
    """

    spec: str
    spec_sha256: str
    rules_version: str
    order: tuple[str, ...]
    order_from: str = "default"

    @property
    def short(self) -> str:
        """In one word, beside every label."""
        return f"{self.spec}@{self.spec_sha256[:12]} rules/{self.rules_version} order/{self.order_from}"


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """The labels of one run.

    Attributes:
        steps: One for each assistant message, in order.
        outcome: +1 covered, −1 a required milestone open or a minefield hit, None = unscorable.
        basis: What they rest on.
    """

    steps: tuple[RuleLabel, ...]
    outcome: StepLabel | None
    basis: Basis


def labelled_trajectory(run: Run, labelled: LabelledRun, verdict: RunVerdict) -> Trajectory:
    """The run's trajectory with rule labels in place of whatever labels it had; soft labels are left out.

    `label_notes` holds the rule, its reason, evidence and basis by message index. `reach` gains ``labels`` (the
    basis in full), ``milestones`` (name → standing) and ``outcome``: the world's own, which `final_label` no longer
    is.
    """
    trajectory = run.trajectory
    reach = trajectory.extra.get("reach")
    about = dict(reach) if isinstance(reach, Mapping) else {}
    return replace(
        trajectory,
        step_labels={step.index: step.label for step in labelled.steps},
        final_label=labelled.outcome,
        step_label_probs={},
        protocol="error_propagation",
        label_source="rule",
        label_notes={str(step.index): _note(step, labelled.basis) for step in labelled.steps},
        extra={
            **trajectory.extra,
            "reach": {
                **about,
                "outcome": run.outcome,
                "labels": _dump_basis(labelled.basis),
                "milestones": {milestone.name: milestone.standing for milestone in verdict.milestones},
            },
        },
    )


def _note(step: RuleLabel, basis: Basis) -> dict[str, Any]:
    note: dict[str, Any] = {"rule": step.rule, "why": step.why, "basis": basis.short}
    if step.evidence:
        note["evidence"] = [_dump_evidence(evidence) for evidence in step.evidence]
    return note


def _dump_evidence(evidence: Evidence) -> dict[str, Any]:
    fields = {
        "index": evidence.index,
        "what": evidence.what,
        "call_id": evidence.call_id,
        "path": evidence.path or None,
        "value": evidence.value,
        "source_index": evidence.source_index,
        "source_call_id": evidence.source_call_id,
        "source_path": evidence.source_path or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _dump_basis(basis: Basis) -> dict[str, Any]:
    return {
        "spec": basis.spec,
        "spec_sha256": basis.spec_sha256,
        "rules_version": basis.rules_version,
        "order": list(basis.order),
        "order_from": basis.order_from,
    }


def rule_of(trajectory: Trajectory, index: int) -> str:
    """The rule that labelled a step of a trajectory read back; "" where its notes do not say."""
    notes = trajectory.label_notes
    note = notes.get(str(index)) if isinstance(notes, Mapping) else None
    rule = note.get("rule") if isinstance(note, Mapping) else None
    return rule if isinstance(rule, str) else ""


def milestones_of(trajectory: Trajectory) -> Mapping[str, str]:
    """Milestone → standing of a labelled trajectory read back; empty where it holds none."""
    reach = trajectory.extra.get("reach")
    standings = reach.get("milestones") if isinstance(reach, Mapping) else None
    if not isinstance(standings, Mapping):
        return {}
    return cast("Mapping[str, str]", {str(name): str(standing) for name, standing in standings.items()})
