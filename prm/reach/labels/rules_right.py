"""The rules that say +1: recoveries, steps on the way to a milestone, needed questions, refusals and reports."""

from __future__ import annotations

from prm.reach.judging.verdict import Evidence
from prm.reach.labels.grounds import Grounds
from prm.reach.labels.rule import Finding, Rule
from prm.reach.log.run import Event


def recovery(grounds: Grounds, event: Event) -> Finding | None:
    """A call changed after an error, or a made-up value replaced, and it worked; not if it still is no right call."""
    off = {call.id for call in event.calls if grounds.roles.is_off(call)}
    for diagnosis in grounds.diagnoses.get(event.index, ()):
        if diagnosis.name == "recovery" and diagnosis.call_id not in off:
            return Finding(1, f"{diagnosis.subject} {diagnosis.kind}", diagnosis.evidence)
    return None


def by_progress(name: str) -> Rule:
    """The rule that a call of the step brought the run on in this way."""

    def rule(grounds: Grounds, event: Event) -> Finding | None:
        for call in event.calls:
            progress = grounds.progress.get(call.id)
            if progress is not None and progress.rule == name:
                return Finding(1, progress.why, progress.evidence)
        return None

    return rule


def needed_question(grounds: Grounds, event: Event) -> Finding | None:
    """A question, by a call or in words, for what was missing, or whose answer was used."""
    asked = by_progress("needed_question")(grounds, event)
    if asked is not None:
        return asked
    if event.calls:
        return None
    missing = grounds.spoken_questions.get(event.index)
    if missing is not None:
        why = f"a question for {missing}"
        return Finding(1, why, (Evidence(event.index, why),))
    answer = grounds.used_answers.get(event.index)
    if answer is None:
        return None
    why = f"{answer.value!r}, which the user answered, was used"
    evidence = Evidence(answer.batch, why, answer.call_id, value=answer.value, source_index=answer.sources[0].index)
    return Finding(1, why, (evidence,))


def legal_refusal(grounds: Grounds, event: Event) -> Finding | None:
    """A message that says what cannot be done, where information was missing."""
    if event.calls or not grounds.says_legal_exit(event):
        return None
    for missing in grounds.verdict.missing_information:
        if missing.response in ("asks", "refuses"):
            why = f"{missing.fact}: said so, and made nothing up"
            return Finding(1, why, (Evidence(event.index, why),))
    return None


def report(grounds: Grounds, event: Event) -> Finding | None:
    """The last message of a run that reached every required milestone and hit no minefield."""
    if event.calls or event is not grounds.judged.last_batch or grounds.verdict.covered is not True:
        return None
    names = ", ".join(m.name for m in grounds.verdict.milestones if m.standing == "reached")
    return Finding(1, f"reports with {names} reached", (Evidence(event.index, f"{names} reached"),))
