"""What to read first of a comparison, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from prm.reach.metrics.comparison_values import Comparison, MilestoneChange, PairedDifference
from prm.reach.metrics.words import counted, p_words, percent, points, shortened

MAX_NAMED = 5
"""How many scenarios that are not compared are named in a sentence."""

MAX_SOURCES = 3
"""How many milestones a change is said to come from."""

_METRIC_WORDS = {
    "reach": "reach of the required milestones",
    "covered": "runs that reach all and hit no minefield",
    "final_success": "runs that end in the right state",
}


def comparison_findings(comparison: Comparison) -> tuple[str, ...]:
    """The findings of one comparison, the most important first."""
    return (
        *_metrics(comparison),
        *_source(comparison),
        *_moved(comparison),
        *([] if comparison.next_change is None else [comparison.next_change.words]),
        *_not_compared(comparison),
    )


def _metrics(comparison: Comparison) -> Iterator[str]:
    for metric, words in _METRIC_WORDS.items():
        difference = comparison.metrics[metric]
        if difference.difference is not None:
            yield f"{words}: {difference_words(difference)}"


def difference_words(difference: PairedDifference) -> str:
    """``41 % → 80 %, +39.0 points (95 % interval +25.0 to +52.0), p = 0.002 over 40 scenarios: better``."""
    if difference.difference is None or difference.p_value is None:
        return "not comparable"
    interval = ""
    if difference.ci95 is not None:
        low, high = (f"{100 * bound:+.1f}".replace("-", "−") for bound in difference.ci95)
        interval = f" (95 % interval {low} to {high})"
    p_value = difference.p_value if difference.p_holm is None else difference.p_holm
    text = f"{percent(difference.old)} → {percent(difference.new)}, {points(difference.difference)}{interval}"
    verdict = "" if difference.verdict is None else f": {difference.verdict}"
    return f"{text}, {p_words(p_value)} over {counted(difference.pairs, 'scenario')}{verdict}"


def _source(comparison: Comparison) -> Iterator[str]:
    """The milestones that a change comes from: where the chain breaks less often, or more often, than before."""
    broke = [change for change in comparison.milestones if change.held.verdict in ("better", "worse")]
    for verdict, often in (("better", "less"), ("worse", "more")):
        found = [change for change in broke if change.held.verdict == verdict]
        found.sort(key=lambda change: -abs(change.held.difference or 0.0))
        if found:
            shares = ", ".join(_broken_words(change) for change in found[:MAX_SOURCES])
            yield f"the change comes from where the chain breaks {often} often: {shares}"


def _broken_words(change: MilestoneChange) -> str:
    """``M1 (15 % → 4 % of runs)``."""
    old, new = (1 - (share or 0.0) for share in (change.held.old, change.held.new))
    return f"{change.name} ({percent(old)} → {percent(new)} of runs)"


def _moved(comparison: Comparison) -> Iterator[str]:
    moved = [change for change in comparison.milestones if change.reached.verdict in ("better", "worse")]
    if not moved:
        yield "no milestone moved by more than chance would"
    for change in sorted(moved, key=_size):
        yield f"{change.name} moved: {difference_words(change.reached)}{_touch_words(change)}"


def _size(change: MilestoneChange) -> float:
    return -abs(change.reached.difference or 0.0)


def _touch_words(change: MilestoneChange) -> str:
    """Whether the tool is called more often, or its return used more often."""
    touched, reached = change.touched.difference, change.reached.difference
    if touched is None or not reached:
        return ""
    by_calls = abs(touched) > abs(reached) / 2 and (touched > 0) == (reached > 0)
    more = "more" if reached > 0 else "less"
    what = f"its tool is called {more} often" if by_calls else f"what its tool returns is used {more} often"
    return f"; {what} (touched {points(touched)})"


def _not_compared(comparison: Comparison) -> Iterator[str]:
    for words, names in (
        ("only on the old side", comparison.only_old),
        ("only on the new side", comparison.only_new),
        ("on both sides with different seeds", comparison.other_seed),
    ):
        if names:
            more = "" if len(names) <= MAX_NAMED else f" and {len(names) - MAX_NAMED} more"
            named = ", ".join(shortened(name) for name in names[:MAX_NAMED])
            yield f"not compared, {words}: {counted(len(names), 'scenario')} ({named}{more})"
