"""Which questions to the user were needed: what was missing and not asked yet, or whose answer was the first to say.

A question is a call (or a message) that matches what the spec calls one. It is needed if a piece of information was
known to be missing and had not been asked for, or if a later call used a value that its answer was the first to give.
Any other is needless: what it asks for was known already, or had been asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.patterns import act_keys, question_keys
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.givers import first_giver
from prm.reach.log.run import ToolCall


@dataclass(frozen=True, slots=True)
class Question:
    """One question by a tool call.

    Attributes:
        needed_for: The information it was needed for, ``an answer used later``, or "" for a needless one.
        times: The how-many-th needless question on its topic it is, from 1; 0 for a needed one.
    """

    needed_for: str
    times: int = 0


USED_LATER = "an answer used later"


def find_questions(judged: JudgedRun, roles: CallRoles) -> Mapping[str, Question]:
    """Call id → what its question was; questions whose need the log leaves open are absent."""
    questions: dict[str, Question] = {}
    asked: set[str] = set()
    needless: dict[frozenset[str], int] = {}
    for call, topics in _question_calls(judged, roles):
        states = {name: judged.swept.facts.state(name, call.batch) for name in sorted(topics)}
        missing = [name for name, state in states.items() if state == "true" and name not in asked]
        if missing or gives_a_value(judged, call):
            asked.update(missing)
            questions[call.id] = Question(missing[0] if missing else USED_LATER)
        elif "unknown" not in states.values() and not {"true", "false"}.isdisjoint(states.values()):
            needless[topics] = needless.get(topics, 0) + 1
            questions[call.id] = Question("", needless[topics])
    return questions


def _question_calls(judged: JudgedRun, roles: CallRoles) -> Iterator[tuple[ToolCall, frozenset[str]]]:
    """Each call that asks the user, with the information that it may be about."""
    spec, swept = judged.spec, judged.swept
    topics: dict[int, set[str]] = {}
    for key in act_keys("questions", spec.questions):
        for ordinal in swept.of(key):
            topics.setdefault(ordinal, set())
    for name, information in spec.information.items():
        prefix, acts = (
            (f"information.{name}", information.questions) if information.questions else ("questions", spec.questions)
        )
        for key in act_keys(prefix, acts):
            for ordinal, truth in swept.of(key).items():
                topics.setdefault(ordinal, set()).update({name} if truth else ())
    for ordinal in sorted(topics):
        # A milestone's own call, such as a request for information that is drafted, is judged as that.
        if ordinal not in roles.milestones and judged.effect(judged.run.calls[ordinal]) == "read":
            yield judged.run.calls[ordinal], frozenset(topics[ordinal])


def find_spoken_questions(judged: JudgedRun) -> Mapping[int, str]:
    """Index of a message → the information, known to be missing, that it asks for in words before anything else did."""
    found: dict[int, str] = {}
    for name in judged.spec.information:
        said, by_call = _asked_at(judged, name)
        known = [index for index in (*said, *by_call) if judged.swept.facts.truth(name, index) is True]
        first = min(known, default=None)
        if first is not None and first in said:
            found.setdefault(first, name)
    return found


def _asked_at(judged: JudgedRun, name: str) -> tuple[frozenset[int], frozenset[int]]:
    """The messages that ask for a piece of information in words, and those that do, or may do, by a call."""
    spec, swept = judged.spec, judged.swept
    keys = question_keys(name, spec.information[name], spec)
    said = frozenset(event.index for key in keys for event in swept.speeches.get(key, ()))
    return said, frozenset(judged.run.calls[ordinal].batch for key in keys for ordinal in swept.of(key))


def gives_a_value(judged: JudgedRun, call: ToolCall) -> bool:
    """Whether a later argument was taken from what this call was the first to return."""
    return any(first_giver(leaf) == call.id for leaf, _ in judged.provenance.uses_of(call.id))
