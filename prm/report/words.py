"""The report in plain words: short sentences that claim no more than the numbers allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prm.evaluation.significance import LEVEL
from prm.report.cells import counted
from prm.report.judged import ALWAYS_SHOWN, Judged, Metrics, judges, value_or, versus_always
from prm.report.phrases import listed, percent
from prm.report.words_one_judge import sentences_of_one
from prm.report.words_several_judges import sentences_of_several

_FEW_QUERIES = 30
_LOW_COVERAGE = 0.95


def summary_sentences(metrics: Metrics) -> list[str]:
    """What the report found, most important first, then what a reader must be careful about.

    A difference whose interval holds 0 is called "not distinguishable"; without an interval no difference is called
    anything but its number.
    """
    found = judges(metrics)
    if not found:
        return ["No judge was measured.", *_of_gold(metrics)]
    said = sentences_of_one(metrics, found[0]) if len(found) == 1 else sentences_of_several(metrics, found)
    return [*said, *_answers(found), *_of_intervals(metrics), *_of_gold(metrics)]


def _answers(found: list[Judged]) -> Iterator[str]:
    """Failed, missing and partial answers, low coverage, answers that fit nothing."""
    yield from _unusable(found)
    low = [judge for judge in found if value_or(judge.overall.get("coverage"), 1.0) < _LOW_COVERAGE]
    if low:
        named = listed([f"{judge.shown} {percent(judge.overall['coverage'])}" for judge in low])
        yield f"Not all steps were answered, and a missing answer is wrong: {named} of the steps."
    unmatched = [judge for judge in found if judge.overall.get("unmatched_predictions")]
    if unmatched:
        named = listed([f"{judge.shown} {judge.overall['unmatched_predictions']:,}" for judge in unmatched])
        yield f"Some predictions are for runs that are not in the gold and were not counted: {named}."


def _unusable(found: list[Judged]) -> Iterator[str]:
    counts = {judge.shown: _bad(judge) for judge in found}
    total = sum(counts.values())
    runs = sum(judge.overall["trajectories"] for judge in found)
    if not total:
        yield f"All {counted(runs, 'answer')} could be read in full."
        return
    worst = max(counts, key=lambda name: counts[name])
    most = f", most of {worst} ({counts[worst]:,})" if len(found) > 1 else ""
    is_or_are = "is" if total == 1 else "are"
    yield (
        f"{total:,} of {counted(runs, 'answer')} {is_or_are} failed, missing or partial{most}; what is missing counts "
        "as wrong."
    )


def _bad(judge: Judged) -> int:
    return sum(int(judge.overall.get(key) or 0) for key in ("failed", "missing", "partial"))


def _of_intervals(metrics: Metrics) -> Iterator[str]:
    queries, settings = metrics["gold"]["queries"], metrics["settings"]
    if queries < 2:
        yield "There is one query only, so nothing can be resampled: no interval, and no difference beyond this query."
    elif not settings["bootstrap"]:
        yield "No intervals were computed, so no difference here can be told from chance."
    elif queries < _FEW_QUERIES:
        yield f"There are {queries} queries only: the intervals are rough."
    draws, number = settings["bootstrap"], len(metrics["judges"])
    if _is_corrected(metrics) and 2 * number / (draws + 1) > LEVEL:
        yield (
            f"{draws:,} resamplings are too few for {counted(number, 'judge')}: no corrected p-value can fall to "
            f"{LEVEL}, so no verdict against {ALWAYS_SHOWN} is possible."
        )


def _is_corrected(metrics: Metrics) -> bool:
    found = [versus_always(metrics, judge, "step_acc") for judge in judges(metrics)]
    return any(one is not None and one.p_holm is not None for one in found)


def _of_gold(metrics: Metrics) -> Iterator[str]:
    """What the annotations do not say, and so nothing can be measured on."""
    gold = metrics["gold"]
    left_out = {
        "without an annotated label": (gold["unknown_steps"], "step"),
        "without a known outcome": (gold["unknown_outcomes"], "run"),
        "without a known first error": (_first_errors_left_out(metrics), "run"),
    }
    found = [f"{counted(number, one)} {words}" for words, (number, one) in left_out.items() if number]
    if found:
        yield f"Left out of what needs it: {listed(found)}."


def _first_errors_left_out(metrics: Metrics) -> int:
    blocks: list[Any] = [*metrics["judges"].values(), *metrics["baselines"].values()]
    return next((int(block["overall"].get("first_err_left_out") or 0) for block in blocks), 0)
