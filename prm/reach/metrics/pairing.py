"""Which runs of an old and a new side are set against each other: those of the same scenarios and seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.verdict_arrays import Floats, Grouping, Ints, VerdictArrays, group_runs, ratio


@dataclass(frozen=True, eq=False)
class Paired:
    """The runs of both sides that can be compared.

    A *unit* is one scenario in one pair of agents × variants; where several pairs are compared together, a scenario
    has several units, and their mean.

    Attributes:
        old, new: The runs' positions.
        old_unit, new_unit: Their units.
        grouping: Of the units: scenarios and templates.
        only_old, only_new, other_seed: Scenarios that are not compared.
    """

    old: Ints
    new: Ints
    old_unit: Ints
    new_unit: Ints
    grouping: Grouping
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    other_seed: tuple[str, ...]

    def differences(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Per-scenario means of per-run values [N, C] on the old side, on the new side, and new − old, each [S, C].

        Only units with a value on both sides count.
        """
        columns = [self._column(values[:, column]) for column in range(values.shape[1])]
        old, new, difference = (np.column_stack(side) for side in zip(*columns, strict=True))
        return old, new, difference

    def _column(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        n_units = len(self.grouping.scenario)
        old = _unit_means(values[self.old], self.old_unit, n_units)
        new = _unit_means(values[self.new], self.new_unit, n_units)
        both = ~np.isnan(old) & ~np.isnan(new)
        old, new = np.where(both, old, np.nan), np.where(both, new, np.nan)
        return self.grouping.means(old), self.grouping.means(new), self.grouping.means(new - old)


def _unit_means(values: Floats, unit: Ints, n_units: int) -> Floats:
    known = ~np.isnan(values)
    counts = np.bincount(unit[known], minlength=n_units).astype(np.float64)
    return ratio(np.bincount(unit[known], values[known], n_units).astype(np.float64), counts)


def pair_runs(arrays: VerdictArrays, sides: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Paired:
    """The comparable runs of one or more pairs of sides, given as positions of (old, new) runs in `arrays`.

    A scenario that both sides have counts unless each has it under one seed, and not the same one.
    """
    rows: dict[str, list[int]] = {"old": [], "new": [], "old_unit": [], "new_unit": []}
    scenarios: list[str] = []
    templates: list[str] = []
    left: dict[str, set[str]] = {"only_old": set(), "only_new": set(), "other_seed": set()}
    for old, new in sides:
        olds, news = _by_scenario(arrays.verdicts, old), _by_scenario(arrays.verdicts, new)
        left["only_old"] |= olds.keys() - news.keys()
        left["only_new"] |= news.keys() - olds.keys()
        for scenario in (name for name in olds if name in news):
            if _other_seed(arrays.verdicts, olds[scenario], news[scenario]):
                left["other_seed"].add(scenario)
                continue
            for side, found in (("old", olds[scenario]), ("new", news[scenario])):
                rows[side] += found
                rows[f"{side}_unit"] += [len(scenarios)] * len(found)
            scenarios.append(scenario)
            templates.append(arrays.verdicts[olds[scenario][0]].template)
    grouping = group_runs(scenarios, templates)
    only_old, only_new, other_seed = (tuple(sorted(names - set(scenarios))) for names in left.values())
    old_rows, new_rows, old_unit, new_unit = (np.array(found, dtype=np.int64) for found in rows.values())
    return Paired(old_rows, new_rows, old_unit, new_unit, grouping, only_old, only_new, other_seed)


def _by_scenario(verdicts: Sequence[RunVerdict], rows: Iterable[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[verdicts[row].scenario].append(row)
    return found


def _other_seed(verdicts: Sequence[RunVerdict], old: Sequence[int], new: Sequence[int]) -> bool:
    seeds = [{verdicts[row].seed for row in rows} for rows in (old, new)]
    return all(len(found) == 1 and None not in found for found in seeds) and seeds[0] != seeds[1]
