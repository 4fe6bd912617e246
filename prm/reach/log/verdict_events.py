"""Verdicts → OpenTelemetry evaluation events (OTLP JSON logs), so that they stand beside the traces they judge.

One event a milestone and one for the run's coverage, named as in `otel_names`:

    gen_ai.evaluation.name         reach.<milestone>, reach.covered
    gen_ai.evaluation.score.value  reached 1, touched 0.5, missed 0; covered 1, not covered 0; none where it does not
                                   apply or cannot be judged
    gen_ai.evaluation.score.label  reached, touched, missed, n/a, unscorable; covered, not_covered, unscorable
    gen_ai.evaluation.explanation  the evidence in plain words
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prm.reach.judging.verdict import Evidence, MilestoneVerdict, RunVerdict
from prm.reach.log import otel_names as names
from prm.reach.log.instants import seconds_of
from prm.reach.log.otel_transcript import SPAN_KEY
from prm.reach.log.otlp_values import any_value, attribute_list
from prm.reach.log.run import Run
from prm.version import __version__

SCOPE = "prm.reach"
SCORES: Mapping[str, float] = {"reached": 1.0, "touched": 0.5, "missed": 0.0}
MAX_EXPLANATION_CHARACTERS = 2_000

_INFO = {"severityNumber": 9, "severityText": "INFO"}
_Attributes = Mapping[str, str | bool | int | float | None]


def evaluation_document(verdict: RunVerdict, run: Run | None = None) -> dict[str, Any]:
    """The OTLP JSON logs document of one run: a line of an events file.

    Args:
        verdict: What is exported.
        run: The run it is of: it gives the time, trace and span of each event, those of the milestone's moment, as far
            as they are known. None = none.
    """
    records = [_record(attributes, verdict, run, moment) for attributes, moment in _evaluations(verdict)]
    scope = {"name": SCOPE, "version": __version__}
    scoped = {"scope": scope, "logRecords": records, "schemaUrl": names.SCHEMA_URL}
    resource = {"attributes": attribute_list({names.SERVICE_NAME: verdict.agent or "agent"})}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scoped], "schemaUrl": names.SCHEMA_URL}]}


def evaluation_documents(judged: Iterable[tuple[Run | None, RunVerdict]]) -> Iterator[dict[str, Any]]:
    """One document for each run."""
    return (evaluation_document(verdict, run) for run, verdict in judged)


def _evaluations(verdict: RunVerdict) -> Iterator[tuple[_Attributes, int | None]]:
    """(attributes, batch of the moment or None) of each event."""
    for milestone in verdict.milestones:
        moment = milestone.reached or milestone.source or milestone.touched
        yield _milestone(milestone), None if moment is None else moment.batch
    yield _coverage(verdict), None


def _milestone(milestone: MilestoneVerdict) -> _Attributes:
    return {
        names.EVALUATION_NAME: f"reach.{milestone.name}",
        names.SCORE_VALUE: SCORES.get(milestone.standing),
        names.SCORE_LABEL: milestone.standing,
        names.EXPLANATION: _words(milestone.reason, milestone.evidence),
    }


def _words(reason: str | None, evidence: Iterable[Evidence]) -> str | None:
    said = "; ".join(part for part in (reason, *(e.what for e in evidence)) if part)
    return said[:MAX_EXPLANATION_CHARACTERS] or None


def _coverage(verdict: RunVerdict) -> _Attributes:
    label = {True: "covered", False: "not_covered", None: "unscorable"}[verdict.covered]
    return {
        names.EVALUATION_NAME: "reach.covered",
        names.SCORE_VALUE: None if verdict.covered is None else float(verdict.covered),
        names.SCORE_LABEL: label,
        names.EXPLANATION: _coverage_words(verdict),
    }


def _coverage_words(verdict: RunVerdict) -> str | None:
    required = [m for m in verdict.milestones if m.required and m.standing != "n/a"]
    open_ones = [m.name for m in required if m.standing in ("missed", "touched")]
    unknown = [m.name for m in required if m.standing == "unscorable"]
    hit = [name for name, was_hit in verdict.minefields.items() if was_hit]
    parts = [f"{len(required) - len(open_ones) - len(unknown)} of {len(required)} required milestones reached"]
    for word, which in (("open", open_ones), ("cannot be judged", unknown), ("minefields hit", hit)):
        parts += [f"{word}: {', '.join(which)}"] if which else []
    return _words("; ".join(parts), [e for d in verdict.diagnoses for e in d.evidence])


def _record(attributes: _Attributes, verdict: RunVerdict, run: Run | None, batch: int | None) -> dict[str, Any]:
    about: _Attributes = {
        names.CONVERSATION_ID: _conversation(verdict),
        names.AGENT_NAME: verdict.agent or None,
        **{f"{names.OWN_PREFIX}{key}": value for key, value in _about(verdict).items()},
    }
    return {
        **({} if run is None else _place_in(run, batch)),
        "eventName": names.EVALUATION_EVENT,
        **_INFO,
        "body": any_value(f"{attributes[names.EVALUATION_NAME]}: {attributes[names.SCORE_LABEL]}"),
        "attributes": attribute_list({**attributes, **about}),
    }


def _about(verdict: RunVerdict) -> Mapping[str, str | int | None]:
    return {
        "scenario": verdict.scenario,
        "template": verdict.template,
        "run": verdict.run,
        "variant": verdict.variant or None,
        "seed": verdict.seed,
        "spec": verdict.spec,
    }


def _conversation(verdict: RunVerdict) -> str | None:
    """The conversation or trace that the run was read from; else the run's own id, if it has one."""
    run_id = verdict.identity.id
    return run_id if run_id is None else run_id.removeprefix("otel:")


def _place_in(run: Run, batch: int | None) -> dict[str, str]:
    """The time, trace and span of a batch, as far as the run knows them; without a batch time and trace of the run."""
    stamped = {event.index: event.timestamp for event in run.events if event.timestamp is not None}
    time = seconds_of(next(reversed(stamped.values()), None) if batch is None else stamped.get(batch))
    place = {} if time is None else {"timeUnixNano": str(round(time * 1e9))}
    spans = [event.index for event in run.batches] if batch is None else [batch]
    ids = next((run.trajectory.messages[index].get(SPAN_KEY) for index in spans), None)
    if not isinstance(ids, Mapping):
        return place
    place["traceId"] = str(ids.get("trace_id", ""))
    return place if batch is None else {**place, "spanId": str(ids.get("span_id", ""))}
