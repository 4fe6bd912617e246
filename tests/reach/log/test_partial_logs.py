"""What a poorer log of the same runs says: the same verdict or none, and never an accusation from absence."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.reach.desk.generate import generate_runs
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.log.read import read_runs
from prm.reach.log.to_flat import flat_log
from prm.reach.spec.load import shipped_spec
from prm.types import Trajectory
from tests.reach.log.spans import NAMES, document, spans_of

CONTENT = {NAMES[name] for name in ("input", "output", "arguments", "result")}
ACCUSATIONS = ("fabrication", "minefield", "ungrounded_batch", "called_wrong", "premature_stop", "plan_contradiction")


@pytest.fixture(scope="module")
def whole() -> Sequence[Trajectory]:
    return tuple(generate_runs(80, seed=21))


@pytest.fixture(scope="module")
def wanted(whole: Sequence[Trajectory]) -> Sequence[RunVerdict]:
    return [judge_run(run_of_trajectory(one), shipped_spec("ticket")) for one in whole]


def as_flat(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    return list(flat_log((run_of_trajectory(one), None, None) for one in runs))


def as_flat_without_requests(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    return [{**row, "request": None} for row in as_flat(runs)]


def as_spans_without_content(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    return [document(*map(_without_content, spans_of(one, f"t{n}"))) for n, one in enumerate(runs)]


def _without_content(span: dict[str, Any]) -> dict[str, Any]:
    return {**span, "attributes": [pair for pair in span["attributes"] if pair["key"] not in CONTENT]}


def as_operations(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    return [
        {
            "time": number,
            "actor": row["agent"],
            "operation": row["tool"],
            "params": row["input"],
            "outcome": row["result"],
            "run_id": row["round_id"],
            "scenario": row["scenario"],
        }
        for number, row in enumerate(as_flat(runs))
    ]


def without_some_results(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    rng = random.Random(4)
    records = [dump_trajectory(one) for one in runs]
    for record in records:
        for message in record["messages"]:
            if message["role"] == "tool" and rng.random() < 0.3:
                message["content"] = None
    return records


def with_some_json_cut_off(runs: Sequence[Trajectory]) -> list[dict[str, Any]]:
    rng = random.Random(5)
    records = [dump_trajectory(one) for one in runs]
    for record in records:
        for message in record["messages"]:
            if message["role"] == "tool" and rng.random() < 0.3:
                message["content"] = message["content"][: len(message["content"]) // 2]
    return records


@pytest.mark.parametrize(
    ("poorer", "reader"),
    [
        (as_flat, "flat"),
        (as_flat_without_requests, "flat"),
        (as_spans_without_content, "otel"),
        (as_operations, "operations?run=run_id"),
        (without_some_results, "trajectory"),
        (with_some_json_cut_off, "trajectory"),
    ],
)
def test_a_poorer_log_gives_the_same_verdict_or_none(
    whole: Sequence[Trajectory],
    wanted: Sequence[RunVerdict],
    tmp_path: Path,
    poorer: Callable[[Sequence[Trajectory]], list[dict[str, Any]]],
    reader: str,
) -> None:
    path = tmp_path / "log.jsonl"
    write_jsonl(path, poorer(whole))
    spec = shipped_spec("ticket")
    found = [judge_run(run, spec) for run in read_runs(path, reader, spec.envelope)]
    assert len(found) == len(wanted)
    worse = [line for full, part in zip(wanted, found, strict=True) for line in _accusations(full, part)]
    assert worse == []
    if poorer is as_flat:
        reached = [sum(m.standing == "reached" for v in judged for m in v.milestones) for judged in (found, wanted)]
        assert reached[0] > 0.9 * reached[1]


def _accusations(full: RunVerdict, part: RunVerdict) -> list[str]:
    """What the poorer log's verdict holds against the agent that the whole log's does not."""
    standings = [
        f"{full.scenario} {f.name}: {f.standing} became {p.standing}"
        for f, p in zip(full.milestones, part.milestones, strict=True)
        if p.standing not in (f.standing, "unscorable", "reached")
    ]
    known = {d.name for d in full.diagnoses}
    # Guessed all the same; that the value stood in a result of the same batch is what the poorer log does not show.
    known |= {"fabrication"} if "ungrounded_batch" in known else set()
    named = [d for d in part.diagnoses if d.name in ACCUSATIONS and d.name not in known]
    standings += [f"{full.scenario}: {d.name} {d.subject}" for d in named]
    return standings + [
        f"{full.scenario}: {name} was hit" for name, hit in part.minefields.items() if hit and not full.minefields[name]
    ]
