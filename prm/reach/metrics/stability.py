"""How alike the runs of one scenario turn out, with intervals: the `Stability` of anything that is yes or no."""

from __future__ import annotations

from collections import Counter

import numpy as np

from prm.reach.metrics.estimate import Estimate
from prm.reach.metrics.node_values import Ability, Stability, StabilityPoint
from prm.reach.metrics.repeats import MIN_RUNS, ability, all_of, any_of, flip_rate
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats

MAX_K = 32
"""The longest curve: nobody runs a scenario more often to see how stable it is."""

TOO_FEW = "no scenario has so many scorable runs"


def stability(values: Floats, means: ScenarioMeans) -> Later[Stability]:
    """The stability of what is 1, 0 or NaN (left out) in each run [N]."""
    known = ~np.isnan(values)
    runs = means.grouping.run_counts(known)
    successes = means.grouping.sums(values)
    max_k = int(min(MAX_K, runs.max(initial=1)))
    curve = _curve(successes, runs, max_k, len(values), means)
    flips = _estimate(flip_rate(successes, runs), runs, MIN_RUNS, len(values), means)
    repeats = Counter(int(count) for count in runs if count)
    abilities = Counter(kind for kind in abilities_of(values, means) if kind is not None)
    single = repeats.get(1, 0)
    return lambda: Stability(dict(sorted(repeats.items())), curve(), flips(), _all_kinds(abilities), single)


def abilities_of(values: Floats, means: ScenarioMeans) -> list[Ability | None]:
    """[S] the `ability` that the values [N] of each scenario's runs show."""
    runs, successes = means.grouping.run_counts(~np.isnan(values)), means.grouping.sums(values)
    return [ability(int(c), int(n)) for c, n in zip(successes, runs, strict=True)]


def _all_kinds(abilities: Counter[Ability]) -> dict[Ability, int]:
    kinds: tuple[Ability, ...] = ("bottleneck", "undetermined", "unstable", "stable")
    return {kind: abilities[kind] for kind in kinds}


def _curve(
    successes: Floats, runs: Floats, max_k: int, n_runs: int, means: ScenarioMeans
) -> Later[tuple[StabilityPoint, ...]]:
    every, some = all_of(successes, runs, max_k), any_of(successes, runs, max_k)
    points = [
        (k, _estimate(every[k - 1], runs, k, n_runs, means), _estimate(some[k - 1], runs, k, n_runs, means))
        for k in range(1, max_k + 1)
    ]
    return lambda: tuple(StabilityPoint(k, all_k(), any_k()) for k, all_k, any_k in points)


def _estimate(values: Floats, runs: Floats, at_least: int, n_runs: int, means: ScenarioMeans) -> Later[Estimate]:
    counted = int(runs[runs >= at_least].sum())
    return means.of_scenarios(values, counted, n_runs - counted, TOO_FEW)
