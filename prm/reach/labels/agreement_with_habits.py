"""How well the diagnoses agree with what the scripted agents of the ticket desk are known to have done.

What a run *should* be diagnosed with is worked out from the reason that the desk noted beside every step when it took
it, never from the rules. A habit alone would not do: every scripted agent but the careful one is a little restless
(a needless call now and then), and a habit that is drawn does not always show. The mapping, per run:

    fabrication       a step noted invented_sku, invented_address, guessed_action_id or wrong_id (an id nobody has)
    ungrounded_batch  a step noted guessed_reads
    minefield         a step noted minefield:…
    loop              an equal call three times or more in a stretch in which nothing new was noted
    detour            a step noted unused_read, needless_question or no_progress_…, where its call is in no loop; but
                      not the look-up of a customer whose address is then taken: that is the wrong call itself
    premature_stop    a last step noted stopped_early or claims_failed_write
    recovery          a step noted recovery that puts right another one (an error, a guess or an invention, and not a
                      time-out), or a status that the desk refused as illegal and later took in another form
    called_wrong      the outcome is −1: what was called by then came to nothing, or stood on something wrong
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from prm.reach.judging.verdict import RunVerdict
from prm.types import Trajectory

MEASURED = (
    "fabrication",
    "ungrounded_batch",
    "minefield",
    "loop",
    "detour",
    "premature_stop",
    "recovery",
    "called_wrong",
)
"""The diagnoses that a run's notes settle."""

DIAGNOSIS_OF_HABIT: Mapping[str, str] = {
    "invent_sku": "fabrication",
    "invent_address": "fabrication",
    "guess_action_id": "fabrication",
    "slip_and_recover": "recovery",
    "submit_blank": "recovery",
    "insist": "recovery",
    "loop": "loop",
    "detour": "detour",
    "stop_early": "premature_stop",
    "false_claim": "premature_stop",
    "ignore_stock": "minefield",
    "wrong_ticket": "minefield",
    "ignore_not_found": "called_wrong",
    "needless_branch": "called_wrong",
    "wrong_address": "called_wrong",
    "wrong_sku": "called_wrong",
    "guess_reads": "ungrounded_batch",
}
"""The diagnosis that shows each habit, where it shows at all."""

_INVENTED = ("invented_sku", "invented_address", "guessed_action_id", "wrong_id")
_NEEDLESS = ("unused_read", "needless_question", "no_progress_")
_STOPPED = ("stopped_early", "claims_failed_write")
_NOT_NEWS = ("no_progress_", "needless_question", "repeated_illegal_status")
_MENDED = (*_INVENTED, "guessed_reads", "learnt_by_trying", "repeated_illegal_status", "incomplete_inputs")
_FREE = ("note", "reason")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one diagnosis agrees with what is known, over runs.

    Attributes:
        both: Runs in which it was found and is known; `found` and `known`: runs in which either is so.
    """

    name: str
    both: int
    found: int
    known: int

    @property
    def precision(self) -> float | None:
        """Share of the runs found that are known; None where none was found."""
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of the runs known that were found; None where none is known."""
        return self.both / self.known if self.known else None


def known_diagnoses(trajectory: Trajectory) -> frozenset[str]:
    """The names among `MEASURED` that a run of a scripted agent should be diagnosed with."""
    steps = _steps(trajectory)
    notes = [note for note, _ in steps]
    looped = _looped(steps)
    found = {
        "fabrication": _has(notes, _INVENTED),
        "ungrounded_batch": _has(notes, ("guessed_reads",)),
        "minefield": _has(notes, ("minefield:",)),
        "loop": bool(looped),
        "detour": any(_is_detour(step, notes) and number not in looped for number, step in enumerate(steps)),
        "premature_stop": bool(notes) and notes[-1] in _STOPPED,
        "recovery": _recovers(notes) or _took_legal_status(trajectory),
        "called_wrong": trajectory.final_label == -1,
    }
    return frozenset(name for name, holds in found.items() if holds)


def diagnosis_agreement(runs: Iterable[tuple[Trajectory, RunVerdict]]) -> tuple[Agreement, ...]:
    """Precision and recall of each diagnosis over all runs, in the order of `MEASURED`."""
    both, found, known = Counter[str](), Counter[str](), Counter[str]()
    for trajectory, verdict in runs:
        is_known, is_found = known_diagnoses(trajectory), _found(verdict)
        both.update(is_known & is_found)
        found.update(is_found)
        known.update(is_known)
    return tuple(Agreement(name, both[name], found[name], known[name]) for name in MEASURED)


def habit_agreement(runs: Iterable[tuple[Trajectory, RunVerdict]]) -> Mapping[str, tuple[int, Agreement]]:
    """Habit → (its runs, how the diagnosis that shows it agrees over them); ``""`` = clean runs, any fault."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for trajectory, verdict in runs:
        habit = verdict.habit or ""
        name = DIAGNOSIS_OF_HABIT.get(habit)
        known, found = known_diagnoses(trajectory), _found(verdict)
        if name is None:
            known, found = known - {"recovery"}, found - {"recovery"}
        is_known, is_found = (bool(names) if name is None else name in names for names in (known, found))
        counts[habit].update(runs=1, both=int(is_known and is_found), found=int(is_found), known=int(is_known))
    return {
        habit: (of["runs"], Agreement(DIAGNOSIS_OF_HABIT.get(habit, "any"), of["both"], of["found"], of["known"]))
        for habit, of in sorted(counts.items())
    }


def _found(verdict: RunVerdict) -> frozenset[str]:
    return frozenset(str(diagnosis.name) for diagnosis in verdict.diagnoses) & frozenset(MEASURED)


def _steps(trajectory: Trajectory) -> list[tuple[str, str]]:
    """(what the desk noted, the calls without their free text) of each step."""
    notes: Mapping[str, Any] = trajectory.label_notes or {}
    return [(str(notes.get(str(step.index), "")), _calls(step.message)) for step in trajectory.steps]


def _calls(message: Mapping[str, Any]) -> str:
    calls = []
    for call in message.get("tool_calls") or ():
        arguments = json.loads(call["function"]["arguments"])
        calls.append((call["function"]["name"], {k: v for k, v in arguments.items() if k not in _FREE}))
    return json.dumps(calls, sort_keys=True)


def _is_detour(step: tuple[str, str], notes: list[str]) -> bool:
    note, calls = step
    is_wrong_call = "wrong_customer" in notes and "lookup_customer" in calls and note == "unused_read"
    return note.startswith(_NEEDLESS) and not is_wrong_call


def _has(notes: Iterable[str], beginnings: tuple[str, ...]) -> bool:
    return any(note.startswith(beginnings) for note in notes)


def _looped(steps: list[tuple[str, str]]) -> frozenset[int]:
    """The positions of the steps that are in a loop."""
    looped: set[int] = set()
    for stretch in _stretches(steps):
        of_call: defaultdict[str, list[int]] = defaultdict(list)
        for position in stretch:
            of_call[steps[position][1]].append(position)
        looped.update(position for positions in of_call.values() if len(positions) > 2 for position in positions)
    return frozenset(looped)


def _stretches(steps: list[tuple[str, str]]) -> Iterator[list[int]]:
    """Runs of steps in which only the first brings news."""
    stretch: list[int] = []
    for position, (note, _) in enumerate(steps):
        if not note.startswith(_NOT_NEWS):
            yield stretch
            stretch = []
        stretch.append(position)
    yield stretch


def _recovers(notes: list[str]) -> bool:
    """Whether a step noted as recovery (or useful right after) puts right a step that was wrong."""
    useful = [note for note in notes if not note.startswith(_NEEDLESS)]
    return any(after == "recovery" and before.startswith(_MENDED) for before, after in pairwise(useful))


def _took_legal_status(trajectory: Trajectory) -> bool:
    """Whether the desk refused a status and took one later."""
    statuses = [
        json.loads(message["content"])["status"]
        for message in trajectory.messages
        if message["role"] == "tool" and message["name"] == "update_ticket"
    ]
    return "illegal_status" in statuses and "ok" in statuses[statuses.index("illegal_status") :]
