"""Runs → the rows of the flat log (see `prm.reach.log.flat` for the keys, and for what is lost)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prm.reach.judging.provenance_records import Provenance
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.json_text import json_in
from prm.reach.log.matching import Names
from prm.reach.log.run import Event, Run, ToolCall, ToolResult

_Flows = tuple[Mapping[str, list[str]], Mapping[str, list[str]]]
"""Call id → the calls whose results it used; call id → the calls that used its result."""


def flat_log(
    judged: Iterable[tuple[Run, RunVerdict | None, Provenance | None]],
) -> Iterator[dict[str, Any]]:
    """The rows of many runs; `round_id` is unique among them.

    Args:
        judged: Runs, each with its verdict and its provenance, or None for them.
    """
    names = Names()
    for run, verdict, provenance in judged:
        yield from flat_rows(run, verdict, provenance, round_id=names.unique(round_of(run)))


def round_of(run: Run) -> str:
    """The name of a run: its trajectory's `id`, else where it came from, scenario, agent, variant and repeat."""
    identity = run.trajectory.identity
    if identity.id is not None:
        return identity.id
    parts = (identity.data_source, run.scenario, run.agent, run.variant, str(run.run))
    return "/".join(part for part in parts if part)


def flat_rows(
    run: Run,
    verdict: RunVerdict | None = None,
    provenance: Provenance | None = None,
    *,
    round_id: str | None = None,
) -> Iterator[dict[str, Any]]:
    """One row for each call, in order.

    Args:
        run: The run.
        verdict: Gives `milestones_reached`, and `source` and `target` as far as its evidence names them; None = null.
        provenance: Gives all of `source` and `target`.
        round_id: None = `round_of` the run.
    """
    flows = _flows(verdict, provenance)
    results = {event.result.call_id: event for event in run.events if event.result is not None}
    reached = None if verdict is None else _reached(verdict)
    name = round_of(run) if round_id is None else round_id
    about = {key: value for key, value in _about(run).items() if value not in ("", None)}
    request = next((event.text for event in run.events if event.kind == "user" and event.text), None)
    for call in run.calls:
        yield {
            "round_id": name,
            "step": call.ordinal + 1,
            "call_id": call.id,
            "batch": call.batch,
            "tool": call.tool,
            "input": _input(call),
            "result": _recorded(results.get(call.id)),
            "source": None if flows is None else flows[0].get(call.id, []),
            "target": None if flows is None else flows[1].get(call.id, []),
            "result_status": _status(run.results.get(call.id)),
            "milestones_reached": None if reached is None else reached.get(call.ordinal, []),
            "timestamp": call.timestamp,
            **about,
            **({"request": request} if call.ordinal == 0 and request is not None else {}),
        }


def _about(run: Run) -> dict[str, Any]:
    return {
        "scenario": run.scenario,
        "template": run.template,
        "run": run.run,
        "agent": run.agent,
        "variant": run.variant,
        "seed": run.seed,
        "end": run.end,
        "outcome": run.outcome,
    }


def _input(call: ToolCall) -> Any:
    return call.raw or None if call.arguments is None else dict(call.arguments)


def _recorded(event: Event | None) -> Any:
    """The result as recorded: an object or a list as JSON, anything else as its text; None where there is none."""
    if event is None or event.result is None or (event.result.incomplete and event.result.value is None):
        return None
    value = json_in(event.text)
    return value if isinstance(value, dict | list) else event.text


def _status(result: ToolResult | None) -> str | None:
    if result is None:
        return None
    if result.status is not None or result.ok is None:
        return result.status
    return "ok" if result.ok else "error"


def _reached(verdict: RunVerdict) -> Mapping[int, list[str]]:
    """Ordinal of the call → the milestones that count as reached with it."""
    reached: defaultdict[int, list[str]] = defaultdict(list)
    for milestone in verdict.milestones:
        if milestone.reached is not None:
            reached[milestone.reached.call].append(milestone.name)
    return reached


def _flows(verdict: RunVerdict | None, provenance: Provenance | None) -> _Flows | None:
    if provenance is not None:
        return _both_ways((s.call_id, leaf.call_id) for leaf in provenance.leaves for s in leaf.sources)
    if verdict is None:
        return None
    evidence = (e for milestone in verdict.milestones for e in milestone.evidence)
    return _both_ways((e.source_call_id, e.call_id) for e in evidence)


def _both_ways(pairs: Iterable[tuple[str | None, str | None]]) -> _Flows:
    sources: defaultdict[str, list[str]] = defaultdict(list)
    targets: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in dict.fromkeys(pairs):
        if source is not None and target is not None:
            sources[target].append(source)
            targets[source].append(target)
    return sources, targets
