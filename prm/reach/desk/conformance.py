"""The one check that every environment must pass, whatever its tools do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import get_args

from prm.reach.desk.environment import Call, CallCapReached, Envelope, Environment, Status

STATUSES: tuple[str, ...] = get_args(Status)


def conformance_violations(make: Callable[[], Environment], batches: Sequence[Sequence[Call]]) -> list[str]:
    """What an environment breaks of the contract of `Environment`; empty if it conforms.

    Args:
        make: A fresh environment, always in the same state.
        batches: Batches of calls to try; together they must stay under the call cap.

    Returns:
        One sentence for each rule that is broken.
    """
    checks = (_envelope_violations, _determinism_violations, _unknown_tool_violations, _cap_violations)
    return [violation for check in checks for violation in check(make, batches)]


def _replay(environment: Environment, batches: Sequence[Sequence[Call]]) -> list[list[Envelope]]:
    return [environment.execute(batch) for batch in batches]


def _envelope_violations(make: Callable[[], Environment], batches: Sequence[Sequence[Call]]) -> list[str]:
    environment = make()
    violations = []
    for batch in batches:
        before = environment.calls_left
        results = environment.execute(batch)
        if len(results) != len(batch):
            violations.append(f"{len(batch)} calls gave {len(results)} results")
        if environment.calls_left != before - len(batch):
            violations.append(f"calls_left fell from {before} to {environment.calls_left} on {len(batch)} calls")
        violations += [problem for result in results for problem in _problems_of(result)]
    return violations


def _problems_of(envelope: Envelope) -> list[str]:
    problems = []
    if envelope.status not in STATUSES:
        problems.append(f"unknown status {envelope.status!r}")
    if envelope.ok and envelope.record is None:
        problems.append("status ok without a record")
    if (envelope.is_truncated or not envelope.ok) and envelope.data_quality != "partial":
        problems.append(f"{envelope.status}: an answer that is not full must be partial")
    if envelope.record is not None:
        if any(value in (None, "") for value in envelope.record.values()) and envelope.data_quality != "partial":
            problems.append("a missing field was hidden: data_quality must be partial")
        json.dumps(envelope.record, allow_nan=False)
    return problems


def _determinism_violations(make: Callable[[], Environment], batches: Sequence[Sequence[Call]]) -> list[str]:
    same = _replay(make(), batches) == _replay(make(), batches)
    return [] if same else ["the same calls gave different results"]


def _unknown_tool_violations(make: Callable[[], Environment], batches: Sequence[Sequence[Call]]) -> list[str]:
    environment = make()
    calls = [Call("no_such_tool", {}), Call(environment.tools[0], {"no_such_parameter": 1})]
    # Its first call may be made to time out; what matters is that nothing passes as ok.
    results = environment.execute(calls)
    return [
        f"{call.tool} with {dict(call.arguments)} passed as ok" for call, r in zip(calls, results, strict=True) if r.ok
    ]


def _cap_violations(make: Callable[[], Environment], batches: Sequence[Sequence[Call]]) -> list[str]:
    environment = make()
    left = environment.calls_left
    call = Call(environment.tools[0], {})
    environment.execute([call] * (left - 1))
    try:
        environment.execute([call, call])
    except CallCapReached:
        return [] if environment.calls_left == 1 else ["a batch beyond the cap was run in part"]
    return [f"more than {left} calls were allowed"]
