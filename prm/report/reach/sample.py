"""Which runs the page holds: all of a few, of many a sample that looks where runs fail most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prm.reach.judging.verdict import RunVerdict
from prm.report.reach.outcome import COVERED, broken_at

MAX_RUNS = 400
"""Runs in the viewer."""

_COVERED_SHARE = 0.1
"""How much of a sample shows runs without a fault, for comparison."""


def sampled(verdicts: Sequence[RunVerdict], wanted: Iterable[int] = (), most: int = MAX_RUNS) -> list[int]:
    """The numbers of the runs to show, ascending.

    Args:
        verdicts: N runs.
        wanted: Numbers of runs that must be among them (examples).
        most: At most so many are drawn, `wanted` included.

    Returns:
        All N where there is room. Otherwise nine in ten are runs that are not covered, in proportion to where their
        chain breaks, by agent and variant, and at least one of each kind as long as there is room.
    """
    if len(verdicts) <= most:
        return list(range(len(verdicts)))
    chosen = dict.fromkeys(sorted(set(wanted))[:most])
    failed, covered = _kinds(verdicts)
    room = most - len(chosen)
    for_covered = min(sum(map(len, covered.values())), round(room * _COVERED_SHARE))
    chosen |= dict.fromkeys(_proportional(failed, room - for_covered, chosen))
    chosen |= dict.fromkeys(_proportional(covered, for_covered, chosen))
    everything = [number for number in range(len(verdicts)) if number not in chosen]
    chosen |= dict.fromkeys(_spread(everything, most - len(chosen)))  # what rounding down has left
    return sorted(chosen)


_Kind = tuple[str, str, str]


def _kinds(verdicts: Sequence[RunVerdict]) -> tuple[dict[_Kind, list[int]], dict[_Kind, list[int]]]:
    """(agent, variant, where it breaks) → numbers of the runs; those that fail, and those that do not."""
    failed: dict[_Kind, list[int]] = {}
    covered: dict[_Kind, list[int]] = {}
    for number, verdict in enumerate(verdicts):
        broken = broken_at(verdict)
        kinds = covered if broken == COVERED else failed
        kinds.setdefault((verdict.agent, verdict.variant, broken), []).append(number)
    return failed, covered


def _proportional(kinds: Mapping[_Kind, Sequence[int]], room: int, taken: Mapping[int, None]) -> Iterator[int]:
    """At most `room` numbers: one of each kind, the largest first, then in proportion; spread over each kind's runs."""
    left = {kind: [n for n in numbers if n not in taken] for kind, numbers in kinds.items()}
    left = dict(sorted(left.items(), key=lambda item: (-len(item[1]), item[0])))
    total = sum(map(len, left.values()))
    firsts = dict.fromkeys([kind for kind, numbers in left.items() if numbers][:room], 1)
    rest = room - len(firsts)
    for kind, numbers in left.items():
        share = firsts.get(kind, 0) + int(rest * len(numbers) / max(1, total))
        yield from _spread(numbers, min(share, len(numbers)))


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """`count` of the numbers at equal distances."""
    return [numbers[k * len(numbers) // count] for k in range(count)]
