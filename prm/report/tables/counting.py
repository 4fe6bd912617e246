"""How it was counted: published and strict rules side by side, what was left out, and the definitions."""

from __future__ import annotations

from collections.abc import Iterator

from prm.report.elements import Table
from prm.report.judged import ALWAYS_SHOWN, Judged, Metrics, everyone
from prm.report.measures import MEASURES, SELECTORS
from prm.report.tables.build import Field, field, judge_table, measured, plain, table

_COUNTS = {
    "failed": ("failed", "Answers that failed: no label could be read from them."),
    "partial": ("partial", "Answers that lack a label for some labelled step."),
    "missing": ("missing", "Runs without any answer."),
    "first_err_left_out": ("left out of FirstErrAcc", "Runs whose annotated first error is unknown."),
    "ignored_labels": ("labels ignored", "Predicted labels on messages that are no labelled step."),
    "unmatched_predictions": ("unmatched", "Answers for runs that are not in the gold."),
    "superseded_predictions": ("superseded", "Older answers for a run that has a newer one."),
}

_RULES = ("first_err_acc", "first_err_acc_strict", "final_acc", "final_acc_strict")


def rules_table(metrics: Metrics) -> Table | None:
    """Published rule beside strict rule, with the answers that make them differ."""
    fields: list[Field[Judged]] = [_count(key) for key in ("failed", "partial", "missing")]
    fields += [plain("coverage"), plain("final_coverage")]
    fields += [measured(key) for key in _RULES]
    fields += [_count(key) for key in _COUNTS if key not in ("failed", "partial", "missing")]
    return judge_table(
        "strict_and_published",
        "Strict and published rule, and what was counted apart",
        fields,
        everyone(metrics),
        "The published rule takes a failed or missing answer as “no error” and “no success”; the strict one as wrong.",
    )


def _count(key: str) -> Field[Judged]:
    title, meaning = _COUNTS[key]
    return field(title, "count", lambda judged: judged.overall.get(key), meaning)


def definitions_table(metrics: Metrics) -> Table | None:
    """Every word of the report in plain words."""
    fields: list[Field[tuple[str, str]]] = [
        field("word", "text", lambda row: row[0]),
        field("meaning", "text", lambda row: row[1]),
    ]
    return table("definitions", "Definitions", fields, list(_definitions(metrics)))


def _definitions(metrics: Metrics) -> Iterator[tuple[str, str]]:
    yield "run", "One attempt of an agent at a task. Its steps are the agent's own messages, each labelled −1, 0 or +1."
    yield "query", "One task. All runs of a query are resampled together, because they are not independent."
    yield "judge", "Whatever predicts step labels: a trained model or a prompted one."
    yield ALWAYS_SHOWN, "The yardstick that answers +1 to every step and outcome (always_positive in metrics.json)."
    for measure in MEASURES.values():
        yield measure.title, measure.meaning
    yield "recall", "Of the steps annotated with a label, the share predicted so. A missing prediction is wrong."
    draws = metrics["settings"]["bootstrap"]
    yield "95 % interval", _interval_words(draws)
    yield "p", "Two-sided, from the same resampling: how often the difference would change its sign."
    yield "p (Holm)", "p corrected for testing as many judges as there are; at most 0.05 counts as distinguishable."
    yield "Best-of-N", "Of the runs of a query the judge chooses one; how often did the chosen one succeed?"
    for selector in SELECTORS.values():
        yield f"selector “{selector.title}”", selector.meaning


def _interval_words(draws: int) -> str:
    if not draws:
        return "None was computed for this report."
    return (
        f"The middle 95 % of {draws:,} recomputations, each on queries drawn anew with replacement. All judges share "
        "the draws, so that differences are paired."
    )
