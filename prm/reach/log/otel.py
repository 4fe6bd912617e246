"""OpenTelemetry GenAI spans (OTLP JSON) → trajectory records. Names are those of `otel_names`.

A run is a conversation (`gen_ai.conversation.id`) or, without one, a trace. Spans come in any order and any number of
traces stand in one file, so the whole file is read before the first run is given out. Content is opt-in in the
conventions: arguments, results and messages that were not captured are unknown.

A scenario is what ``prm.scenario`` names on any span or resource, else the first user message (as a hash), else the
run itself; see `otel_names.OWN_KEYS` for what else an experiment may set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from prm.data.readers.row import Record, Row
from prm.reach.log import otel_names as names
from prm.reach.log.message_parts import text_id
from prm.reach.log.otel_messages import tools_in
from prm.reach.log.otel_runs import run_keys
from prm.reach.log.otel_transcript import SpanTranscript, in_time
from prm.reach.log.otlp import ROOT, Span, read_spans
from prm.reach.log.to_trajectory import trajectory_record

SOURCE = "otel"
_READ = frozenset((*names.INFERENCE_OPERATIONS, names.TOOL_OPERATION))
_KEPT = ("gen_ai.", names.OWN_PREFIX, names.ERROR_TYPE)


def is_document(record: Mapping[str, Any]) -> bool:
    """Whether the first record of a file is OTLP JSON with spans."""
    return ROOT in record


def read(source: str) -> Iterator[Row]:
    """The runs of an OTLP JSON file as trajectory records, by their first span's time.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: It is no OTLP JSON; the message names the place.
    """
    spans = in_time([_slim(span) for span in read_spans(source)])
    runs: dict[str, list[Span]] = {}
    for key, span in zip(run_keys(spans), spans, strict=True):
        runs.setdefault(key, []).append(span)
    repeats: Counter[str] = Counter()
    for key, own in runs.items():
        transcript = SpanTranscript(own)
        messages = transcript.messages()
        if any(span.attributes.get(names.OPERATION_NAME) in _READ for span in own) and messages:
            where = f"{source}: {key}"
            yield Row(where, key, _record(key, own, transcript.first_request, messages, repeats))


def _slim(span: Span) -> Span:
    """Without the attributes and events that nothing here reads: they are most of a file."""
    attributes = {name: value for name, value in span.attributes.items() if name.startswith(_KEPT)}
    events = tuple(event for event in span.events if event[0] == names.DETAILS_EVENT)
    return replace(span, attributes=attributes, events=events)


def _record(
    key: str, spans: Sequence[Span], request: str | None, messages: list[dict[str, Any]], repeats: Counter[str]
) -> Record:
    """`repeats` counts the runs of each scenario: the number of a run that has none."""
    about = {name: _first(spans, names.OWN_PREFIX + name) for name in names.OWN_KEYS}
    about = {name: value for name, value in about.items() if value is not None}
    scenario = text_id(about.pop("scenario", None)) or (key if request is None else _hash(request))
    run = about.pop("run", None)
    repeats[scenario] += 1
    return trajectory_record(
        messages,
        source=SOURCE,
        scenario=scenario,
        run=run if isinstance(run, int | str) and text_id(run) is not None else repeats[scenario] - 1,
        about={
            "end": "error" if _broke_down(spans) else None,
            **{name: value for name, value in about.items() if isinstance(value, int | str)},
            "agent": text_id(about.get("agent")) or _agent(spans),
            "outcome": about["outcome"] if about.get("outcome") in (1, -1) else None,
            "calls_only": True if request is None else None,
        },
        record_id=f"{SOURCE}:{key}",
        tools=tools_in(_first(spans, names.TOOL_DEFINITIONS)),
    )


def _first(spans: Sequence[Span], name: str) -> Any:
    return next((span.attributes[name] for span in spans if span.attributes.get(name) is not None), None)


def _agent(spans: Sequence[Span]) -> str | None:
    agents = [span for span in spans if span.attributes.get(names.OPERATION_NAME) in names.AGENT_OPERATIONS]
    named = text_id(_first(agents, names.AGENT_NAME)) or text_id(_first(spans, names.AGENT_NAME))
    return named or text_id(_first(spans, names.REQUEST_MODEL))


def _broke_down(spans: Sequence[Span]) -> bool:
    """Whether the outermost agent span, which comes first, ended in an error."""
    agents = (span for span in spans if span.attributes.get(names.OPERATION_NAME) in names.AGENT_OPERATIONS)
    return any(span.failed for span in list(agents)[:1])


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
