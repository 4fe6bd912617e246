"""Label protocols: naming them, refusing a mix, and hiding what follows the first error.

- ``error_propagation``: as AgentProcessBench annotates; an error makes the steps that build on it wrong too.
- ``independent``: each step is judged alone.
- ``first_error_only``: labels end at the first −1 (as in ProcessBench, arXiv 2412.06559); what follows is
  unknown.

Labels are never converted from one into another. Hiding is no conversion: up to the first −1 both others
agree, so what is left is a first-error annotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast, get_args

from prm.errors import ConfigError, ProtocolError
from prm.types import Protocol, StepLabel, Trajectory


def first_error(labels: Iterable[tuple[int, StepLabel | None]]) -> int | None:
    """The lowest message index with label −1, None where there is none."""
    return min((index for index, label in labels if label == -1), default=None)


def mask_after_first_error(trajectory: Trajectory) -> Trajectory:
    """The trajectory with every label after the first −1 unknown, and protocol ``first_error_only``.

    Soft labels after it are removed too. A trajectory without −1 keeps its labels.
    """
    error = first_error(trajectory.step_labels.items())
    if error is None:
        return replace(trajectory, protocol="first_error_only")
    return replace(
        trajectory,
        step_labels={i: (label if i <= error else None) for i, label in trajectory.step_labels.items()},
        step_label_probs={i: probs for i, probs in trajectory.step_label_probs.items() if i <= error},
        protocol="first_error_only",
    )


def has_labels(trajectory: Trajectory) -> bool:
    """Whether any step has a label, hard or soft; where none has, no protocol applies."""
    return bool(trajectory.step_label_probs) or any(label is not None for label in trajectory.step_labels.values())


def name_protocol(trajectory: Trajectory, protocol: Protocol) -> Trajectory:
    """The trajectory with `protocol` where it has labels and does not name one."""
    if trajectory.protocol is not None or not has_labels(trajectory):
        return trajectory
    return replace(trajectory, protocol=protocol)


class OneProtocol:
    """Refuses the first labelled trajectory whose protocol is another than the first one's."""

    def __init__(self) -> None:
        self.protocol: Protocol | None = None
        self._first: str | None = None

    def admit(self, trajectory: Trajectory, where: str) -> None:
        """Takes note of one trajectory.

        Raises:
            ProtocolError: The labels before it follow another protocol.
        """
        if not has_labels(trajectory):
            return
        if self._first is None:
            self._first, self.protocol = where, trajectory.protocol
        elif trajectory.protocol != self.protocol:
            named = trajectory.protocol or "none"
            raise ProtocolError.at(
                f"{where}: protocol",
                f"label protocols must not be mixed ({self._first} has {self.protocol or 'none'})",
                named,
                "build them apart, name unnamed ones with --label-protocol, or use --mask-after-first-error",
            )


def protocol_of(trajectories: Iterable[Trajectory]) -> Protocol | None:
    """The one protocol of all labelled trajectories; None where they name none.

    Raises:
        ProtocolError: They follow different ones.
    """
    one = OneProtocol()
    for trajectory in trajectories:
        one.admit(trajectory, " / ".join(trajectory.key))
    return one.protocol


def parse_protocol(name: str | None, where: str) -> Protocol | None:
    """The protocol of that name, None for None.

    Raises:
        ConfigError: There is no such protocol.
    """
    if name is None:
        return None
    if name not in get_args(Protocol):
        raise ConfigError.at(where, f"must be one of {', '.join(get_args(Protocol))}", name, "name one of them")
    return cast(Protocol, name)
