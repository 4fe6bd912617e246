"""Drawing runs for a person to label: a share of the runs and enough steps, stratified by rule and label.

Whole runs are drawn, since a step is judged in its run. A run's *stratum* is the rarest (rule, label) among its
steps, so that rules that seldom fire are looked at too. The draw depends on the runs and the seed alone.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from prm.data.split import draw
from prm.errors import ConfigError
from prm.reach.labels.records import rule_of
from prm.types import Key, StepLabel, Trajectory

Stratum = tuple[str, StepLabel | None]
"""A rule and the label that it gave."""

DEFAULT_SHARE = 0.2
DEFAULT_MIN_STEPS = 100


def draw_sample(
    runs: Sequence[Trajectory],
    *,
    share: float = DEFAULT_SHARE,
    min_steps: int = DEFAULT_MIN_STEPS,
    seed: int = 0,
) -> list[Trajectory]:
    """At least `share` of the runs of every stratum, and at least `min_steps` steps if there are as many.

    Args:
        runs: Labelled by rules, with distinct keys.
        share: Of the runs, in (0, 1]; every stratum gives at least one run.
        min_steps: Steps to draw at least; the runs that are added for it come from the stratum least drawn from.
        seed: Draws the runs and their order.

    Returns:
        The runs in an order that says nothing of their labels.

    Raises:
        ConfigError: An option is out of range, or there is no run.
    """
    _check(runs, share, min_steps, seed)
    members = _shuffled_strata(runs, seed)
    taken = _allocate(members, share, min_steps)
    drawn = [run for stratum, found in members.items() for run in found[: taken[stratum]]]
    return sorted(drawn, key=lambda run: draw(_name(run.key), seed + 1))


def strata_of(runs: Sequence[Trajectory]) -> Mapping[Key, Stratum]:
    """Each run's stratum: of the (rule, label) pairs of its steps the one with the fewest steps in all runs."""
    counts = Counter(pair for run in runs for pair in _pairs(run))
    return {run.key: min(_pairs(run), key=lambda pair: (counts[pair], str(pair)), default=("", None)) for run in runs}


def _pairs(run: Trajectory) -> list[Stratum]:
    return [(rule_of(run, index), label) for index, label in run.step_labels.items()]


def _shuffled_strata(runs: Sequence[Trajectory], seed: int) -> dict[Stratum, list[Trajectory]]:
    strata = strata_of(runs)
    members: dict[Stratum, list[Trajectory]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: draw(_name(run.key), seed)):
        members[strata[run.key]].append(run)
    return dict(sorted(members.items(), key=lambda item: str(item[0])))


def _allocate(members: Mapping[Stratum, Sequence[Trajectory]], share: float, min_steps: int) -> dict[Stratum, int]:
    """How many runs of each stratum to take."""
    taken = {stratum: math.ceil(share * len(found)) for stratum, found in members.items()}
    steps = sum(len(run.step_labels) for stratum, found in members.items() for run in found[: taken[stratum]])
    # A heap of the strata that have runs left, the least drawn from first.
    left = [(taken[s] / len(found), str(s), s) for s, found in members.items() if taken[s] < len(found)]
    heapq.heapify(left)
    while steps < min_steps and left:
        _, name, stratum = heapq.heappop(left)
        found = members[stratum]
        steps += len(found[taken[stratum]].step_labels)
        taken[stratum] += 1
        if taken[stratum] < len(found):
            heapq.heappush(left, (taken[stratum] / len(found), name, stratum))
    return taken


def _name(key: Key) -> str:
    return "\x1f".join(key)


def _check(runs: Sequence[Trajectory], share: float, min_steps: int, seed: int) -> None:
    if not runs:
        raise ConfigError.at("prm reach sample", "there must be runs to draw from", 0, "give a file that has some")
    if not 0 < share <= 1:
        raise ConfigError.at("--share", "must be above 0 and at most 1", share, "0.2 is the usual share")
    if min_steps < 0:
        raise ConfigError.at("--min-steps", "must be 0 or more", min_steps, "give a whole number")
    if seed < 0:
        raise ConfigError.at("--seed", "must be 0 or more", seed, "give a whole number")
