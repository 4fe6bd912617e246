"""Which run a span belongs to: its conversation, that of the spans above it, the trace's only one, or its trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from prm.reach.log import otel_names as names
from prm.reach.log.message_parts import text_id
from prm.reach.log.otlp import Span

_SpanKey = tuple[str, str]
"""(trace id, span id)."""


def run_keys(spans: Sequence[Span]) -> list[str]:
    """For each span the name of its run."""
    own = [text_id(span.attributes.get(names.CONVERSATION_ID)) for span in spans]
    of_trace: defaultdict[str, set[str]] = defaultdict(set)
    for span, conversation in zip(spans, own, strict=True):
        if conversation is not None:
            of_trace[span.trace_id].add(conversation)
    inherited = _inherited(spans, own)
    return [_key(span, inherited[number], of_trace.get(span.trace_id, set())) for number, span in enumerate(spans)]


def _key(span: Span, conversation: str | None, of_trace: set[str]) -> str:
    if conversation is not None:
        return conversation
    return next(iter(of_trace)) if len(of_trace) == 1 else span.trace_id or "trace"


def _inherited(spans: Sequence[Span], own: Sequence[str | None]) -> list[str | None]:
    """The conversation of each span or of the nearest span above it; in time linear in all spans, loops included."""
    numbers = {(span.trace_id, span.span_id): number for number, span in enumerate(spans) if span.span_id}
    found: dict[int, str | None] = {number: value for number, value in enumerate(own) if value is not None}
    for start in range(len(spans)):
        path: list[int] = []
        number: int | None = start
        while number is not None and number not in found:
            # For as long as the way up is not known, a loop ends here.
            found[number] = None
            path.append(number)
            number = _above(spans[number], numbers)
        value = None if number is None else found[number]
        found.update(dict.fromkeys(path, value))
    return [found[number] for number in range(len(spans))]


def _above(span: Span, numbers: Mapping[_SpanKey, int]) -> int | None:
    return numbers.get((span.trace_id, span.parent_id)) if span.parent_id else None
