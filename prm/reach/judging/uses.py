"""Whether what a call returned was used: moved into a later call, decided on, or shown. For each form, when first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prm.reach.judging.edges import covers, edges_of, is_target
from prm.reach.judging.json_leaves import leaves_of, path_text
from prm.reach.judging.logic import Truth
from prm.reach.judging.low_information import is_low_information
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.patterns import SpecPatterns, act_keys
from prm.reach.judging.provenance_records import Leaf, Source
from prm.reach.judging.spoken_texts import SpokenTexts
from prm.reach.judging.sweep import Swept
from prm.reach.judging.values import says, values_at
from prm.reach.judging.verdict import Evidence, Moment
from prm.reach.judging.wording import shown
from prm.reach.log.run import Event, ToolCall
from prm.reach.spec.conditions import FactTerm
from prm.reach.spec.model import DecidesUse, FlowUse, SaidUse, Spec, Use
from prm.reach.spec.references import fact_names


@dataclass(frozen=True, slots=True)
class Used:
    """The first use of one call's result.

    Attributes:
        truth: Whether there is one; None = unknown.
        form: flow, decides, said or final.
        moment: When, where there is one.
        call_id: The call that used it, where a call did.
        evidence: What proves it.
    """

    truth: Truth
    form: str = ""
    moment: Moment | None = None
    call_id: str | None = None
    evidence: tuple[Evidence, ...] = ()


UNUSED, UNKNOWN_USE = Used(False), Used(None)


class Uses:
    """Finds uses in one run; what several sources ask for is worked out once."""

    def __init__(self, spec: Spec, patterns: SpecPatterns, swept: Swept) -> None:
        self._spec, self._patterns, self._swept = spec, patterns, swept
        self._edges = edges_of(swept.leaves)
        self._acts: dict[str, _Acts] = {}
        self._last_open: dict[str, int] = {}
        self._texts = SpokenTexts(swept.run.batches)

    def first_use(self, use: Use, key: str, source: ToolCall) -> Used:
        """The first use of `source` in one form.

        Args:
            use: The form.
            key: ``NAME/WAY/USE``, which tells it from all other uses of the spec.
            source: The call whose result is to be used.
        """
        if use.final:
            return Used(True, "final", Moment(source.batch, source.ordinal), source.id)
        if source.id not in self._swept.run.results:
            return UNKNOWN_USE
        if use.flow is not None:
            return self._flow(use.flow, key, source)
        if use.decides is not None:
            return self._decides(use.decides, key, source)
        return UNUSED if use.said is None else self._said(use.said, source)

    # Flow

    def _flow(self, flow: FlowUse, key: str, source: ToolCall) -> Used:
        is_open = self._swept.run.results[source.id].incomplete or source.batch < self._last_open_batch(flow, key)
        paths = [_keys(path) for path in flow.source]
        for leaf, place in self._edges.get(source.id, ()):
            if not is_target(flow.to, leaf) or not any(covers(path, place.path) for path in paths):
                continue
            taker = self._swept.run.calls_by_id[leaf.call_id]
            takes: Truth = True if flow.where is None else self._swept.of(f"flow:{key}").get(taker.ordinal, False)
            if takes:
                moment = Moment(taker.batch, taker.ordinal)
                return Used(True, "flow", moment, taker.id, (_flow_evidence(leaf, place),))
            is_open = is_open or takes is None
        return UNKNOWN_USE if is_open else UNUSED

    def _last_open_batch(self, flow: FlowUse, key: str) -> int:
        """The last batch in which a value may have been taken without the log showing it."""
        if key not in self._last_open:
            tools = {target.partition(".")[0] for target in flow.to}
            calls = self._swept.run.calls
            broken = [call.batch for call in calls if call.arguments is None and (not tools or call.tool in tools)]
            unclear = [
                leaf.batch
                for leaves in self._swept.leaves.values()
                for leaf in leaves
                if leaf.origin == "unknown" and is_target(flow.to, leaf)
            ]
            self._last_open[key] = max((*broken, *unclear), default=-1)
        return self._last_open[key]

    # Decides

    def _decides(self, decides: DecidesUse, key: str, source: ToolCall) -> Used:
        acts = self._acts.get(key)
        if acts is None:
            acts = self._acts[key] = _Acts(list(self._demanded(decides, key)))
        result = self._swept.run.results[source.id]
        visible_after = max(source.batch, result.index)
        act = acts.first_after(visible_after)
        if act is not None:
            return Used(True, "decides", act.moment, act.call_id, self._decision_evidence(decides.fact, act))
        # Where the log has no texts, the demanded thing may have been said.
        unheard = self._swept.run.calls_only and any(k in self._swept.speeches for k in self._demand_keys(decides, key))
        return UNKNOWN_USE if unheard or acts.may_follow(visible_after) else UNUSED

    def _demand_keys(self, decides: DecidesUse, key: str) -> Iterable[str]:
        return act_keys(key, self._spec.acts(decides.demands))

    def _demanded(self, decides: DecidesUse, key: str) -> Iterator[_Act]:
        """The demanded acts at moments at which the fact is known (or may be)."""
        facts, run = self._swept.facts, self._swept.run
        for act_key in self._demand_keys(decides, key):
            for ordinal, truth in self._swept.of(act_key).items():
                call = run.calls[ordinal]
                known = facts.truth(decides.fact, call.batch)
                if known is not False:
                    certain = truth is True and known is True
                    yield _Act(Moment(call.batch, ordinal), certain, call.id, f"{call.tool} was called")
            for event in self._swept.speeches.get(act_key, ()):
                known = facts.truth(decides.fact, event.index)
                if known is not False:
                    yield _Act(self.moment_of(event), known is True, None, "the agent said so")

    def _decision_evidence(self, term: FactTerm, act: _Act) -> tuple[Evidence, ...]:
        names = list(fact_names(term))
        what = f"{' and '.join(names)} was known, and {act.what}"
        answers = [self._swept.facts.answer_at(name, act.moment.batch) for name in names]
        source = next((answer for answer in answers if answer is not None), None)
        return (
            Evidence(
                index=act.moment.batch,
                what=what,
                call_id=act.call_id,
                source_index=None if source is None else source.index,
                source_call_id=None if source is None else source.call_id,
            ),
        )

    # Said

    def _said(self, said: SaidUse, source: ToolCall) -> Used:
        result = self._swept.run.results[source.id]
        best: tuple[Event, str, object] | None = None
        for path in said.source:
            for item in values_at(result.value, _keys(path)):
                for leaf_path, value in leaves_of(item):
                    event = None if is_low_information(value) else self._first_shown(said, value, result.index)
                    if event is not None and (best is None or event.index < best[0].index):
                        best = (event, path_text((*_keys(path), *leaf_path)), value)
        if best is None:
            return UNKNOWN_USE if result.incomplete or self._swept.run.calls_only else UNUSED
        event, where, value = best
        what = f"{shown(value)} of {source.tool} was shown"
        evidence = Evidence(event.index, what, None, "", value, result.index, source.id, where)
        return Used(True, "said", self.moment_of(event), None, (evidence,))

    def _first_shown(self, said: SaidUse, value: object, after: int) -> Event | None:
        """The first message after `after` that shows a value."""
        found = self._texts.showing(normal_form(value), after)
        return next((event for event in found if said.words is None or says(said.words, event.text)), None)

    def moment_of(self, event: Event) -> Moment:
        """When something was said: the last call by then."""
        calls = self._swept.run.calls
        made = bisect_right(calls, event.index, key=lambda call: call.batch)
        return Moment(event.index, max(0, made - 1))


@dataclass(frozen=True, slots=True)
class _Act:
    moment: Moment
    certain: bool
    call_id: str | None
    what: str


class _Acts:
    """Demanded acts by their batch."""

    def __init__(self, acts: list[_Act]) -> None:
        ordered = sorted(acts, key=lambda act: (act.moment.batch, act.moment.call))
        self._certain = [act for act in ordered if act.certain]
        self._last_possible = max((act.moment.batch for act in ordered if not act.certain), default=-1)

    def first_after(self, index: int) -> _Act | None:
        position = bisect_right(self._certain, index, key=lambda act: act.moment.batch)
        return self._certain[position] if position < len(self._certain) else None

    def may_follow(self, index: int) -> bool:
        return self._last_possible > index


def _keys(path: str) -> tuple[str, ...]:
    """``result.sku`` → ("sku",)."""
    return tuple(path.split(".")[1:])


def _flow_evidence(leaf: Leaf, source: Source) -> Evidence:
    where, taken = path_text(leaf.path), path_text(source.path)
    what = f"{shown(leaf.value)} of {taken or 'the result'} went into {leaf.tool}.{where}"
    return Evidence(leaf.batch, what, leaf.call_id, where, leaf.value, source.index, source.call_id, taken)
