"""The runs that are measured on: ticket-desk runs, a set of very unequal lengths, and plain synthetic records."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from prm.data.encode import Row
from prm.data.records import dump_trajectory
from prm.reach.desk.generate import generate_runs
from prm.types import RunIdentity, StepLabel, Trajectory

_LONG_SHARE = 5
"""Every so manyth run of the skewed set is a long one."""

_RUNS_IN_A_LONG_ONE = 2
_ENDLESS = 1_000_000
_WORDS = ("the", "order", "was", "sent", "to", "a", "wrong", "address", "and", "came", "back", "late")

T = TypeVar("T")


def ticket_runs(count: int, min_steps: int) -> list[Trajectory]:
    """The first `count` ticket-desk runs of at least `min_steps` steps."""
    return list(islice((run for run in generate_runs(_ENDLESS) if len(run.steps) >= min_steps), count))


def skewed_runs(count: int) -> list[Trajectory]:
    """Four of five runs are the first one to three steps of a ticket-desk run, each fifth is two whole runs in one."""
    source = generate_runs(_ENDLESS)
    runs = []
    for number in range(count):
        if number % _LONG_SHARE == 0:
            runs.append(_joined(list(islice(source, _RUNS_IN_A_LONG_ONE))))
        else:
            runs.append(_beginning(next(source), 1 + number % 3))
    return runs


def _beginning(run: Trajectory, steps: int) -> Trajectory:
    """The run without its tool list, up to its step number `steps`."""
    step = run.steps[min(steps, len(run.steps)) - 1]
    labels = {index: label for index, label in run.step_labels.items() if index <= step.index}
    return replace(run, messages=run.messages[: step.index + 1], step_labels=labels, final_label=None, tools=())


def _joined(runs: Sequence[Trajectory]) -> Trajectory:
    """The messages of several runs one after the other, as one run with the first one's name."""
    messages: list[Any] = []
    labels: dict[int, StepLabel | None] = {}
    for run in runs:
        labels |= {len(messages) + index: label for index, label in run.step_labels.items()}
        messages += run.messages
    return replace(runs[0], messages=tuple(messages), step_labels=labels, final_label=runs[-1].final_label)


def synthetic_records(count: int) -> Iterator[dict[str, Any]]:
    """Trajectory records of one to six steps, each of other words and labels; made one at a time."""
    for number in range(count):
        yield dump_trajectory(_synthetic(number))


def _synthetic(number: int) -> Trajectory:
    draw = random.Random(number)
    messages: list[dict[str, Any]] = [{"role": "user", "content": _text(draw)}]
    labels: dict[int, StepLabel | None] = {}
    for step in range(draw.randint(1, 6)):
        labels[len(messages)] = draw.choice((-1, 0, 1, 1))
        function = {"name": "search", "arguments": f'{{"query": "{_text(draw)}"}}'}
        call = {"id": f"c{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": _text(draw), "tool_calls": [call]})
        messages.append({"role": "tool", "name": "search", "tool_call_id": f"c{step}", "content": _text(draw)})
    outcome: StepLabel = -1 if -1 in labels.values() else 1
    identity = RunIdentity("synthetic", number // 4, number % 4, generator=f"agent-{number % 5}")
    return Trajectory(identity, tuple(messages), labels, outcome, protocol="error_propagation", label_source="rule")


def _text(draw: random.Random) -> str:
    return " ".join(draw.choices(_WORDS, k=draw.randint(3, 40)))


def evenly_spaced(items: Sequence[T], count: int) -> list[T]:
    """`count` items at even distances over the sequence (all of them where there are fewer), the middle of each part.

    Of items in order of length these have the lengths of the whole.
    """
    count = min(count, len(items))
    return [items[int((i + 0.5) * len(items) / count)] for i in range(count)]


def row_lengths(rows: Sequence[Row]) -> list[int]:
    """Tokens of every row."""
    return [len(row.input_ids) for row in rows]


def quantiles(lengths: Sequence[int]) -> dict[str, float]:
    """Rows, tokens in all, and the tokens of a row: p50, p90, the longest, p90 / p50."""
    p50, p90 = (float(value) for value in np.percentile(lengths, [50, 90]))
    return {
        "rows": len(lengths),
        "tokens": sum(lengths),
        "p50": p50,
        "p90": p90,
        "max": max(lengths),
        "p90_over_p50": round(p90 / p50, 2),
    }
