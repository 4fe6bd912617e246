"""OTLP JSON → spans with plain attributes. Knows no convention of names.

A file holds one document, a list of documents, or one a line: ``{"resourceSpans": [{"resource", "scopeSpans":
[{"spans": […]}]}]}``; the encoding is https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prm.data.jsonl import parse_json, read_lines
from prm.errors import RecordError
from prm.reach.log.otlp_values import list_at, object_at, plain_attributes, text_at, whole_number

ROOT = "resourceSpans"
_ERROR_CODES = (2, "2", "STATUS_CODE_ERROR")
_NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Span:
    """One span.

    Attributes:
        where: Its place in the file.
        name: Its name.
        trace_id, span_id, parent_id: As in the file; "" = none.
        started_at, ended_at: Seconds since 1970; None = not recorded.
        failed: Whether its status is an error.
        message: The status's message.
        attributes: Plain JSON values; those of the resource below them.
        events: (name, attributes) of its events.
    """

    where: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    started_at: float | None
    ended_at: float | None
    failed: bool
    message: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def read_spans(source: str) -> Iterator[Span]:
    """The spans of a file, in its order.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: It is no OTLP JSON; the message names the place.
    """
    for where, document in _documents(source):
        for number, resource in enumerate(list_at(document, ROOT, where)):
            yield from _spans_of_resource(resource, f"{where}: {ROOT}[{number}]")


def _documents(source: str) -> Iterator[tuple[str, Any]]:
    """(where, document) of each line; of the whole file where its first line is no document."""
    first = True
    for number, line in read_lines(Path(source)):
        where = f"{source}:{number}"
        try:
            document = parse_json(line, where)
        except RecordError:
            if not first:
                raise
            document, where = parse_json(Path(source).read_bytes(), source), source
            yield from _listed(document, where)
            return
        first = False
        yield from _listed(document, where)


def _listed(document: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(document, list):
        yield from ((f"{where}[{number}]", part) for number, part in enumerate(document))
    else:
        yield where, document


def _spans_of_resource(resource: Any, where: str) -> Iterator[Span]:
    described = object_at(resource, where).get("resource")
    shared = plain_attributes(object_at(described or {}, f"{where}.resource"), f"{where}.resource")
    for scope_number, scope in enumerate(list_at(resource, "scopeSpans", where)):
        scope_where = f"{where}.scopeSpans[{scope_number}]"
        for number, span in enumerate(list_at(scope, "spans", scope_where)):
            at = f"{scope_where}.spans[{number}]"
            yield _span(object_at(span, at), at, shared)


def _span(span: Mapping[str, Any], where: str, shared: Mapping[str, Any]) -> Span:
    status = span.get("status")
    status = {} if status is None else object_at(status, f"{where}.status")
    events = [object_at(event, f"{where}.events[{n}]") for n, event in enumerate(list_at(span, "events", where))]
    return Span(
        where=where,
        name=text_at(span, "name", where),
        trace_id=text_at(span, "traceId", where),
        span_id=text_at(span, "spanId", where),
        parent_id=text_at(span, "parentSpanId", where),
        started_at=_seconds(span, "startTimeUnixNano", where),
        ended_at=_seconds(span, "endTimeUnixNano", where),
        failed=status.get("code") in _ERROR_CODES,
        message=text_at(status, "message", f"{where}.status"),
        attributes={**shared, **plain_attributes(span, where)},
        events=tuple((text_at(e, "name", where), plain_attributes(e, f"{where}.events")) for e in events),
    )


def _seconds(span: Mapping[str, Any], key: str, where: str) -> float | None:
    value = span.get(key)
    if value is None or value == "":
        return None
    # 0 means "not set" in protobuf.
    return whole_number(value, f"{where}.{key}") / _NANOSECONDS or None
