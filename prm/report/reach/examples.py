"""Each diagnosis with a few runs that have it, chosen to differ: other subjects first, then other agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prm.reach.judging.verdict import Diagnosis, RunVerdict

MAX_EXAMPLES = 6
"""Of one diagnosis."""

MEANINGS: dict[str, tuple[str, str]] = {
    "fabrication": ("Fabrication", "A reference that no result, user or system text before it holds."),
    "ungrounded_batch": ("Ungrounded batch", "Reads guessed in parallel with what they depend on."),
    "minefield": ("Minefield", "Something that must never be done was done."),
    "premature_stop": ("Premature stop", "The run ended with milestones open and no legal way out taken."),
    "never_called": ("Never called", "A milestone is open because its tool was never called."),
    "called_wrong": ("Called, but wrongly", "The tool was called, but not as it must be, or its return was not used."),
    "loop": ("Loop", "The same call with the same result again, and nothing new between."),
    "detour": ("Detour", "Legal calls beyond the shortest legal path."),
    "plan_contradiction": ("Plan contradiction", "A call that contradicts the plan that the agent stated before it."),
    "recovery": ("Recovery", "A mistake that the agent put right itself: nothing to mend, worth knowing."),
}  # fmt: skip
"""Diagnosis → its title and what it means, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Example:
    """One place where a diagnosis was made: the number of the run, and the diagnosis."""

    run: int
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True)
class Found:
    """One diagnosis over all runs.

    Attributes:
        name: Of the diagnosis.
        runs: How many have it.
        times: How often in all.
        subjects: What it is about → how many runs; most first.
        examples: At most `MAX_EXAMPLES`.
    """

    name: str
    runs: int
    times: int
    subjects: tuple[tuple[str, int], ...]
    examples: tuple[Example, ...]


def found_diagnoses(verdicts: Sequence[RunVerdict], most: int = MAX_EXAMPLES) -> list[Found]:
    """What was found, in the order of `MEANINGS`; a diagnosis that no run has is left out."""
    places: dict[str, list[Example]] = {}
    for number, verdict in enumerate(verdicts):
        for diagnosis in verdict.diagnoses:
            places.setdefault(diagnosis.name, []).append(Example(number, diagnosis))
    order = [*MEANINGS, *(name for name in places if name not in MEANINGS)]
    return [_found(name, places[name], verdicts, most) for name in order if name in places]


def _found(name: str, places: Sequence[Example], verdicts: Sequence[RunVerdict], most: int) -> Found:
    runs = {place.run for place in places}
    subjects = Counter(subject for _, subject in {(place.run, place.diagnosis.subject) for place in places})
    ranked = sorted(subjects.items(), key=lambda item: (-item[1], item[0]))
    examples = tuple(_differing(places, [subject for subject, _ in ranked], verdicts, most))
    return Found(name, len(runs), len(places), tuple(ranked), examples)


def _differing(
    places: Sequence[Example], subjects: Sequence[str], verdicts: Sequence[RunVerdict], most: int
) -> Iterator[Example]:
    """Subjects in turn, the commonest first; of one subject a run of each agent and variant before a second one."""
    queues: dict[str, list[Example]] = {subject: [] for subject in subjects}
    for place in _proven_first(places):
        queues[place.diagnosis.subject].append(place)
    in_turn = [_by_arm(queues[subject], verdicts, most) for subject in subjects[:most]]
    chosen = 0
    for turn in range(most):
        for queue in in_turn:
            if turn < len(queue) and chosen < most:
                chosen += 1
                yield queue[turn]


def _proven_first(places: Sequence[Example]) -> list[Example]:
    return sorted(places, key=lambda place: not place.diagnosis.evidence)


def _by_arm(queue: Sequence[Example], verdicts: Sequence[RunVerdict], most: int) -> list[Example]:
    arms: dict[tuple[str, str], list[Example]] = {}
    seen: set[int] = set()
    for place in queue:
        if place.run not in seen:
            seen.add(place.run)
            verdict = verdicts[place.run]
            arms.setdefault((verdict.agent, verdict.variant), []).append(place)
    rounds = (arm[turn] for turn in range(most) for arm in arms.values() if turn < len(arm))
    return [place for place, _ in zip(rounds, range(most), strict=False)]
