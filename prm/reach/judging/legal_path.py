"""The calls of a run that a shortest legal path needs; what is legal beyond them is a detour.

On the path are: source and use of every reached milestone; the named calls that a milestone `supports`, once each;
the calls that gave an argument of a call on the path; questions about missing information; and the first success of a
call that an outside failure (a time-out, a cut answer) had kept from succeeding. Of several calls that took a
value, the one that a milestone names is not needed if another is on the path anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prm.reach.judging.edges import with_givers
from prm.reach.judging.patterns import question_keys
from prm.reach.judging.sweep import Swept
from prm.reach.judging.verdict import MilestoneVerdict
from prm.reach.log.run import ToolCall
from prm.reach.spec.model import Spec


def legal_path(spec: Spec, swept: Swept, milestones: Iterable[MilestoneVerdict]) -> frozenset[str]:
    """The ids of the calls on the path."""
    milestones = tuple(milestones)
    firm = set(_sources(swept, milestones)) | set(_supports(spec, swept, milestones)) | set(_questions(spec, swept))
    calls = swept.run.calls_by_id
    path = with_givers(firm | set(_acts(milestones)), swept.leaves, calls, _wrong_calls(swept, milestones))
    for milestone in milestones:
        # Whoever took the value first, it is on the path only if no other call on it takes the value too.
        if milestone.used == "flow" and path.isdisjoint(_takers(swept, milestone)):
            used_by = {evidence.call_id for evidence in milestone.evidence[1:] if evidence.call_id is not None}
            path |= with_givers(used_by, swept.leaves, calls)
    return path


def _wrong_calls(swept: Swept, milestones: Iterable[MilestoneVerdict]) -> set[str]:
    """The calls that milestones stayed open with: what led to them led astray."""
    return {
        swept.run.calls[milestone.touched.call].id
        for milestone in milestones
        if milestone.reason == "called_wrong" and milestone.source is None and milestone.touched is not None
    }


def _sources(swept: Swept, milestones: Iterable[MilestoneVerdict]) -> Iterator[str]:
    for milestone in milestones:
        if milestone.standing == "reached" and milestone.source is not None:
            yield swept.run.calls[milestone.source.call].id


def _acts(milestones: Iterable[MilestoneVerdict]) -> Iterator[str]:
    """The calls by which a decision was acted on, and what else proves a use that is no flow."""
    for milestone in milestones:
        if milestone.standing == "reached" and milestone.used != "flow":
            yield from (evidence.call_id for evidence in milestone.evidence if evidence.call_id is not None)


def _takers(swept: Swept, milestone: MilestoneVerdict) -> Iterator[str]:
    """The calls that took a value of a milestone's source."""
    source = milestone.evidence[0].call_id if milestone.evidence else None
    for call_id, leaves in swept.leaves.items():
        if call_id != source and any(s.call_id == source and not s.echo for leaf in leaves for s in leaf.sources):
            yield call_id


def _supports(spec: Spec, swept: Swept, milestones: Iterable[MilestoneVerdict]) -> Iterator[str]:
    for milestone in milestones:
        if milestone.standing == "reached":
            for name in spec.milestones[milestone.name].supports:
                yield from (call.id for call in _once_each(swept.certain(f"call:{name}")))


def _questions(spec: Spec, swept: Swept) -> Iterator[str]:
    """Questions asked while a piece of information was known to be missing, once each."""
    for name, information in spec.information.items():
        for key in question_keys(name, information, spec):
            asked = [call for call in swept.certain(key) if swept.facts.truth(name, call.batch) is True]
            yield from (call.id for call in _once_each(asked))


def _once_each(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    seen: set[str] = set()
    for call in calls:
        if call.raw not in seen:
            seen.add(call.raw)
            yield call
