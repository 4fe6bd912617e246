"""What became of a run, in one word each: where its chain breaks, and under which name the page knows it."""

from __future__ import annotations

from collections.abc import Sequence

from prm.reach.judging.verdict import MilestoneVerdict, RunVerdict
from prm.reach.log.run import Run

OPEN = frozenset({"missed", "touched"})
_PASSED = frozenset({"reached", "n/a"})

COVERED, MINEFIELD, UNKNOWN = "", "\0minefield", "\0unknown"
"""What stands instead of a milestone: none is open; none is open, but a minefield was hit; the log does not say."""


def broken_at(verdict: RunVerdict) -> str:
    """The milestone at which the chain breaks first: required, open, and all that comes before it is passed.

    Of several, the first in the spec's order; see `COVERED`, `MINEFIELD` and `UNKNOWN` for runs without one.
    """
    stands = verdict.by_name
    for one in verdict.milestones:
        if one.required and one.standing in OPEN and all(_is_passed(stands.get(name)) for name in one.after):
            return one.name
    if any(one.required and one.standing not in _PASSED for one in verdict.milestones):
        return UNKNOWN
    return MINEFIELD if any(verdict.minefields.values()) else COVERED


def _is_passed(one: MilestoneVerdict | None) -> bool:
    return one is None or one.standing in _PASSED or not one.required


def run_names(verdicts: Sequence[RunVerdict]) -> list[str]:
    """A name for each run that no other has: its key, with a number where it stands twice."""
    seen: dict[str, int] = {}
    names = []
    for verdict in verdicts:
        name = ":".join(verdict.identity.key[1:] if verdict.identity.id is not None else verdict.identity.key)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def log_key(of: RunVerdict | Run) -> tuple[str, ...]:
    """What a verdict and its log share; under several variants a scenario's runs have the same key."""
    identity = of.trajectory.identity if isinstance(of, Run) else of.identity
    return (of.agent, of.variant, *identity.key)
