"""What to read first of a whole report: who gets how far, what holds them up, and what makes a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from prm.reach.metrics.comparison_findings import difference_words
from prm.reach.metrics.comparison_values import Comparison
from prm.reach.metrics.estimate import ALL
from prm.reach.metrics.report_values import ArmReport
from prm.reach.metrics.words import counted

MAX_ARMS = 3
"""Of so many the first findings are repeated; of more only the best and the worst are."""

FINDINGS_OF_ARM = 2
MAX_COMPARISONS = 5


def report_findings(arms: Sequence[ArmReport], comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """The findings of a report."""
    able = tuple(islice(_capability(comparisons), MAX_COMPARISONS))
    return (*_of_arms(arms), *_of_comparisons(comparisons), *able, *([] if able else _undetermined(arms)))


def _of_arms(arms: Sequence[ArmReport]) -> Iterator[str]:
    shown = arms
    if len(arms) > MAX_ARMS:
        known = [arm for arm in arms if arm.reach.value is not None] or list(arms[:1])
        ordered = sorted(known, key=lambda arm: -(arm.reach.value or 0.0))
        yield f"{len(arms)} agents × variants; the best and the worst by reach:"
        shown = [ordered[0], ordered[-1]]
    for arm in shown:
        yield from (f"{arm.arm.name}: {finding}" for finding in arm.findings[:FINDINGS_OF_ARM])


def _capability(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Milestones that one and the same agent reaches more often when told otherwise: so it is able to."""
    for comparison in (item for item in comparisons if item.old.agent == item.new.agent):
        for verdict, able, other in (
            ("better", comparison.new, comparison.old),
            ("worse", comparison.old, comparison.new),
        ):
            names = [change.name for change in comparison.milestones if change.held.verdict == verdict]
            if names:
                who = "all agents together" if able.agent == ALL else able.agent
                more = f"under {able.variant} more often than under {other.variant}"
                yield f"{who} can get past {', '.join(names)}: {more}"


def _undetermined(arms: Sequence[ArmReport]) -> Iterator[str]:
    """That a miss alone does not show a lack of ability: only a variant under which it goes better could tell."""
    if any(node.reached.value is not None and node.reached.value < 1 for arm in arms for node in arm.nodes):
        told_otherwise = len({arm.arm.variant for arm in arms}) > 1
        no_help = "at no single milestone does a variant help beyond chance"
        why = no_help if told_otherwise else "only one variant was run"
        yield f"whether a milestone is missed for want of ability is undetermined: {why}"


def _of_comparisons(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The differences in reach beyond chance, those of one agent under two variants first."""
    alike = [item for item in comparisons if item.old.agent == item.new.agent or item.old.variant == item.new.variant]
    moved = [item for item in alike if item.metrics["reach"].verdict in ("better", "worse")]
    moved.sort(key=lambda item: item.old.agent != item.new.agent)
    for item in moved[:MAX_COMPARISONS]:
        yield f"{item.new.name} against {item.old.name}: reach {difference_words(item.metrics['reach'])}"
    if len(moved) > MAX_COMPARISONS:
        yield f"{len(moved) - MAX_COMPARISONS} more differences in reach beyond chance are in the tables"
    if alike and not moved:
        yield f"of {counted(len(alike), 'comparison')} none shows a difference in reach beyond chance"
