"""One pass over a run: which calls match which patterns, and what was found out when. Everything else reads this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from prm.reach.judging.bindings import Places
from prm.reach.judging.conditions import Seen, first_failure, holds
from prm.reach.judging.facts import Answer, FactState, FactTimeline
from prm.reach.judging.logic import Truth, every
from prm.reach.judging.patterns import Pattern, SpecPatterns
from prm.reach.judging.provenance_records import Leaf, Provenance
from prm.reach.judging.values import says
from prm.reach.log.run import Event, Run, ToolCall, ToolResult
from prm.reach.spec.model import Spec
from prm.reach.spec.places import Part

_STATES: Mapping[Truth, FactState] = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True)
class Swept:
    """What the pass found.

    Attributes:
        run: The run.
        facts: What was known when.
        matches: Pattern key → ordinal of a call → whether it matches (None = unknown); what does not match is absent.
        failures: Pattern key → ordinal → what of it failed, in words.
        speeches: Speech key → the assistant messages that say so.
        leaves: Call id → the leaves of its arguments.
    """

    run: Run
    facts: FactTimeline
    matches: Mapping[str, Mapping[int, Truth]]
    failures: Mapping[str, Mapping[int, str]]
    speeches: Mapping[str, Sequence[Event]]
    leaves: Mapping[str, Sequence[Leaf]] = field(default_factory=dict)

    def of(self, key: str) -> Mapping[int, Truth]:
        """The calls that match (or may match) a pattern."""
        return self.matches.get(key, {})

    def certain(self, key: str) -> list[ToolCall]:
        """The calls that match a pattern for certain, in order."""
        return [self.run.calls[ordinal] for ordinal, truth in self.of(key).items() if truth]


def sweep(run: Run, spec: Spec, patterns: SpecPatterns, provenance: Provenance) -> Swept:
    """Reads the run once, in order."""
    return _Sweep(run, spec, patterns, provenance).read()


class _Sweep:
    """The state of the pass."""

    def __init__(self, run: Run, spec: Spec, patterns: SpecPatterns, provenance: Provenance) -> None:
        self._run, self._spec, self._patterns = run, spec, patterns
        self._marks = () if spec.envelope is None else spec.envelope.damage_marks
        self._outside = () if spec.envelope is None else spec.envelope.outside
        self._places = Places(patterns.places, self._marks)
        if run.calls_only:
            self._places.leave_texts_open()
        self._facts = FactTimeline({name: fact.once for name, fact in spec.facts.items()})
        self._matches: dict[str, dict[int, Truth]] = {}
        self._failures: dict[str, dict[int, str]] = {}
        self._speeches: dict[str, list[Event]] = {key: [] for key in patterns.speeches}
        self._leaves: dict[str, list[Leaf]] = {}
        for leaf in provenance.leaves:
            self._leaves.setdefault(leaf.call_id, []).append(leaf)
        self._pending: list[tuple[int, int]] = []
        self._user_has_spoken = False

    def read(self) -> Swept:
        for event in self._run.events:
            if event.kind == "assistant":
                self._read_assistant(event)
            elif event.kind != "result":
                self._read_text(event)
        self._commit_before(1 << 62)
        return Swept(self._run, self._facts, self._matches, self._failures, self._speeches, self._leaves)

    def _read_text(self, event: Event) -> None:
        if event.kind == "user":
            self._places.add_text("user", event.text)
            if not self._user_has_spoken:
                self._places.add_text("request", event.text)
            self._user_has_spoken = True
            for name, fact in self._spec.facts.items():
                if fact.user is not None:
                    self._facts.add(name, Answer(event.index, _STATES[says(fact.user, event.text)]))
            return
        self._places.add_text("system", event.text)

    def _read_assistant(self, event: Event) -> None:
        self._commit_before(event.index)
        if event.plan is not None:
            self._places.add_values("plan", None, event.plan, certain=True, is_whole=True)
        for key, speech in self._patterns.speeches.items():
            if event.text and says(speech.say, event.text) and self._facts.truth(speech.given, event.index):
                self._speeches[key].append(event)
        for name, fact in self._spec.facts.items():
            if fact.agent is not None and event.text:
                self._facts.add(name, Answer(event.index, _STATES[says(fact.agent, event.text)]))
        for call in event.calls:
            self._match(call)
        for call in event.calls:
            heappush(self._pending, (self._visible_from(call), call.ordinal))

    def _visible_from(self, call: ToolCall) -> int:
        """The index after which a batch can know of the call and its result."""
        result = self._run.results.get(call.id)
        return call.batch if result is None else max(call.batch, result.index)

    def _match(self, call: ToolCall) -> None:
        seen = Seen(call, self._run.results.get(call.id), self._is_grounded(call), self._places, self._marks)
        for pattern in self._patterns.by_tool.get(call.tool, ()):
            truth = self._matches_pattern(pattern, seen)
            if truth is not False:
                self._matches.setdefault(pattern.key, {})[call.ordinal] = truth
            elif pattern.key.startswith("milestone:"):
                self._failures.setdefault(pattern.key, {})[call.ordinal] = self._failure(pattern, seen)

    def _matches_pattern(self, pattern: Pattern, seen: Seen) -> Truth:
        success = _succeeded(seen.result) if pattern.needs_success else True
        if success is False:
            return False
        given = every(self._facts.truth(term, seen.call.batch) for term in pattern.given)
        if given is False:
            return False
        return every((success, given, *(holds(condition, seen) for condition in pattern.conditions)))

    def _failure(self, pattern: Pattern, seen: Seen) -> str:
        texts = (first_failure(condition, seen) for condition in pattern.conditions)
        return next((text for text in texts if text), "the call failed or came at the wrong time")

    def _is_grounded(self, call: ToolCall) -> Truth:
        if call.arguments is None:
            return None
        refs = [leaf for leaf in self._leaves.get(call.id, ()) if leaf.kind == "ref"]
        return every(None if leaf.fabricated is None else not leaf.fabricated for leaf in refs)

    def _commit_before(self, batch: int) -> None:
        """Makes visible what came before `batch`."""
        while self._pending and self._pending[0][0] < batch:
            index, ordinal = heappop(self._pending)
            self._commit(self._run.calls[ordinal], index)

    def _commit(self, call: ToolCall, index: int) -> None:
        result = self._run.results.get(call.id)
        for owner, truth in self._owners(call):
            self._add_part(owner, "args", call.arguments, truth, is_whole=call.arguments is not None)
            # Of an answer that came cut the agent saw no more either; of one that the log cuts it may have.
            is_whole = result is not None and not result.incomplete
            self._add_part(owner, "result", None if result is None else result.value, truth, is_whole=is_whole)
        for name, fact in self._spec.facts.items():
            truth = self._matches.get(f"fact:{name}", {}).get(call.ordinal, False)
            if fact.of is not None and truth is not False:
                self._answer(name, call, result, truth, index)

    def _add_part(self, owner: str, part: Part, value: object, truth: Truth, *, is_whole: bool) -> None:
        if value is None and not is_whole:
            self._places.add_missing(owner, part)
            return
        self._places.add_values(owner, part, value, certain=truth is True, is_whole=is_whole)

    def _owners(self, call: ToolCall) -> list[tuple[str, Truth]]:
        """The names that a call goes by in places: its tool, named calls and milestones."""
        owners: list[tuple[str, Truth]] = [(call.tool, True)]
        for pattern in self._patterns.by_tool.get(call.tool, ()):
            kind, _, name = pattern.key.partition(":")
            truth = self._matches.get(pattern.key, {}).get(call.ordinal, False)
            if kind in ("call", "milestone") and truth is not False:
                owners.append((name.partition("/")[0], truth))
        return owners

    def _answer(self, name: str, call: ToolCall, result: ToolResult | None, matches: Truth, index: int) -> None:
        holding = self._spec.facts[name].holds
        if result is not None and result.status in self._outside:
            return
        seen = Seen(call, result, None, self._places, self._marks)
        truth = every((matches, None if holding is None else holds(holding, seen)))
        if truth is None and result is not None and result.truncated:
            return
        if matches is None:
            truth = None
        self._facts.add(name, Answer(index, _STATES[truth], call.id))


def _succeeded(result: ToolResult | None) -> Truth:
    """Whether the tool did what was asked, as far as the log says; a result without a mark of failure is one."""
    if result is None:
        return None
    return result.ok is not False
