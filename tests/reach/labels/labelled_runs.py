"""Short ways to write runs that rules have labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prm.types import RunIdentity, StepLabel, Trajectory

Steps = Sequence[tuple[str, StepLabel | None]]
"""(rule, label) of each step."""


def labelled_run(query: int, steps: Steps, *, outcome: StepLabel | None = 1, **milestones: str) -> Trajectory:
    """A run of message 0 from the user and one assistant message for each step, from message 1 on."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"request {query}"}]
    messages += [{"role": "assistant", "content": f"step {k} of {query}"} for k in range(len(steps))]
    return Trajectory(
        identity=RunIdentity("desk", query, 0, dataset="desk", generator="looper"),
        messages=tuple(messages),
        step_labels={k + 1: label for k, (_, label) in enumerate(steps)},
        final_label=outcome,
        protocol="error_propagation",
        label_source="rule",
        label_notes={str(k + 1): {"rule": rule, "why": "w", "basis": "b"} for k, (rule, _) in enumerate(steps)},
        extra={"reach": {"habit": "loop", "milestones": milestones}},
    )
