"""Why a run went as it did: every family of diagnoses, in the order of the log. Nothing is accused from absence."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prm.reach.judging.detours import detours
from prm.reach.judging.fabrications import fabrications
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.loops import loops
from prm.reach.judging.plans import plan_contradictions
from prm.reach.judging.recoveries import recoveries
from prm.reach.judging.stops import open_milestones, premature_stops
from prm.reach.judging.verdict import Diagnosis

Family = Callable[[JudgedRun], Iterator[Diagnosis]]


def minefield_hits(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each hit of each minefield."""
    for name, verdict in judged.minefields.items():
        for hit in verdict.hits:
            yield Diagnosis("minefield", hit.index, hit.call_id, name, evidence=(hit,))


FAMILIES: tuple[Family, ...] = (
    minefield_hits,
    fabrications,
    plan_contradictions,
    loops,
    detours,
    recoveries,
    open_milestones,
    premature_stops,
)


def diagnose(judged: JudgedRun) -> tuple[Diagnosis, ...]:
    """Every diagnosis of a run, in the order of the log."""
    found = [diagnosis for family in FAMILIES for diagnosis in family(judged)]
    ordinals = {call.id: call.ordinal for call in judged.run.calls}
    return tuple(sorted(found, key=lambda one: (one.batch, ordinals.get(one.call_id or "", len(ordinals)))))
