"""What a reader sees of one opened run: its messages, and what the rules say of them. Values for JSON only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prm.reach.judging.verdict import Diagnosis, Evidence, MilestoneVerdict, Moment, RunVerdict
from prm.reach.log.run import Run
from prm.reach.metrics.words import diagnosis_words
from prm.report.run_view import message_view

MAX_MESSAGES = 300
"""Messages of one run; of more, those in the middle are left out."""

MAX_CHARACTERS = 60_000
"""Of all texts of one run; the longest are cut."""

MAX_DIAGNOSES = 100
_MAX_EVIDENCE = 12
_AT_THE_END = 60


def run_record(verdict: RunVerdict, run: Run | None) -> dict[str, Any]:
    """One run.

    Args:
        verdict: What the rules say of it.
        run: Its log; None = only the evidence is shown.

    Returns:
        `facts` (pairs of a name and a text), `question`, `milestones`, `diagnoses`, `missing`, `minefields` (names
        of those hit), `notes`, `messages` (each with its `index`), `skipped` (how many messages are left out, from
        which index on).
    """
    messages, skipped = _messages(run)
    return {
        "facts": _facts(verdict),
        "question": None if run is None else run.trajectory.question,
        "milestones": [_milestone(one) for one in verdict.milestones],
        "diagnoses": [_diagnosis(one) for one in verdict.diagnoses[:MAX_DIAGNOSES]],
        "more_diagnoses": max(0, len(verdict.diagnoses) - MAX_DIAGNOSES),
        "missing": [{"fact": m.fact, "response": m.response, "batch": m.batch} for m in verdict.missing_information],
        "minefields": [name for name, hit in verdict.minefields.items() if hit],
        "notes": list(dict.fromkeys((*verdict.notes, *(() if run is None else run.notes))))[:MAX_DIAGNOSES],
        "messages": messages,
        "skipped": skipped,
    }


def _facts(verdict: RunVerdict) -> list[list[str]]:
    said = {True: "yes", False: "no", None: "unknown"}
    facts = {
        "Agent": verdict.agent,
        "Variant": verdict.variant,
        "Scenario": verdict.scenario,
        "Template": verdict.template if verdict.template != verdict.scenario else "",
        "Run": str(verdict.run),
        "Tool calls": str(verdict.calls),
        "Ended by": verdict.end or "unknown",
        "Right state": said[verdict.final_success],
        "All reached": said[verdict.all_reached],
        "Covered": said[verdict.covered],
        "Scripted habit": verdict.habit or "",
    }
    return [[name, value] for name, value in facts.items() if value]


def _milestone(one: MilestoneVerdict) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "standing": one.standing,
        "required": one.required,
        "touched": _batch(one.touched),
        "source": _batch(one.source),
        "reached": _batch(one.reached),
        "used": one.used,
        "reason": one.reason,
        "evidence": [_evidence(found) for found in one.evidence[:_MAX_EVIDENCE]],
    }


def _batch(moment: Moment | None) -> int | None:
    return None if moment is None else moment.batch


def _diagnosis(one: Diagnosis) -> dict[str, Any]:
    return {
        "name": one.name,
        "words": diagnosis_words(one.name, one.subject),
        "subject": one.subject,
        "kind": one.kind,
        "batch": one.batch,
        "evidence": [_evidence(found) for found in one.evidence[:_MAX_EVIDENCE]],
    }


def _evidence(one: Evidence) -> dict[str, Any]:
    return {"index": one.index, "what": _cut(one.what, 1000), "source": one.source_index}


def _messages(run: Run | None) -> tuple[list[dict[str, Any]], list[int] | None]:
    """The messages as `message_view` has them with `index` added, and (how many are left out, from which on)."""
    if run is None:
        return [], None
    whole = run.trajectory.messages
    indices = list(range(len(whole)))
    skipped = None
    if len(whole) > MAX_MESSAGES:
        first, last = MAX_MESSAGES - _AT_THE_END, len(whole) - _AT_THE_END
        indices, skipped = indices[:first] + indices[last:], [last - first, first]
    views = [{**message_view(whole[index]), "index": index} for index in indices]
    return _within_budget(views), skipped


def _within_budget(views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The views with their longest texts cut so far that all together hold `MAX_CHARACTERS`."""
    most = _fair_length([len(text) for view in views for text in _texts(view)], MAX_CHARACTERS)
    return [_shortened(view, most) for view in views]


def _texts(view: dict[str, Any]) -> list[str]:
    return [part[1] for part in view.get("parts", [])] + [call["arguments"] for call in view.get("calls", [])]


def _fair_length(lengths: Sequence[int], budget: int) -> int:
    """The largest length to cut to so that the sum is within the budget."""
    left = budget
    ascending = sorted(lengths)
    for number, length in enumerate(ascending):
        fair = left // (len(ascending) - number)
        if length > fair:
            return fair
        left -= length
    return max(lengths, default=0)


def _shortened(view: dict[str, Any], most: int) -> dict[str, Any]:
    cut = dict(view)
    if "parts" in cut:
        cut["parts"] = [[kind, _cut(text, most)] for kind, text in cut["parts"]]
    if "calls" in cut:
        cut["calls"] = [{**call, "arguments": _cut(call["arguments"], most)} for call in cut["calls"]]
    if "more" in cut:
        cut["more"] = _cut(str(cut["more"]), max(most, 200))
    return cut


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most:,} characters left out]"
