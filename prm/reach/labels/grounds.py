"""All that the rules of step labels read of one judged run, each part worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.patterns import act_keys
from prm.reach.judging.provenance_records import Leaf
from prm.reach.judging.stops import has_legal_exit
from prm.reach.judging.verdict import Diagnosis, RunVerdict
from prm.reach.labels.call_roles import CallRoles
from prm.reach.labels.fault import Fault
from prm.reach.labels.faults import find_faults
from prm.reach.labels.progress import Progress, find_progress
from prm.reach.labels.questions import Question, find_questions, find_spoken_questions
from prm.reach.labels.repeats import Repeat, find_repeats
from prm.reach.labels.reports import Report, find_reports
from prm.reach.log.run import Event, Run


class Grounds:
    """What labels are given by.

    Attributes:
        verdict: The verdict on the run.
        judged: What it was drawn from.
        roles: What each call is to the spec.
    """

    def __init__(self, verdict: RunVerdict, judged: JudgedRun) -> None:
        self.verdict, self.judged = verdict, judged
        self.roles = CallRoles(judged)

    @cached_property
    def repeats(self) -> Mapping[str, Repeat]:
        """See `find_repeats`."""
        return find_repeats(self.judged, self.faults)

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        """See `find_questions`."""
        return find_questions(self.judged, self.roles)

    @cached_property
    def spoken_questions(self) -> Mapping[int, str]:
        """See `find_spoken_questions`."""
        return find_spoken_questions(self.judged)

    @cached_property
    def faults(self) -> Mapping[str, tuple[Fault, ...]]:
        """See `find_faults`."""
        return find_faults(self.judged, self.roles, self.verdict.diagnoses)

    @cached_property
    def progress(self) -> Mapping[str, Progress]:
        """See `find_progress`."""
        return find_progress(self.judged, self.roles, self.faults, self.repeats, self.questions)

    @cached_property
    def reports(self) -> Mapping[int, Report]:
        """See `find_reports`."""
        return find_reports(self.judged, self.faults)

    @cached_property
    def diagnoses(self) -> Mapping[int, tuple[Diagnosis, ...]]:
        """Message index → its diagnoses."""
        found: dict[int, list[Diagnosis]] = {}
        for diagnosis in self.verdict.diagnoses:
            found.setdefault(diagnosis.batch, []).append(diagnosis)
        return {batch: tuple(diagnoses) for batch, diagnoses in found.items()}

    @cached_property
    def used_answers(self) -> Mapping[int, Leaf]:
        """Message index → a reference that the user gave right after it, and that a step that counts used."""
        questions = _questions_before_answers(self.judged.run)
        found: dict[int, Leaf] = {}
        for leaf in self.judged.provenance.leaves:
            if leaf.origin != "user" or leaf.kind != "ref" or leaf.call_id not in self.progress:
                continue
            first = min(source.index for source in leaf.sources)
            if first in questions:
                found.setdefault(questions[first], leaf)
        return found

    @cached_property
    def exits_legally(self) -> bool:
        """Whether the run may end with milestones open, as the judge sees it: see `has_legal_exit`."""
        end = self.judged.last_batch
        return end is not None and has_legal_exit(self.judged, end)

    def says_legal_exit(self, event: Event) -> bool:
        """Whether a message says something after which the run may end."""
        return event.index in self._exit_messages

    @cached_property
    def _exit_messages(self) -> frozenset[int]:
        keys = act_keys("legal_exits", self.judged.spec.acts(self.judged.spec.legal_exits))
        return frozenset(event.index for key in keys for event in self.judged.swept.speeches.get(key, ()))


def _questions_before_answers(run: Run) -> dict[int, int]:
    """Index of a user's message → that of the assistant's message without calls just before it."""
    found: dict[int, int] = {}
    before: Event | None = None
    for event in run.events:
        if event.kind == "user" and before is not None and before.kind == "assistant" and not before.calls:
            found[event.index] = before.index
        before = event
    return found
