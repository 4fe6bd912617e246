"""Facts over the course of a run: what was found out, and from which batch on it could be known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prm.reach.judging.logic import Truth, every, negation, some
from prm.reach.spec.conditions import Facts, FactTerm
from prm.reach.spec.references import fact_names

FactState = Literal["unasked", "unknown", "true", "false"]
"""`unasked`: nothing has answered it yet; `unknown`: what answered it is missing from the log."""

_TRUTHS: dict[str, Truth] = {"true": True, "false": False, "unknown": None}
_END = 1 << 62


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a fact.

    Attributes:
        index: Index of the message that gave it; batches after it can know.
        state: What it says.
        call_id: The call whose result it is; None = the user said it.
    """

    index: int
    state: FactState
    call_id: str | None = None


class FactTimeline:
    """The answers to every fact of a spec, in order.

    Args:
        once: Fact → whether it stays true once it is.
    """

    def __init__(self, once: Mapping[str, bool]) -> None:
        self._once = once
        self._answers: dict[str, list[Answer]] = {name: [] for name in once}

    def add(self, name: str, answer: Answer) -> None:
        """One more answer; one that is missing from the log may have said anything."""
        answers = self._answers[name]
        before = answers[-1].state if answers and self._once[name] else "unasked"
        if before != "true" and (before, answer.state) != ("unknown", "false"):
            answers.append(answer)

    def answers(self, name: str) -> tuple[Answer, ...]:
        """Every answer to a fact."""
        return tuple(self._answers[name])

    def answer_at(self, name: str, batch: int) -> Answer | None:
        """The latest answer that a batch could know; None where nothing has answered it."""
        answers = self._answers[name]
        position = bisect_right(answers, batch - 1, key=lambda answer: answer.index)
        return answers[position - 1] if position else None

    def state(self, name: str, batch: int = _END) -> FactState:
        """The state of a fact at a batch, by default at the run's end."""
        answer = self.answer_at(name, batch)
        return "unasked" if answer is None else answer.state

    def truth(self, term: FactTerm | None, batch: int = _END, unasked: Truth = False) -> Truth:
        """Whether a combination of facts holds at a batch, by default at the run's end.

        Args:
            term: None holds always.
            unasked: What a fact counts as that nothing has answered yet.
        """
        if term is None:
            return True
        if isinstance(term, Facts):
            if term.no is not None:
                return negation(self.truth(term.no, batch, unasked))
            if term.every is not None:
                return every(self.truth(part, batch, unasked) for part in term.every)
            return some(self.truth(part, batch, unasked) for part in term.some or ())
        state = self.state(term, batch)
        return unasked if state == "unasked" else _TRUTHS[state]


def applies(when: FactTerm | None, unless: FactTerm | None, facts: FactTimeline) -> Truth:
    """Whether a milestone applies at the run's end; None where a missing result leaves it open.

    What was never found out does not release from it: `when` must be known to be false, `unless` known to be true.
    """
    released = False if unless is None else facts.truth(unless)
    return every((_is_wanted(when, facts), negation(released)))


def _is_wanted(when: FactTerm | None, facts: FactTimeline) -> Truth:
    wanted = facts.truth(when, unasked=None)
    if wanted is not None:
        return wanted
    is_missing = any(facts.state(name) == "unknown" for name in fact_names(when))
    return None if is_missing else True
