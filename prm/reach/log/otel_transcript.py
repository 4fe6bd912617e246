"""The spans of one run → its messages.

An inference span is one assistant message. What it said and called is in its output; what was said to it since the
last assistant message, at the end of its input. A tool span completes the call it belongs to: by its id, else the
next call of its tool. One that belongs to no recorded call is a call itself: of the latest message where that
message's output was not captured, else of a message of its own, together with the tool spans that it overlaps in time
(what runs at the same time cannot have fed each other).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prm.reach.log import otel_names as names
from prm.reach.log.matching import OpenCalls
from prm.reach.log.otel_calls import SpanCall, call_of_span, completed
from prm.reach.log.otel_messages import SpanMessage, ToolResponse, instructions_in, messages_in
from prm.reach.log.otlp import Span
from prm.reach.log.to_trajectory import LoggedCall, SynthesisedMessages

SPAN_KEY = "otel"
"""Key of an assistant message under which ``trace_id`` and ``span_id`` stand."""


@dataclass
class _Batch:
    """An assistant message.

    Attributes:
        text: None = not captured.
        span: The ids of the span that it is known by, for what is later said of it; None = an earlier turn.
        takes_spans: Its own calls were not captured.
        until: When its latest tool span ends.
    """

    text: str | None
    span: Span | None
    takes_spans: bool = False
    calls: list[SpanCall] = field(default_factory=list)
    by_id: dict[str, SpanCall] = field(default_factory=dict)
    until: float = float("-inf")

    def add(self, call: SpanCall) -> None:
        """One more call."""
        self.calls.append(call)
        if call.logged.id is not None:
            self.by_id[call.logged.id] = call


@dataclass(frozen=True)
class _Text:
    role: str
    text: str


class SpanTranscript:
    """The messages of one run, put together from its spans."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._entries: list[_Batch | _Text | ToolResponse] = []
        self._batch: _Batch | None = None
        self._said: set[_Text] = set()
        self._latest_input: tuple[SpanMessage, ...] = ()
        self._unanswered: OpenCalls[SpanCall] = OpenCalls()
        self._unspanned: OpenCalls[SpanCall] = OpenCalls()
        self._calls = 0
        for span in in_time(spans):
            operation = span.attributes.get(names.OPERATION_NAME)
            if operation == names.TOOL_OPERATION:
                self._add_tool(span)
            elif operation in names.INFERENCE_OPERATIONS:
                self._add_inference(span)

    @property
    def first_request(self) -> str | None:
        """The first thing that a user said; None = nothing was captured."""
        return next((e.text for e in self._entries if isinstance(e, _Text) and e.role == "user"), None)

    def messages(self) -> list[dict[str, Any]]:
        """All messages, in order; empty where no span is of an inference or a tool."""
        synthesised = SynthesisedMessages()
        for entry in self._entries:
            if isinstance(entry, _Text):
                synthesised.add_text(entry.role, entry.text)
            elif isinstance(entry, ToolResponse):
                synthesised.add_result(entry.call_id, entry.answer)
            else:
                more = {} if entry.span is None else _place(entry.span)
                synthesised.add_batch([call.logged for call in entry.calls], entry.text, more)
        return synthesised.messages

    def _add_inference(self, span: Span) -> None:
        captured = _captured(span)
        output = messages_in(captured.get(names.OUTPUT_MESSAGES))
        if span.failed and not output:
            # A request that failed said nothing; the one that repeats it does.
            return
        self._add_input(messages_in(captured.get(names.INPUT_MESSAGES)) or (), captured)
        if not output:
            self._begin(_Batch(None, span, takes_spans=True))
            return
        # Several outputs are choices; an empty one is none.
        chosen = next((message for message in output if message.text or message.calls), output[0])
        self._add_message(chosen, span)

    def _add_input(self, messages: tuple[SpanMessage, ...], captured: Mapping[str, Any]) -> None:
        is_first = self._batch is None
        self._add_prompt("system", instructions_in(captured.get(names.SYSTEM_INSTRUCTIONS)))
        answered = [number for number, message in enumerate(messages) if message.role == "assistant"]
        new = messages if is_first or not answered else messages[answered[-1] + 1 :]
        if messages == self._latest_input:
            # The same request once more: another sample of it.
            return
        self._latest_input = messages
        for message in new:
            if message.role == "assistant":
                self._add_message(message, None)
            elif is_first or answered:
                self._add_text(_Text(_role(message), message.text))
            else:
                self._add_prompt(_role(message), message.text)
            self._answer(message.responses)

    def _add_prompt(self, role: str, text: str) -> None:
        """Text that may be the same prompt given anew, which counts once."""
        if _Text(role, text) not in self._said:
            self._add_text(_Text(role, text))

    def _add_text(self, said: _Text) -> None:
        if said.text:
            self._entries.append(said)
            self._said.add(said)

    def _add_message(self, message: SpanMessage, span: Span | None) -> None:
        batch, ended_at = _Batch(message.text, span), None if span is None else span.ended_at
        for logged in message.calls:
            batch.add(self._numbered(replace(logged, called_at=ended_at)))
        self._begin(batch)
        ids = [call.logged.id for call in batch.calls]
        self._unanswered.add_batch(batch.calls, ids)
        self._unspanned.add_batch(batch.calls, ids)

    def _begin(self, batch: _Batch) -> None:
        self._entries.append(batch)
        self._batch = batch

    def _numbered(self, logged: LoggedCall) -> SpanCall:
        self._calls += 1
        return SpanCall(self._calls - 1, logged)

    def _answer(self, responses: Sequence[ToolResponse]) -> None:
        for response in responses:
            call = self._unanswered.answer(response.call_id, None)
            if call is None:
                self._entries.append(response)
            elif call.logged.result is None:
                call.logged = replace(call.logged, result=response.answer)

    def _add_tool(self, span: Span) -> None:
        logged = call_of_span(span)
        call = self._recorded_call(logged)
        if call is None:
            self._add_call(logged, span)
        else:
            call.logged = completed(call.logged, logged)

    def _recorded_call(self, logged: LoggedCall) -> SpanCall | None:
        batch = self._batch
        is_known = logged.id is not None and self._unspanned.has_seen(logged.id)
        if is_known or batch is None or not batch.takes_spans:
            call = self._unspanned.answer(logged.id, logged.tool)
            if call is not None:
                return call
        # A second span of one call of the latest message: its tool was tried again.
        return None if batch is None or logged.id is None else batch.by_id.get(logged.id)

    def _add_call(self, logged: LoggedCall, span: Span) -> None:
        start = span.started_at if span.started_at is not None else float("inf")
        if self._batch is None or not (self._batch.takes_spans or start < self._batch.until):
            self._begin(_Batch(None, span))
        batch = self._batch
        if batch is None:
            return
        call = self._numbered(logged)
        batch.add(call)
        batch.until = max(batch.until, span.ended_at if span.ended_at is not None else float("-inf"))
        self._unanswered.add_batch([call], [logged.id])


def in_time(spans: Sequence[Span]) -> list[Span]:
    """By start, then end, where every span has both; else as in the file."""
    known = [
        (span.started_at, span.ended_at, number)
        for number, span in enumerate(spans)
        if span.started_at is not None and span.ended_at is not None
    ]
    return [spans[number] for _, _, number in sorted(known)] if len(known) == len(spans) else list(spans)


def _place(span: Span) -> dict[str, Any]:
    """Where a message stands, and when it was complete; a message made of tool spans alone, when they began."""
    place: dict[str, Any] = {SPAN_KEY: {"trace_id": span.trace_id, "span_id": span.span_id}}
    is_tool = span.attributes.get(names.OPERATION_NAME) == names.TOOL_OPERATION
    when = span.started_at if is_tool else span.ended_at
    return place if when is None else {**place, "timestamp": when}


def _role(message: SpanMessage) -> str:
    return "system" if message.role in ("system", "developer") else "user"


def _captured(span: Span) -> Mapping[str, Any]:
    """The attributes, and those of the event that may carry the messages in their place."""
    captured = dict(span.attributes)
    for name, attributes in span.events:
        if name == names.DETAILS_EVENT:
            captured = {**attributes, **captured}
    return captured
