"""The trajectory browser: a small index of all runs, and one compressed payload a run, read when it is opened.

Knows what the page needs to list, filter and sort; how a run looks inside is `run_view`, how the page shows it
are the files in ``assets/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prm.evaluation.first_error import first_error, first_error_is_known
from prm.evaluation.matching import match
from prm.report.run_view import run_view, step_indices
from prm.report.safe_text import packed_json
from prm.types import Prediction, StepLabel, Trajectory

MAX_RUNS = 5_000
"""More runs than this make a file that no browser opens with pleasure; the rest are counted and left out."""

RIGHT, MISSED, FALSE_ALARM, TOO_EARLY, TOO_LATE, NOT_JUDGED, UNKNOWN = "rmfelnu"
"""What a judge made of a run's first error; the letters are what the page's index holds."""

_SIGNS: Mapping[StepLabel | None, str] = {-1: "-", 0: "0", 1: "+", None: "?"}
_STRIP = 40
"""Labels that a line of the list shows."""


@dataclass(frozen=True, slots=True)
class BrowserData:
    """What the page holds of the runs.

    Attributes:
        index: Packed JSON, see `run_index`.
        runs: [N] packed JSON, see `run_view`.
        left_out: How many runs are beyond `MAX_RUNS`.
    """

    index: str
    runs: tuple[str, ...]
    left_out: int = 0


def browser_data(
    gold: Sequence[Trajectory],
    judges: Mapping[str, Sequence[Prediction]],
    *,
    max_runs: int = MAX_RUNS,
) -> BrowserData:
    """Index and payloads of the runs.

    Args:
        gold: The truth, with distinct keys.
        judges: Name → its predictions, matched by key; of several for one run the newest counts. The page shows
            the first judge first.
        max_runs: How many runs are held, in gold's order.

    Raises:
        InputError: None of a judge's predictions is for the gold.
    """
    matched = {name: match(gold, said, name).predictions for name, said in judges.items()}
    held = gold[:max_runs]
    packed = [
        packed_json(run_view(trajectory, [said[number] for said in matched.values()]))
        for number, trajectory in enumerate(held)
    ]
    index = packed_json(run_index(held, {name: said[:max_runs] for name, said in matched.items()}))
    return BrowserData(index, tuple(packed), len(gold) - len(held))


def run_index(gold: Sequence[Trajectory], judges: Mapping[str, Sequence[Prediction | None]]) -> dict[str, Any]:
    """What the list of runs needs, column by column.

    Args:
        gold: N trajectories.
        judges: Name → [N] its prediction for each, or None.

    Returns:
        `judges` (names), `questions`, `sources`, `agents` (distinct texts; runs refer to them by number, −1 =
        none), `runs` ({column: [N]}), and `said`: one {column: [N]} a judge, see `_judge_column`.
    """
    columns: dict[str, list[Any]] = {"key": _unique([":".join(_name_parts(run)) for run in gold])}
    texts = {}
    for plural, column, values in (
        ("sources", "source", [run.source for run in gold]),
        ("agents", "agent", [run.identity.generator for run in gold]),
        ("questions", "question", [run.question for run in gold]),
    ):
        texts[plural], columns[column] = _interned(values)
    labels = [[run.step_labels.get(index) for index in step_indices(run)] for run in gold]
    columns["outcome"] = [run.final_label for run in gold]
    columns["steps"] = [len(own) for own in labels]
    columns["strip"] = [_strip(own) for own in labels]
    columns["first"] = [_ordinal(own, -1) for own in labels]
    columns["disputed"] = [disputed_steps(run, [said[i] for said in judges.values()]) for i, run in enumerate(gold)]
    said = [_judge_column(gold, predictions) for predictions in judges.values()]
    return {"judges": list(judges), **texts, "runs": columns, "said": said}


def _name_parts(run: Trajectory) -> tuple[str, ...]:
    return run.key[1:] if run.identity.id is not None else run.key


def _unique(names: Sequence[str]) -> list[str]:
    """The names; one that stands twice (keys may hold colons themselves) gets a number."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _interned(values: Sequence[str | None]) -> tuple[list[str], list[int]]:
    numbers = {value: number for number, value in enumerate(sorted({value for value in values if value}))}
    return list(numbers), [numbers.get(value, -1) if value else -1 for value in values]


def _strip(labels: Sequence[StepLabel | None]) -> str:
    return "".join(_SIGNS[label] for label in labels[:_STRIP])


def _ordinal(labels: Sequence[StepLabel | None], wanted: StepLabel) -> int:
    return labels.index(wanted) if wanted in labels else -1


def _judge_column(gold: Sequence[Trajectory], predictions: Sequence[Prediction | None]) -> dict[str, Any]:
    """One judge, run by run.

    Returns:
        `kind` (a letter a run), `wrong` (steps whose label is wrong or missing), `first` (ordinal of the first
        −1, else −1), `final` (label or None), `strip` (signs of the first steps), `differs` (0 or 1: a given step
        label is not gold's), `outcome` (0 or 1: it takes a failure for a success or the other way round).
    """
    labels = [_labels_given(run, said) for run, said in zip(gold, predictions, strict=True)]
    runs = list(zip(gold, predictions, labels, strict=True))
    finals = [None if said is None else said.final_label for said in predictions]
    return {
        "kind": "".join(first_error_kind(run.step_labels, _judged(said)) for run, said, _ in runs),
        "wrong": [_wrong_steps(run, own) for run, _, own in runs],
        "first": [_ordinal(own, -1) for own in labels],
        "final": finals,
        "strip": [_strip(own) for own in labels],
        "differs": [int(_differs(run, own)) for run, _, own in runs],
        "outcome": [int(_outcome_differs(run, final)) for run, final in zip(gold, finals, strict=True)],
    }


def _judged(said: Prediction | None) -> Mapping[int, StepLabel] | None:
    return None if said is None or said.status == "failed" else said.step_labels


def _labels_given(run: Trajectory, said: Prediction | None) -> list[StepLabel | None]:
    given = _judged(said) or {}
    return [given.get(index) for index in step_indices(run)]


def _pairs(run: Trajectory, given: Sequence[StepLabel | None]) -> list[tuple[StepLabel, StepLabel | None]]:
    """(gold, predicted) of every step whose gold label is known."""
    truth = [run.step_labels.get(index) for index in step_indices(run)]
    return [(label, said) for label, said in zip(truth, given, strict=True) if label is not None]


def _wrong_steps(run: Trajectory, given: Sequence[StepLabel | None]) -> int:
    return sum(label != said for label, said in _pairs(run, given))


def _differs(run: Trajectory, given: Sequence[StepLabel | None]) -> bool:
    return any(said is not None and label != said for label, said in _pairs(run, given))


def _outcome_differs(run: Trajectory, final: StepLabel | None) -> bool:
    """As `final_acc` has it: success against anything else."""
    return run.final_label is not None and final is not None and (final == 1) != (run.final_label == 1)


def disputed_steps(run: Trajectory, predictions: Sequence[Prediction | None]) -> int:
    """How many steps of the run two judges label differently; missing labels agree with everything."""
    given = [labels for labels in map(_judged, predictions) if labels is not None]
    distinct = [{labels[index] for labels in given if index in labels} for index in step_indices(run)]
    return sum(len(labels) > 1 for labels in distinct)


def first_error_kind(gold: Mapping[int, StepLabel | None], said: Mapping[int, StepLabel] | None) -> str:
    """What the judge made of the run's first error; `RIGHT` exactly where `first_err_acc_strict` counts it right.

    Args:
        gold: Message index → label, None = unknown.
        said: Message index → predicted label; None = failed or missing. Labels of other messages are ignored.

    Returns:
        `UNKNOWN` where gold's first error is not known; `NOT_JUDGED` where there is no prediction or a label is
        missing that decides; `RIGHT` (found, or clean seen as clean); `FALSE_ALARM` (a clean run accused);
        `TOO_EARLY`, `TOO_LATE`; `MISSED` (an error, and no step is accused).
    """
    if not first_error_is_known(gold):
        return UNKNOWN
    if said is None:
        return NOT_JUDGED
    error = first_error(gold)
    known = [index for index, label in gold.items() if label is not None]
    accused = first_error({index: said[index] for index in known if index in said})
    if accused is not None and (error is None or accused < error):
        return FALSE_ALARM if error is None else TOO_EARLY
    if any(index not in said for index in known if error is None or index <= error):
        return NOT_JUDGED
    if accused == error:
        return RIGHT
    return MISSED if accused is None else TOO_LATE
