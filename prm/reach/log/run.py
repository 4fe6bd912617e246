"""A run in normal form: what every rule of Reach reads. Knows no file format and no spec.

A *batch* is one assistant message; its number is the message's index in the trajectory. The results of a batch are
visible only to later batches: parallel calls cannot feed each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from prm.types import Trajectory

EventKind = Literal["system", "user", "assistant", "result"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call.

    Attributes:
        ordinal: Position among all calls of the run, from 0.
        batch: Index of the assistant message that made it.
        id: The call's id, unique within the run (readers make it so: the n-th repeat of ``c`` is ``c#n``).
        tool: The tool's name.
        arguments: The parsed JSON object; None where the recorded text is no JSON object.
        raw: The arguments as recorded.
        timestamp: ISO 8601 or a number of seconds as recorded; None where the log has none.
    """

    ordinal: int
    batch: int
    id: str
    tool: str
    arguments: Mapping[str, Any] | None
    raw: str
    timestamp: str | float | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call returned.

    Attributes:
        index: Index of the message that carries it.
        call_id: The call it answers.
        ok: Whether the tool did what was asked; None = the log does not say.
        status: The tool's own word for it, such as ``not_found``; None = none was given.
        error: Its error text, if it failed.
        value: The parsed JSON value, or the text where it is no JSON. An envelope is unwrapped: see `envelope`.
        partial: The result says that a field is missing or damaged, or that it was cut.
        truncated: The result says that it was cut.
        envelope: The whole parsed result where `value` is a part of it, else None.
        incomplete: The *log* holds only a part of it (JSON that breaks off, or a status without the answer): the
            agent may have seen more, so that what is not found in it is unknown.
    """

    index: int
    call_id: str
    ok: bool | None
    value: Any
    status: str | None = None
    error: str | None = None
    partial: bool = False
    truncated: bool = False
    envelope: Any = None
    timestamp: str | float | None = None
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One message of the run.

    Attributes:
        index: Its index in the trajectory; the batch, where it is the assistant's.
        text: What was said ("" for nothing).
        calls: An assistant message's calls, in order.
        plan: The JSON object that an assistant stated before its calls; None = none.
        result: A result's content.
    """

    kind: EventKind
    index: int
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    plan: Mapping[str, Any] | None = None
    result: ToolResult | None = None
    timestamp: str | float | None = None


@dataclass(frozen=True)
class Run:
    """One agent run.

    Attributes:
        trajectory: The record it came from; labels are written back to it.
        scenario: The query: a template with a seed, or a task.
        template: What scenarios are clustered by; the scenario itself where nothing is known.
        run: Number of the repeat.
        agent, variant, seed: As recorded; "" and None where unknown.
        events: All messages in order.
        end: Why it ended: ``final`` (a last message without calls), ``cap``, ``error`` or None = unknown.
        outcome: Right final state by the environment itself (+1 / −1), None = unknown.
        notes: What the reader had to repair (repeated ids, results before their calls …), one line each.
        calls_only: The log holds calls and results, but not what user, system and assistant said (but perhaps the
            first request): a value that nothing explains may have been theirs, so that its origin is unknown.
    """

    trajectory: Trajectory
    scenario: str
    template: str
    run: int | str
    agent: str
    variant: str
    seed: int | None
    events: tuple[Event, ...]
    end: str | None = None
    outcome: int | None = None
    notes: tuple[str, ...] = field(default=())
    calls_only: bool = False

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls, in order."""
        return tuple(call for event in self.events for call in event.calls)

    @cached_property
    def calls_by_id(self) -> Mapping[str, ToolCall]:
        """Call id → the call."""
        return {call.id: call for call in self.calls}

    @cached_property
    def results(self) -> Mapping[str, ToolResult]:
        """Call id → its result; a call without one is absent: what depends on it is unknown."""
        return {event.result.call_id: event.result for event in self.events if event.result is not None}

    @cached_property
    def batches(self) -> tuple[Event, ...]:
        """The assistant messages, in order."""
        return tuple(event for event in self.events if event.kind == "assistant")
