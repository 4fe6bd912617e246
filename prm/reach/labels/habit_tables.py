"""Tables of how the verdicts on scripted runs look, habit by habit, in Markdown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from prm.reach.judging.verdict import RunVerdict
from prm.reach.judging.wording import LETTERS
from prm.reach.labels.agreement_with_habits import Agreement, diagnosis_agreement, habit_agreement
from prm.types import Trajectory

Judged = Sequence[tuple[Trajectory, RunVerdict]]


def diagnosis_table(runs: Judged) -> str:
    """Precision and recall of each diagnosis over all runs."""
    rows = [(one.name, *_figures(one)) for one in diagnosis_agreement(runs)]
    return _table(("diagnosis", "known", "found", "precision", "recall"), rows)


def habit_table(runs: Judged) -> str:
    """For each habit the diagnosis that shows it: in how many of its runs it is known, found, and both."""
    rows = [(habit or "none (clean)", count, one.name, *_figures(one)) for habit, (count, one) in _habits(runs)]
    return _table(("habit", "runs", "diagnosis", "known", "found", "precision", "recall"), rows)


def verdict_table(runs: Judged) -> str:
    """For each habit the share of its runs that are covered, and its commonest verdicts (milestones in order)."""
    chains: defaultdict[str, Counter[str]] = defaultdict(Counter)
    covered: Counter[str] = Counter()
    for _, verdict in runs:
        habit = verdict.habit or ""
        chains[habit][" ".join(LETTERS[milestone.standing] for milestone in verdict.milestones)] += 1
        covered[habit] += verdict.covered is True
    rows = [
        (habit or "none (clean)", sum(seen.values()), f"{covered[habit] / sum(seen.values()):.0%}", _commonest(seen))
        for habit, seen in sorted(chains.items())
    ]
    return _table(("habit", "runs", "covered", "verdicts (runs)"), rows)


def _habits(runs: Judged) -> Iterable[tuple[str, tuple[int, Agreement]]]:
    agreement: Mapping[str, tuple[int, Agreement]] = habit_agreement(runs)
    return agreement.items()


def _figures(one: Agreement) -> tuple[object, ...]:
    return one.known, one.found, _share(one.precision), _share(one.recall)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _commonest(seen: Counter[str], count: int = 3) -> str:
    return " · ".join(f"{chain} ({number})" for chain, number in seen.most_common(count))


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
