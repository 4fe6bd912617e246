"""From a judge's answer to verdicts. Nothing is guessed: what the answer does not say is missing, never a default.

Read is what stands after the judge's reasoning (``<think>…</think>``; drafts in it do not count), in either format
whatever was asked for: JSON objects with ``steps``, ``final`` or step numbers as keys, else compact lines. In JSON,
``steps`` is a list of ``{"step": 1, "label": 1, "reason": "…"}`` or an object ``{"1": 1}`` / ``{"1": {"label": 1}}``,
and the numbers may also stand without ``steps``. Code fences, prose and other objects around the answer are passed
over. A label may be written as -1, 0, 1, +1, 1.0, a text of these, or a word of `prm.models.judge.answer.WORDS`.

``ok``: every step, and the outcome where it is asked for, has a label.

``partial``: what is said is usable, and something is missing: a step without an entry, a null label, no outcome, a
compact line that breaks off.

``failed``, without any label:
  - no answer at all, or none with a label; an empty text;
  - reasoning that does not end; a JSON answer that breaks off or cannot be read, after the last whole one;
  - a step, or a key of one object, that stands twice, even with the same value;
  - a number that is no step of the run, or an entry without a number;
  - a label outside −1, 0, +1: 2, 0.5, true, NaN, a list, any other text;
  - two answers that differ. Two that agree are one.

An outcome that was not asked for is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prm.models.judge.compact_lines import find_compact_answers
from prm.models.judge.loose_json import Found, JsonObject, find_objects
from prm.models.judge.said import Name, Said, UnusableError, is_answer, read_json_answer
from prm.types import StepLabel

_REASONING_ENDS = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
_REASONING_BEGINS = re.compile(r"<think(?:ing)?>|\[THINK\]", re.IGNORECASE)
_KEY_OF_ANSWER = re.compile(r'"(?:steps|final|[0-9]{1,6})"\s*:')

_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What a judge said of a run.

    Attributes:
        step_labels: Message index → label, of the steps that have one.
        final_label: The outcome; None where it was not said or not asked for.
        status: "ok", "partial" or "failed" (then there is no label); see the module.
        reason: Why it is not "ok", in one line.
        explanations: ``{"steps": {"<message index>": text}, "final": text}`` as far as reasons were given, else None.
    """

    step_labels: dict[int, StepLabel]
    final_label: StepLabel | None
    status: Literal["ok", "partial", "failed"]
    reason: str | None
    explanations: dict[str, Any] | None


def parse_answer(text: str, message_indices: Sequence[int], *, outcome: bool = True) -> ParsedAnswer:
    """What an answer says of the steps with these message indices; never raises.

    Args:
        text: The judge's whole answer. Where the prompt opened the reasoning, put `JudgePrompt.answer_prefix` in front:
            without it, reasoning that does not end cannot be told from an answer.
        message_indices: [K] step number k, from 1, is the k-th of them (`JudgePrompt.message_indices`).
        outcome: Whether the outcome was asked for.
    """
    expected: list[Name] = [*range(1, len(message_indices) + 1), *([None] if outcome else [])]
    try:
        said = _one_answer(_after_reasoning(text), frozenset(expected))
        _refuse_foreign(said, len(message_indices))
        missing = [name for name in expected if said.labels.get(name) is None]
        if len(missing) == len(expected):
            raise UnusableError("the answer gives no verdict")
    except UnusableError as error:
        return ParsedAnswer({}, None, "failed", str(error), None)
    labels = {index: said.labels.get(number) for number, index in enumerate(message_indices, start=1)}
    return ParsedAnswer(
        step_labels={index: label for index, label in labels.items() if label is not None},
        final_label=said.labels.get(None) if outcome else None,
        status="partial" if missing else "ok",
        reason=f"no verdict on {_listed(missing)}" if missing else None,
        explanations=_explanations(said, message_indices, outcome),
    )


def _after_reasoning(text: str) -> str:
    """What follows the last end of reasoning. Tags within whole JSON objects are text of the judge's reasons."""
    inside = [(found.start, found.end) for found in find_objects(text) if found.value is not None]

    def is_outside(match: re.Match[str]) -> bool:
        return not any(start < match.start() < end for start, end in inside)

    ends = [match.end() for match in _REASONING_ENDS.finditer(text) if is_outside(match)]
    start = ends[-1] if ends else 0
    if any(is_outside(match) and match.start() >= start for match in _REASONING_BEGINS.finditer(text)):
        raise UnusableError("the reasoning does not end")
    return text[start:]


def _one_answer(text: str, expected: frozenset[Name]) -> Said:
    objects = [found for found in find_objects(text) if _is_answer(found, text)]
    answers = _whole(objects) if objects else find_compact_answers(text, expected)
    if not answers:
        raise UnusableError("there is no answer" if text.strip() else "the answer is empty")
    last = answers[-1]
    if any(answer != last for answer in answers) and any(isinstance(answer, Said) for answer in answers):
        raise UnusableError("two answers differ")
    if isinstance(last, UnusableError):
        raise last
    return last


def _is_answer(found: Found, text: str) -> bool:
    if found.value is not None:
        return is_answer(found.value)
    return _KEY_OF_ANSWER.search(text, found.start, found.end) is not None


def _whole(objects: Sequence[Found]) -> list[Said | UnusableError]:
    """What each whole object says; broken ones before a whole one are drafts or quotes of the form."""
    if objects[-1].value is None:
        raise UnusableError("the JSON answer breaks off or cannot be read")
    return [_read(found.value) for found in objects if found.value is not None]


def _read(value: JsonObject) -> Said | UnusableError:
    try:
        return read_json_answer(value)
    except UnusableError as error:
        return error


def _refuse_foreign(said: Said, steps: int) -> None:
    foreign = [name for name in said.labels if name is not None and not 1 <= name <= steps]
    if foreign:
        raise UnusableError(f"step {foreign[0]} is not among the {steps} steps of the run")


def _listed(names: Sequence[Name]) -> str:
    shown = ["the outcome" if name is None else f"step {name}" for name in names[:_SHOWN_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _explanations(said: Said, message_indices: Sequence[int], outcome: bool) -> dict[str, Any] | None:
    steps = {
        str(index): said.reasons[number]
        for number, index in enumerate(message_indices, start=1)
        if number in said.reasons
    }
    final = {"final": said.reasons[None]} if outcome and None in said.reasons else {}
    return {"steps": steps, **final} if steps or final else None
