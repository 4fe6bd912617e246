"""Minefields: what must never happen, and where it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prm.reach.judging.logic import Truth
from prm.reach.judging.patterns import act_keys
from prm.reach.judging.sweep import Swept
from prm.reach.judging.verdict import Evidence
from prm.reach.spec.model import Minefield, Spec


@dataclass(frozen=True, slots=True)
class MinefieldVerdict:
    """What became of one minefield.

    Attributes:
        hit: Whether it was hit; None = a missing result leaves it open.
        hits: The calls (or messages) that hit it, in order.
    """

    name: str
    hit: Truth
    hits: tuple[Evidence, ...] = ()


def minefield_verdicts(spec: Spec, swept: Swept) -> Mapping[str, MinefieldVerdict]:
    """The verdict on each minefield, in the spec's order."""
    return {name: _verdict(name, minefield, spec, swept) for name, minefield in spec.never.items()}


def _verdict(name: str, minefield: Minefield, spec: Spec, swept: Swept) -> MinefieldVerdict:
    found = list(_found(name, minefield, spec, swept))
    hits = sorted((evidence for truth, evidence in found if truth), key=lambda evidence: evidence.index)
    is_open = any(truth is None for truth, _ in found)
    return MinefieldVerdict(name, True if hits else None if is_open else False, tuple(hits))


def _found(name: str, minefield: Minefield, spec: Spec, swept: Swept) -> Iterator[tuple[Truth, Evidence]]:
    """Every call or message that hits it, or may."""
    what = minefield.title or name.replace("_", " ")
    hit: set[int] = set()
    for key in act_keys(f"never.{name}", minefield.acts):
        for ordinal, truth in swept.of(key).items():
            call = swept.run.calls[ordinal]
            if ordinal not in hit:
                yield truth, Evidence(call.batch, f"{call.tool}: {what}", call.id)
            if truth:
                hit.add(ordinal)
        for event in swept.speeches.get(key, ()):
            yield True, Evidence(event.index, f"said: {what}")
    if minefield.undeclared:
        yield from _undeclared(what, spec, swept)


def _undeclared(what: str, spec: Spec, swept: Swept) -> Iterator[tuple[Truth, Evidence]]:
    for call in swept.run.calls:
        if call.tool not in spec.tools:
            result = swept.run.results.get(call.id)
            truth = None if result is None else result.ok is not False
            if truth is not False:
                yield truth, Evidence(call.batch, f"{call.tool}: {what}", call.id)
