"""Acts (drafts and writes) that were decided wrongly: against a known fact, without one, or as no milestone allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.logic import Truth
from prm.reach.judging.milestones import source_tools
from prm.reach.judging.patterns import act_keys, decisions
from prm.reach.judging.verdict import Evidence
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.fault import Fault
from prm.reach.log.run import ToolCall
from prm.reach.spec.conditions import CallPattern, FactTerm
from prm.reach.spec.model import Spec
from prm.reach.spec.references import fact_names


@dataclass(frozen=True, slots=True)
class _Demand:
    """What a fact demands for a milestone.

    Attributes:
        tools, keys: One of the calls that match these patterns, of these tools.
        answered_by: The tools that tell of the fact.
    """

    fact: FactTerm
    tools: frozenset[str]
    keys: tuple[str, ...]
    answered_by: frozenset[str]


class DecisionFaults:
    """Finds them in one run."""

    def __init__(self, judged: JudgedRun, roles: CallRoles) -> None:
        self._judged, self._roles = judged, roles
        self._demands = _demands(judged.spec)
        self._milestones = {verdict.name: verdict for verdict in judged.milestones}
        self._soundly_asked: dict[str, int] = {}
        spec = judged.spec
        self._holding_back = (*act_keys("questions", spec.questions), *act_keys("refusals", spec.refusals))

    def of_call(self, call: ToolCall) -> Iterator[Fault]:
        """The faults of one call; a read has none."""
        if self._judged.effect(call) in ("pure", "write"):
            yield from self._wrong_branch(call)
            if self._judged.succeeded(call):
                yield from self._called_wrong(call)
                yield from self._blind_decision(call)

    def note_sound(self, call: ToolCall) -> None:
        """A call went through with nothing wrong about it: what its tool can tell may be known from now on."""
        self._soundly_asked.setdefault(call.tool, call.batch)

    def _wrong_branch(self, call: ToolCall) -> Iterator[Fault]:
        """A known fact demanded one use of the tool, nothing had met the demand yet, and this is another use."""
        for milestone, demands in self._demands.items():
            known = [demand for demand in demands if self._is_known(demand, call) is True]
            is_meant = any(call.tool in demand.tools for demand in known)
            if is_meant and self._is_unmet(milestone, call) and not any(self._is_met(d, call) for d in known):
                yield self._against(call, known)
                return

    def _is_unmet(self, milestone: str, call: ToolCall) -> bool:
        """Whether a milestone applies and had not been reached before this call."""
        verdict = self._milestones[milestone]
        if verdict.standing in ("n/a", "unscorable"):
            return False
        return verdict.reached is None or verdict.reached.batch >= call.batch

    def _against(self, call: ToolCall, known: Sequence[_Demand]) -> Fault:
        names = list(dict.fromkeys(name for demand in known for name in fact_names(demand.fact)))
        why = f"{' and '.join(names)} was known and demands otherwise"
        answers = [self._judged.swept.facts.answer_at(name, call.batch) for name in names]
        evidence = tuple(
            Evidence(call.batch, why, call.id, source_index=answer.index, source_call_id=answer.call_id)
            for answer in answers
            if answer is not None and answer.state == "true"
        )
        return Fault("wrong_branch", why, evidence)

    def _blind_decision(self, call: ToolCall) -> Iterator[Fault]:
        """It is what some fact would demand, nothing said so, and what would have told was never found out.

        Asking and refusing need no fact.
        """
        if any(call.ordinal in self._judged.swept.of(key) for key in self._holding_back):
            return
        every = (demand for demands in self._demands.values() for demand in demands)
        if any(self._is_known(demand, call) is not False and self._is_met(demand, call) for demand in every):
            return
        for milestone, demands in self._demands.items():
            verdict = self._milestones[milestone]
            if not verdict.required or verdict.standing not in ("missed", "touched"):
                continue
            met = [demand for demand in demands if self._is_met(demand, call)]
            if met and not any(self._may_be_known(demand, call) for demand in met):
                names = ", ".join(dict.fromkeys(name for demand in met for name in fact_names(demand.fact)))
                why = f"decided without finding out: {names}"
                yield Fault("blind_decision", why, (Evidence(call.batch, why, call.id),))
                return

    def _is_known(self, demand: _Demand, call: ToolCall) -> Truth:
        """Whether the fact was known to be true; None where a missing result leaves it open."""
        return self._judged.swept.facts.truth(demand.fact, call.batch)

    def _may_be_known(self, demand: _Demand, call: ToolCall) -> bool:
        """Whether what would tell was asked on sound grounds before, even if not as the spec's patterns have it."""
        if self._is_known(demand, call) is not False:
            return True
        return any(self._soundly_asked.get(tool, call.batch) < call.batch for tool in demand.answered_by)

    def _is_met(self, demand: _Demand, call: ToolCall) -> bool:
        """Whether the call is (or may be) one that the fact demands."""
        return any(call.ordinal in self._judged.swept.of(key) for key in demand.keys)

    def _called_wrong(self, call: ToolCall) -> Iterator[Fault]:
        """It went through, its tool is that of a milestone, and it is the source of none."""
        if self._roles.is_off(call):
            why = f"{call.tool} was called in a way that no milestone allows"
            yield Fault("called_wrong", why, (Evidence(call.batch, self._failure(call) or why, call.id),))

    def _failure(self, call: ToolCall) -> str:
        """What of the call no milestone allows, in words."""
        for of_way in self._judged.swept.failures.values():
            if call.ordinal in of_way:
                return f"{call.tool}: {of_way[call.ordinal]}"
        return ""


def _demands(spec: Spec) -> dict[str, list[_Demand]]:
    """Milestone → what its facts demand in the way of calls."""
    found: dict[str, list[_Demand]] = {}
    for prefix, decides in decisions(spec):
        acts = spec.acts(decides.demands)
        tools = frozenset(t for act in acts if isinstance(act, CallPattern) for t in source_tools(spec, act))
        demand = _Demand(decides.fact, tools, act_keys(prefix, acts), _answered_by(spec, decides.fact))
        found.setdefault(prefix.partition("/")[0], []).append(demand)
    return found


def _answered_by(spec: Spec, term: FactTerm) -> frozenset[str]:
    answers = (spec.facts[name].of for name in fact_names(term))
    return frozenset(tool for of in answers if of is not None for tool in source_tools(spec, of))
