"""The values that everything else speaks about.

Shape legend used in every docstring of the package:
    B rows in a batch, T tokens in a row, S sites (steps, and the outcome) in a row, N trajectories of a group,
    G answers sampled per prompt, V vocabulary size. ``[B][S_i]`` is ragged: a list of B lists.

A *label* is truth, a *prediction* is a label given by a judge; both are −1 (harmful or wrong), 0 (neutral: no
progress, no harm) or +1 (effective), as AgentProcessBench defines them. Unknown is `None`, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

StepLabel: TypeAlias = Literal[-1, 0, 1]
LABELS: tuple[StepLabel, StepLabel, StepLabel] = (-1, 0, 1)
"""All labels, in the order of every 3-vector and 3×3 matrix of the package."""

Message: TypeAlias = Mapping[str, Any]
"""An OpenAI-style chat message, exactly as recorded."""

Probabilities: TypeAlias = tuple[float, float, float]
"""(p₋₁, p₀, p₊₁); sums to 1."""

Key: TypeAlias = tuple[str, ...]
"""What identifies a trajectory: ``("id", id)`` or ``(data_source, query_index, sample_index)`` as text."""

Protocol: TypeAlias = Literal["error_propagation", "independent", "first_error_only"]
"""How steps were labelled: errors carry on to dependent steps, each step alone, or only up to the first −1."""


@dataclass(frozen=True, slots=True)
class Step:
    """One assistant message of a trajectory.

    Attributes:
        index: Position among the messages (the key of `step_labels`).
        ordinal: Position among the steps, from 0.
        message: The message as recorded.
        label: Its truth, or None where unknown.
    """

    index: int
    ordinal: int
    message: Message
    label: StepLabel | None


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The fields that trajectories and predictions share to find each other."""

    data_source: str = ""
    query_index: int | str | None = None
    sample_index: int | str | None = None
    id: str | None = None
    dataset: str | None = None
    generator: str | None = None

    @property
    def key(self) -> Key:
        """The trajectory's key: its `id`, else (`data_source`, `query_index`, `sample_index`)."""
        if self.id is not None:
            return ("id", self.id)
        return (self.data_source, str(self.query_index), str(self.sample_index))

    @property
    def query(self) -> tuple[str, str]:
        """The key of its group: (`data_source`, `query_index`); a record without `query_index` is its own group."""
        if self.query_index is None:
            return ("id", str(self.id))
        return (self.data_source, str(self.query_index))

    @property
    def source(self) -> str:
        """The key under ``by_source``: `dataset`, else `data_source`."""
        return self.dataset if self.dataset is not None else self.data_source


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One agent run with its labels (DESIGN: the trajectory record).

    Attributes:
        identity: Who it is; see `RunIdentity`.
        messages: Chat messages as recorded; empty for a label-only record.
        step_labels: Message index → label (None = unknown); one entry for every assistant message.
        final_label: The outcome, None = unknown.
        step_label_probs: Optional soft labels, message index → (p₋₁, p₀, p₊₁).
        tools: Tool declarations as recorded.
        extra: Every other key of the record, kept so that writing loses nothing.
    """

    identity: RunIdentity
    messages: tuple[Message, ...]
    step_labels: Mapping[int, StepLabel | None]
    final_label: StepLabel | None = None
    step_label_probs: Mapping[int, Probabilities] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    question: str | None = None
    protocol: Protocol | None = None
    label_source: str | None = None
    label_notes: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The assistant messages in order."""
        indices = [i for i, message in enumerate(self.messages) if message.get("role") == "assistant"]
        return tuple(Step(i, k, self.messages[i], self.step_labels.get(i)) for k, i in enumerate(indices))

    @property
    def key(self) -> Key:
        """See `RunIdentity.key`."""
        return self.identity.key

    @property
    def query(self) -> tuple[str, str]:
        """See `RunIdentity.query`."""
        return self.identity.query

    @property
    def source(self) -> str:
        """See `RunIdentity.source`."""
        return self.identity.source


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a judge says of one trajectory (DESIGN: the prediction record).

    Attributes:
        step_labels: Message index → predicted label; an index that is absent was not predicted.
        step_probs: Message index → (p₋₁, p₀, p₊₁).
        final_prob: p(success) of the run, in [0, 1].
        status: "ok", "partial" (some steps missing) or "failed" (nothing usable), with a `reason`.
        rendering: Rendering version, budgets and plan that the judge read the run with.
    """

    identity: RunIdentity
    step_labels: Mapping[int, StepLabel]
    final_label: StepLabel | None = None
    step_probs: Mapping[int, Probabilities] = field(default_factory=dict)
    final_prob: float | None = None
    explanations: Any = None
    status: Literal["ok", "partial", "failed"] = "ok"
    reason: str | None = None
    protocol: Protocol | None = None
    prompt_version: str | None = None
    rendering: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """See `RunIdentity.key`."""
        return self.identity.key
