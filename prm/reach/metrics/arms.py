"""Verdicts sorted by agent × variant, and which of two sets belong together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from prm.errors import InputError, RecordError
from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.estimate import ALL, Arm
from prm.types import Key


def arm_rows(verdicts: Sequence[RunVerdict]) -> dict[Arm, list[int]]:
    """Agent × variant → the positions of its verdicts; ordered by name."""
    rows: dict[Arm, list[int]] = defaultdict(list)
    for row, verdict in enumerate(verdicts):
        rows[Arm(verdict.agent, verdict.variant)].append(row)
    return {arm: rows[arm] for arm in sorted(rows, key=lambda arm: (arm.agent, arm.variant))}


def check_verdicts(verdicts: Sequence[RunVerdict], where: str) -> None:
    """Refuses verdicts that cannot be measured together.

    Raises:
        InputError: There is none, or they were judged by different specs.
        RecordError: A run comes twice.
    """
    if not verdicts:
        raise InputError.at(where, "must hold at least one verdict", 0, "judge a log first")
    check_one_spec(verdicts, where)
    check_runs([(Arm(v.agent, v.variant), v.scenario, v.run, v.identity.key) for v in verdicts], where)


def check_runs(runs: Sequence[tuple[Arm, str, int | str, Key]], where: str) -> None:
    """Raises RecordError where a run, as (whose, scenario, repeat, key), comes twice: it would count as a repeat."""
    for (arm, scenario, number, _), times in Counter(runs).most_common(1):
        if times > 1:
            got = f"{times} times run {number} of {scenario} by {arm.name}"
            raise RecordError.at(where, "a run must come once", got, "give each file once, or name the agents apart")


def check_one_spec(verdicts: Sequence[RunVerdict], where: str) -> None:
    """Raises InputError where not all were judged by the same spec: its milestones would not mean the same."""
    specs = dict.fromkeys((verdict.spec, verdict.spec_sha256) for verdict in verdicts)
    if len(specs) > 1:
        shown = [f"{name} ({sha256[:12]})" for name, sha256 in specs]
        raise InputError.at(where, "all verdicts must be by one spec", shown, "judge every log by the same spec")


@dataclass(frozen=True, slots=True)
class Matched:
    """Which agents × variants are set against each other, and which have no counterpart."""

    pairs: tuple[tuple[Arm, Arm], ...]
    unmatched_old: tuple[Arm, ...]
    unmatched_new: tuple[Arm, ...]


def match_arms(old: Collection[Arm], new: Collection[Arm]) -> Matched:
    """The pairs of an old and a new set.

    One against one are a pair, whatever their names. Else the same agent under the same variant is a pair; of the
    rest, the same agent, where each set has it under one variant; then the same variant, where each set has one
    agent under it.
    """
    if len(old) == len(new) == 1:
        return Matched(((next(iter(old)), next(iter(new))),), (), ())
    pairs = [(arm, arm) for arm in old if arm in new]
    left_old, left_new = [arm for arm in old if arm not in new], [arm for arm in new if arm not in old]
    for key in ("agent", "variant"):
        found = _pairs_by(key, left_old, left_new)
        pairs += found
        left_old = [arm for arm in left_old if arm not in {pair[0] for pair in found}]
        left_new = [arm for arm in left_new if arm not in {pair[1] for pair in found}]
    return Matched(tuple(pairs), tuple(left_old), tuple(left_new))


def _pairs_by(key: str, old: Sequence[Arm], new: Sequence[Arm]) -> list[tuple[Arm, Arm]]:
    """The pairs that share a name which stands once on each side."""
    olds, news = (dict(_once(key, arms)) for arms in (old, new))
    return [(arm, news[name]) for name, arm in olds.items() if name in news]


def _once(key: str, arms: Sequence[Arm]) -> list[tuple[str, Arm]]:
    counts = Counter(getattr(arm, key) for arm in arms)
    return [(getattr(arm, key), arm) for arm in arms if counts[getattr(arm, key)] == 1]


def pooled(arms: Collection[Arm]) -> Arm:
    """The name of several agents × variants together: `ALL` where they differ."""
    agents, variants = {arm.agent for arm in arms}, {arm.variant for arm in arms}
    return Arm(agents.pop() if len(agents) == 1 else ALL, variants.pop() if len(variants) == 1 else ALL)
