"""All verdicts of one spec → the report, and an old set against a new one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from prm.errors import ConfigError, InputError
from prm.evaluation.intervals import check_resampling
from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.arm_report import arm_report
from prm.reach.metrics.arms import arm_rows, check_one_spec, check_verdicts, match_arms, pooled
from prm.reach.metrics.comparison import Sides, compare_sides, corrected_together
from prm.reach.metrics.comparison_values import SCHEMA as COMPARISON_SCHEMA
from prm.reach.metrics.comparison_values import Comparison, ComparisonFile
from prm.reach.metrics.estimate import Arm, Settings
from prm.reach.metrics.report_findings import report_findings
from prm.reach.metrics.report_values import SCHEMA, Report
from prm.reach.metrics.verdict_arrays import VerdictArrays, encode_verdicts
from prm.version import __version__

MAX_CAP = 10_000
MAX_ALL_PAIRS = 20
"""With more agents × variants, only those are compared that differ in the agent or in the variant alone."""


def check_settings(settings: Settings) -> None:
    """Raises ConfigError where a setting is out of range."""
    if not 1 <= settings.cap <= MAX_CAP:
        raise ConfigError.at("--cap", f"must be in 1 … {MAX_CAP}", settings.cap, "15 is the desk's cap")
    check_resampling(settings.bootstrap, settings.seed)


def build_report(verdicts: Sequence[RunVerdict], settings: Settings, where: str = "verdicts") -> Report:
    """Measures verdicts.

    Args:
        verdicts: Of one spec; any agents and variants.
        settings: Cap, draws and seed.
        where: Names them in an error.

    Raises:
        ConfigError: A setting is out of range.
        InputError: There is no verdict, or there are several specs.
        RecordError: A run comes twice.
    """
    check_settings(settings)
    check_verdicts(verdicts, where)
    arrays, rows = encode_verdicts(verdicts), arm_rows(verdicts)
    arms = tuple(arm_report(arm, arrays.subset(np.array(own)), settings) for arm, own in rows.items())
    comparisons = corrected_together([*_comparisons_inside(arrays, rows, settings)])
    return Report(
        schema=SCHEMA,
        prm_version=__version__,
        spec=verdicts[0].spec,
        spec_sha256=verdicts[0].spec_sha256,
        settings=settings,
        arms=arms,
        comparisons=comparisons,
        findings=report_findings(arms, comparisons),
        notes=dict(Counter(note for verdict in verdicts for note in dict.fromkeys(verdict.notes)).most_common()),
    )


def _comparisons_inside(
    arrays: VerdictArrays, rows: Mapping[Arm, Sequence[int]], settings: Settings
) -> Iterator[Comparison]:
    """Variants with all agents together first, then every two agents × variants that share scenarios."""
    for old, new, sides in (*_variants_together(rows), *_every_two(rows)):
        comparison = compare_sides(old, new, arrays, sides, settings)
        if comparison is not None:
            yield comparison


def _variants_together(rows: Mapping[Arm, Sequence[int]]) -> Iterator[tuple[Arm, Arm, Sides]]:
    variants = dict.fromkeys(arm.variant for arm in rows)
    for old, new in combinations(variants, 2):
        agents = [arm.agent for arm in rows if arm.variant == old and Arm(arm.agent, new) in rows]
        if len(agents) > 1:
            sides = [(rows[Arm(agent, old)], rows[Arm(agent, new)]) for agent in agents]
            yield pooled([Arm(a, old) for a in agents]), pooled([Arm(a, new) for a in agents]), sides


def _every_two(rows: Mapping[Arm, Sequence[int]]) -> Iterator[tuple[Arm, Arm, Sides]]:
    for old, new in combinations(rows, 2):
        alike = old.agent == new.agent or old.variant == new.variant
        if alike or len(rows) <= MAX_ALL_PAIRS:
            yield old, new, [(rows[old], rows[new])]


def compare_sets(old: Sequence[RunVerdict], new: Sequence[RunVerdict], settings: Settings) -> ComparisonFile:
    """An old set of verdicts against a new one: all matched agents × variants together, then each.

    Raises:
        ConfigError: A setting is out of range.
        InputError: A set is empty, the specs differ, or nothing in the two can be compared.
        RecordError: A run comes twice in one set.
    """
    check_settings(settings)
    check_verdicts(old, "OLD")
    check_verdicts(new, "NEW")
    check_one_spec([*old, *new], "OLD and NEW")
    olds = arm_rows(old)
    news = {arm: [row + len(old) for row in rows] for arm, rows in arm_rows(new).items()}
    matched = match_arms(olds, news)
    arrays = encode_verdicts([*old, *new])
    sides = [(olds[a], news[b]) for a, b in matched.pairs]
    asked = [(a, b, [side]) for (a, b), side in zip(matched.pairs, sides, strict=True)]
    if len(asked) > 1:
        together = pooled([a for a, _ in matched.pairs]), pooled([b for _, b in matched.pairs]), sides
        asked = [together, *asked]
    found = [compare_sides(a, b, arrays, side, settings) for a, b, side in asked]
    comparisons = [item for item in found if item is not None]
    if not comparisons:
        raise InputError.at("OLD and NEW", "must share scenarios", _shown(olds, news), "judge runs of the same ones")
    return ComparisonFile(
        schema=COMPARISON_SCHEMA,
        prm_version=__version__,
        spec=old[0].spec,
        spec_sha256=old[0].spec_sha256,
        settings=settings,
        comparisons=corrected_together(comparisons),
        unmatched_old=matched.unmatched_old,
        unmatched_new=matched.unmatched_new,
    )


def _shown(*sides: Mapping[Arm, Sequence[int]]) -> str:
    return " against ".join(", ".join(arm.name for arm in side) for side in sides)
