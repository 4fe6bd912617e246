"""Runs and the verdicts on them, brought together."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from prm.errors import InputError
from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.run import Run
from prm.types import Key

_RunKey = tuple[Key, str, str, str, str]


def pair_verdicts(runs: Iterable[Run], verdicts: Iterable[RunVerdict]) -> Iterator[tuple[Run, RunVerdict | None]]:
    """Yields each run with its verdict, or with None where it has none.

    Runs and verdicts find each other by identity, scenario, repeat, agent and variant; of several alike, by order.

    Raises:
        InputError: After the last run: a verdict is on none of them.
    """
    waiting: defaultdict[_RunKey, deque[RunVerdict]] = defaultdict(deque)
    for verdict in verdicts:
        waiting[_key_of(verdict, verdict.identity.key)].append(verdict)
    for run in runs:
        found = waiting.get(_key_of(run, run.trajectory.key))
        yield run, found.popleft() if found else None
    left = [verdict for alike in waiting.values() for verdict in alike]
    if left:
        todo = "give the logs and the readers that were judged"
        raise InputError.at("verdicts", "each must be on a run of the logs", "/".join(left[0].identity.key), todo)


def _key_of(item: Run | RunVerdict, key: Key) -> _RunKey:
    return key, item.scenario, str(item.run), item.agent, item.variant
