"""Loops: the same call over and over, with nothing new between.

A call repeats an earlier one if tool, arguments and result are the same, and if since then there was no successful
write, no moment of a milestone, no word of the user and no result that had not been seen before. Two or more repeats
are a loop. Polling, and calls made again after an outside failure, are exempt; a missing result ends a chain.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.same_calls import SameCalls, named_in
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.judging.wording import shown_call
from prm.reach.log.run import ToolCall, ToolResult

MIN_REPEATS = 2
_MAX_EVIDENCE = 10


@dataclass(slots=True)
class _Chain:
    """Equal calls with nothing new between them."""

    result_key: Hashable
    news: int
    calls: list[ToolCall] = field(default_factory=list)

    @property
    def repeats(self) -> int:
        return len(self.calls) - 1


def loops(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each loop, at the repeat that makes it one; `kind` is the number of repeats."""
    for chain in loop_chains(judged):
        yield Diagnosis(
            name="loop",
            batch=chain[MIN_REPEATS].batch,
            call_id=chain[MIN_REPEATS].id,
            subject=chain[0].tool,
            kind=str(len(chain) - 1),
            evidence=tuple(_evidence(judged, chain)),
        )


def loop_chains(judged: JudgedRun) -> list[list[ToolCall]]:
    """The calls of each loop, the first call included."""
    return [chain.calls for chain in _Chains(judged).read() if chain.repeats >= MIN_REPEATS]


class _Chains:
    def __init__(self, judged: JudgedRun) -> None:
        self._judged = judged
        self._same = SameCalls(judged)
        self._open: dict[Hashable, _Chain] = {}
        self._all: list[_Chain] = []
        self._seen: set[Hashable] = set()
        self._named: set[str] = set()
        self._news = 0
        moments = [m.reached for m in judged.milestones] + [m.source for m in judged.milestones]
        self._milestone_batches = {moment.batch for moment in moments if moment is not None}

    def read(self) -> list[_Chain]:
        for event in self._judged.run.events:
            if event.kind == "user" or event.index in self._milestone_batches:
                self._news += 1
            for call in event.calls:
                self._add(call)
        return self._all

    def _add(self, call: ToolCall) -> None:
        result = self._judged.result(call)
        if result is None or result.incomplete:
            self._news += 1
            return
        if self._is_exempt(call):
            return
        key = self._same.call_key(call)
        said = self._same.result_key(call, result)
        self._note_news(call, result, key, said)
        chain = self._open.get(key)
        if chain is None or chain.result_key != said or chain.news != self._news:
            chain = self._open[key] = _Chain(said, self._news)
            self._all.append(chain)
        chain.calls.append(call)

    def _note_news(self, call: ToolCall, result: ToolResult, key: Hashable, said: Hashable) -> None:
        """A result that was not seen before is news to every chain, a successful write to every other one."""
        if (key, said) not in self._seen:
            self._seen.add((key, said))
            self._news += self._tells_something(call, result)
        elif self._judged.effect(call) == "write" and result.ok is not False:
            own = self._open.get(key)
            is_current = own is not None and own.news == self._news
            self._news += 1
            if own is not None and is_current:
                own.news = self._news

    def _tells_something(self, call: ToolCall, result: ToolResult) -> bool:
        """Whether a result says what was not known; a person who only repeats known values does not."""
        named = named_in(result)
        is_known = bool(named) and named <= self._named
        self._named |= named
        return not (is_known and self._same.is_question(call))

    def _is_exempt(self, call: ToolCall) -> bool:
        tool = self._judged.spec.tools.get(call.tool)
        return (tool is not None and tool.poll) or self._judged.failed_outside(call)


def _evidence(judged: JudgedRun, chain: list[ToolCall]) -> Iterator[Evidence]:
    first = chain[0]
    result = judged.result(first)
    index = first.batch if result is None else result.index
    yield Evidence(first.batch, f"{shown_call(first)} was answered in message {index}", first.id)
    for number, call in enumerate(chain[1:], start=1):
        if number > _MAX_EVIDENCE:
            yield Evidence(chain[-1].batch, f"{len(chain) - number} more repeats follow", chain[-1].id)
            return
        what = f"repeat {number}: the same call, the same answer, and nothing new since"
        yield Evidence(call.batch, what, call.id, source_index=first.batch, source_call_id=first.id)
