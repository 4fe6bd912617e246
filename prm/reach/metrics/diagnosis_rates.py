"""How often each diagnosis is made, and which are found where a milestone is not reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prm.reach.judging.verdict import Diagnosis, DiagnosisName, MilestoneVerdict, RunVerdict
from prm.reach.metrics.node_values import MissCause
from prm.reach.metrics.report_values import DiagnosisReport
from prm.reach.metrics.scenario_means import Later, ScenarioMeans
from prm.reach.metrics.verdict_arrays import Floats, VerdictArrays
from prm.reach.metrics.words import diagnosis_words

MAX_SUBJECTS = 20
"""Of one diagnosis; rarer ones are only part of its whole."""

MAX_CAUSES = 8
"""Of one milestone."""

HABIT_RUNS = 2
"""Needless calls of one tool that so many runs make are a habit."""

_NO_CAUSE = ("recovery", "detour", "never_called", "called_wrong")
"""What was put right; what cost calls and broke nothing; and what says that a milestone is open, but not why."""


class _Kind(NamedTuple):
    """What diagnoses are counted by."""

    name: DiagnosisName
    subject: str = ""
    kind: str = ""


def diagnosis_reports(arrays: VerdictArrays, means: ScenarioMeans) -> Later[tuple[DiagnosisReport, ...]]:
    """Each diagnosis as a whole, most frequent first, and after it its most frequent subjects."""
    rows: dict[_Kind, list[int]] = defaultdict(list)
    for row, verdict in enumerate(arrays.verdicts):
        for diagnosis in verdict.diagnoses:
            rows[_Kind(diagnosis.name)].append(row)
            if diagnosis.subject:
                rows[_detailed(diagnosis)].append(row)
    habits = _habits(arrays.verdicts)
    reports = [_report(kind, rows[kind], len(arrays.verdicts), habits, means) for kind in _in_order(rows)]
    return lambda: tuple(report() for report in reports)


def _habits(verdicts: Sequence[RunVerdict]) -> frozenset[str]:
    """The tools of detours that recur, whether or not the runs completed all the same."""
    runs: Counter[str] = Counter()
    for verdict in verdicts:
        runs.update({one.subject for one in verdict.diagnoses if one.name == "detour"})
    return frozenset(tool for tool, count in runs.items() if count >= HABIT_RUNS)


def _detailed(diagnosis: Diagnosis) -> _Kind:
    """Only a detour's kind is one of a few words; elsewhere it may be a number of times."""
    return _Kind(diagnosis.name, diagnosis.subject, diagnosis.kind if diagnosis.name == "detour" else "")


def _in_order(rows: Mapping[_Kind, Sequence[int]]) -> list[_Kind]:
    runs = {kind: len(set(found)) for kind, found in rows.items()}
    by_name: dict[str, list[_Kind]] = defaultdict(list)
    for kind in sorted(rows, key=lambda kind: (-runs[kind], kind)):
        if kind.subject and len(by_name[kind.name]) < MAX_SUBJECTS:
            by_name[kind.name].append(kind)
    wholes = sorted((kind for kind in rows if not kind.subject), key=lambda kind: (-runs[kind], kind))
    return [kind for whole in wholes for kind in (whole, *by_name[whole.name])]


def _report(
    kind: _Kind, rows: list[int], n_runs: int, habits: Collection[str], means: ScenarioMeans
) -> Later[DiagnosisReport]:
    runs = len(set(rows))
    values = np.zeros(n_runs)
    values[rows] = 1
    share = means.of_runs(values)
    habit = kind.subject in habits if kind.name == "detour" and kind.subject else None
    words = diagnosis_words(kind.name, kind.subject)
    return lambda: DiagnosisReport(kind.name, kind.subject, kind.kind, share(), runs, len(rows), habit, words)


def miss_causes(arrays: VerdictArrays, milestone: str, means: ScenarioMeans) -> Later[tuple[MissCause, ...]]:
    """What is found in the runs that do not reach a milestone, most frequent first.

    Where a diagnosis is about the milestone itself or about the batch in which it was touched, it counts for that
    run; where none is, all diagnoses of the run do.
    """
    missed = arrays.reached[:, arrays.column(milestone)] == 0
    rows: dict[_Kind, list[int]] = defaultdict(list)
    for row in np.flatnonzero(missed):
        verdict = arrays.verdicts[row]
        for kind in {_detailed(diagnosis) for diagnosis in _closest(verdict, verdict.by_name[milestone])}:
            rows[kind].append(int(row))
    values = {kind: _among(missed, found) for kind, found in rows.items()}
    shares = {kind: float(np.nanmean(means.grouping.means(column))) for kind, column in values.items()}
    first = sorted(values, key=lambda kind: (-shares[kind], kind))[:MAX_CAUSES]
    causes = [_cause(kind, values[kind], len(rows[kind]), means) for kind in first]
    return lambda: tuple(cause() for cause in causes)


def _closest(verdict: RunVerdict, milestone: MilestoneVerdict) -> Iterable[Diagnosis]:
    found = [diagnosis for diagnosis in verdict.diagnoses if diagnosis.name not in _NO_CAUSE]
    batch = None if milestone.touched is None else milestone.touched.batch
    close = [diagnosis for diagnosis in found if diagnosis.subject == milestone.name or diagnosis.batch == batch]
    return close or found


def _among(missed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], rows: list[int]) -> Floats:
    values = np.where(missed, 0.0, np.nan)
    values[rows] = 1
    return values


def _cause(kind: _Kind, values: Floats, runs: int, means: ScenarioMeans) -> Later[MissCause]:
    share = means.of_runs(values)
    words = diagnosis_words(kind.name, kind.subject)
    return lambda: MissCause(kind.name, kind.subject, kind.kind, share(), runs, words)
