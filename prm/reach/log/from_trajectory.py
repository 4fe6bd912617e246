"""OpenAI-style messages → a run in normal form. Nothing is invented: what the record does not hold stays unknown.

Who ran what is read from the record's ``reach`` object and, where that is silent, from the identity:

    scenario  reach.scenario, else the query          run    reach.run, else sample_index
    template  reach.template, else the record's, else the scenario
    agent     reach.agent, else generator             variant, seed, end   reach's
    outcome   reach.outcome, else final_label (so that a label by rule does not become an outcome of the world)
    calls_only  reach.calls_only: the log behind the record holds no texts

A message of the role `tool` may say how the call went beside its content: `status` (a word) and `is_error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prm.reach.log.envelope import Envelope, open_result, with_status
from prm.reach.log.matching import Names, OpenCalls
from prm.reach.log.message_parts import RecordedCall, calls_of, text_id, text_of, time_of
from prm.reach.log.plan import plan_in
from prm.reach.log.run import Event, EventKind, Run, ToolCall
from prm.types import Message, Trajectory

_RESULT_ROLES = ("tool", "function")
_KINDS: Mapping[str, EventKind] = {"system": "system", "developer": "system", "assistant": "assistant"}


def run_of_trajectory(trajectory: Trajectory, envelope: Envelope | None = None) -> Run:
    """The run of one trajectory.

    A message of the role `tool` whose content is null, and that does not say how the call went either, says nothing:
    its event has no `result`, and the call counts as one without. An event's `index` is always that of its message; a
    result that stands before its call is moved behind the call's batch.

    Args:
        trajectory: With its messages.
        envelope: How results are wrapped; None = recognised (see `prm.reach.log.envelope`).

    Returns:
        The run; `notes` say what had to be repaired.
    """
    builder = _Builder(envelope)
    for index, message in enumerate(trajectory.messages):
        builder.add(index, message)
    events = builder.finish()
    return _identified(trajectory, events, builder.notes)


class _Builder:
    """The events of a run as they come."""

    def __init__(self, envelope: Envelope | None) -> None:
        self.notes: list[str] = []
        self._envelope = envelope
        self._events: list[Event] = []
        self._names = Names()
        self._open: OpenCalls[ToolCall] = OpenCalls()
        self._calls = 0
        self._early: list[tuple[int, Message]] = []

    def add(self, index: int, message: Message) -> None:
        """Takes in the message at `index`."""
        role = str(message.get("role"))
        if role in _RESULT_ROLES:
            self._add_result(index, message)
            return
        text, kind = text_of(message.get("content")), _KINDS.get(role, "user")
        calls = self._calls_of(index, message) if kind == "assistant" else ()
        plan = plan_in(text, bool(calls)) if kind == "assistant" else None
        self._events.append(Event(kind, index, text, calls, plan, timestamp=time_of(message)))

    def finish(self) -> tuple[Event, ...]:
        """All events; results that stand before their calls are behind them now."""
        moved: dict[int, list[Event]] = {}
        for index, message in self._early:
            call = self._open.answer_late(text_id(message.get("tool_call_id")))
            if call is None:
                self._events.append(self._orphan(index, message))
                continue
            self.notes.append(f"message {index}: the result stands before its call {call.id}")
            moved.setdefault(call.batch, []).append(self._result(index, message, call.id))
        if not self._early:
            return tuple(self._events)
        self._events.sort(key=lambda event: event.index)
        return tuple(late for event in self._events for late in (event, *moved.get(event.index, ())))

    def _calls_of(self, index: int, message: Message) -> tuple[ToolCall, ...]:
        recorded = calls_of(message)
        calls = tuple(self._call(index, number, call, message) for number, call in enumerate(recorded))
        self._open.add_batch(calls, [call.id for call in recorded])
        return calls

    def _call(self, index: int, number: int, recorded: RecordedCall, message: Message) -> ToolCall:
        wanted = recorded.id if recorded.id is not None else f"call@{index}.{number}"
        call_id = self._names.unique(wanted)
        if call_id != wanted:
            self.notes.append(f"message {index}: call id {wanted} repeats; it is {call_id} here")
        if recorded.arguments is None:
            what = "are no JSON object" if recorded.raw else "are not recorded"
            self.notes.append(f"message {index}: the arguments of {call_id} {what}")
        when = recorded.timestamp if recorded.timestamp is not None else time_of(message)
        self._calls += 1
        return ToolCall(self._calls - 1, index, call_id, recorded.tool, recorded.arguments, recorded.raw, when)

    def _add_result(self, index: int, message: Message) -> None:
        recorded_id, tool = text_id(message.get("tool_call_id")), message.get("name")
        seen = self._open.has_seen(recorded_id)
        call = self._open.answer(recorded_id, tool if isinstance(tool, str) else None)
        if call is not None:
            self._events.append(self._result(index, message, call.id))
        elif recorded_id is not None and not seen:
            self._early.append((index, message))
        else:
            self._events.append(self._orphan(index, message))

    def _orphan(self, index: int, message: Message) -> Event:
        """A result that answers no call: kept under an id of its own, so that its values still explain arguments."""
        self.notes.append(f"message {index}: the result answers no call")
        wanted = text_id(message.get("tool_call_id")) or f"result@{index}"
        return self._result(index, message, self._names.unique(wanted))

    def _result(self, index: int, message: Message, call_id: str) -> Event:
        content, when = message.get("content"), time_of(message)
        status, failed = message.get("status"), message.get("is_error")
        aside = (status if isinstance(status, str) else None, failed if isinstance(failed, bool) else None)
        if content is None and aside == (None, None):
            self.notes.append(f"message {index}: the result of {call_id} is null")
            return Event("result", index, timestamp=when)
        text = text_of(content)
        opened = open_result(None if content is None else text, self._envelope)
        result = with_status(opened, *aside, self._envelope).as_result(index, call_id, when)
        return Event("result", index, text, result=result, timestamp=when)


def _identified(trajectory: Trajectory, events: tuple[Event, ...], notes: list[str]) -> Run:
    reach = trajectory.extra.get("reach")
    about: Mapping[str, Any] = reach if isinstance(reach, Mapping) else {}
    identity = trajectory.identity
    scenario = text_id(about.get("scenario")) or _query(trajectory)
    run = about.get("run", identity.sample_index)
    return Run(
        trajectory=trajectory,
        scenario=scenario,
        template=text_id(about.get("template")) or text_id(trajectory.extra.get("template")) or scenario,
        run=run if text_id(run) is not None else 0,
        agent=text_id(about.get("agent")) or identity.generator or "",
        variant=text_id(about.get("variant")) or "",
        seed=_whole(about.get("seed")),
        events=events,
        end=text_id(about.get("end")) or _end(events),
        outcome=_outcome(about.get("outcome", trajectory.final_label)),
        notes=tuple(notes),
        calls_only=about.get("calls_only") is True,
    )


def _query(trajectory: Trajectory) -> str:
    source, query = trajectory.query
    return query if source in ("", "id") else f"{source}/{query}"


def _end(events: tuple[Event, ...]) -> str | None:
    """`final` where the assistant's last message makes no call and no result follows it; else nobody knows."""
    for event in reversed(events):
        if event.kind == "result":
            return None
        if event.kind == "assistant":
            return None if event.calls else "final"
    return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _outcome(value: Any) -> int | None:
    return value if value in (1, -1) and type(value) is int else None
