"""Better than the yardstick, better than each other? Paired differences with intervals and p-values; ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from prm.report.elements import Cell, Estimate, Table
from prm.report.judged import (
    Difference,
    Judged,
    Metrics,
    always_positive,
    everyone,
    judges,
    paired,
    shown_name,
    versus_always,
)
from prm.report.measures import MEASURES
from prm.report.tables.build import Field, field, judge_table, measured, table

COMPARED = ("step_acc", "first_err_acc_strict")
"""The metrics in which judges are compared."""

Pair: TypeAlias = tuple[str, str]

_NO_INTERVAL = Estimate(None)


def versus_table(metrics: Metrics) -> Table | None:
    """Every judge minus always +1, with a verdict."""
    if always_positive(metrics) is None:
        return None
    fields = [one for metric in COMPARED for one in _versus_fields(metrics, metric)]
    return judge_table(
        "versus_always_positive",
        "Each judge minus always +1, on the same runs",
        fields,
        judges(metrics),
        "The verdict follows p (Holm) at 5 % where it is known, else the 95 % interval.",
    )


def _versus_fields(metrics: Metrics, metric: str) -> list[Field[Judged]]:
    def found(judged: Judged) -> Difference:
        return versus_always(metrics, judged, metric) or Difference(_NO_INTERVAL, None, None, None)

    title = MEASURES[metric].title
    return [
        field(f"{title} difference", "points", lambda one: found(one).difference, MEASURES[metric].meaning),
        field(f"{title} p", "p_value", lambda one: found(one).p_value, "Paired bootstrap over queries, two-sided."),
        field(f"{title} p (Holm)", "p_value", lambda one: found(one).p_holm, "p corrected for the number of judges."),
        field(f"{title} verdict", "text", lambda one: found(one).verdict),
    ]


def pairs_table(metrics: Metrics) -> Table | None:
    """Every two judges, and every judge against every baseline; the better one of a pair first."""
    found = {metric: paired(metrics, metric) for metric in COMPARED}
    rows = [(a.name, b.name) for a, b in combinations(everyone(metrics), 2) if not (a.is_baseline and b.is_baseline)]
    fields: list[Field[Pair]] = [
        field("a", "text", lambda pair: shown_name(pair[0])),
        field("b", "text", lambda pair: shown_name(pair[1])),
    ]
    fields += [one for metric in COMPARED for one in _pair_fields(MEASURES[metric].title, found[metric])]
    return table(
        "pairs",
        "Every pair: paired difference with its 95 % interval",
        fields,
        [pair for pair in rows if any(pair in differences for differences in found.values())],
        note="p-values are for one pair alone; among many pairs some are small by chance.",
    )


def _pair_fields(title: str, found: Mapping[Pair, Difference]) -> list[Field[Pair]]:
    return [
        field(f"{title} a − b", "points", lambda pair: found[pair].difference if pair in found else None),
        field(f"{title} p", "p_value", lambda pair: found[pair].p_value if pair in found else None),
    ]


def ensembles_table(metrics: Metrics) -> Table | None:
    """Every ensemble beside its best member."""
    told = metrics.get("ensembles") or {}
    rows = [judged for judged in judges(metrics) if judged.name in told]
    found = {metric: paired(metrics, metric) for metric in COMPARED}
    best = {judged.name: _best_member(metrics, told[judged.name]["members"]) for judged in rows}

    def difference(judged: Judged, metric: str) -> Cell:
        pair = found[metric].get((judged.name, best[judged.name] or ""))
        return None if pair is None else pair.difference

    fields: list[Field[Judged]] = [
        field("rule", "text", lambda one: _RULES.get(told[one.name]["rule"], told[one.name]["rule"])),
        field("members", "text", lambda one: ", ".join(told[one.name]["members"])),
        measured("step_acc"),
        measured("first_err_acc_strict"),
        field("best member", "text", lambda one: best[one.name], "The member with the highest StepAcc on this gold."),
        field("StepAcc over it", "points", lambda one: difference(one, "step_acc")),
        field("FirstErrAcc strict over it", "points", lambda one: difference(one, "first_err_acc_strict")),
    ]
    return judge_table(
        "ensembles",
        "Ensembles beside their best member",
        fields,
        rows,
        "The best member was found on this very gold, so the comparison favours it.",
    )


_RULES = {"vote": "majority vote", "mean_probability": "mean probability"}


def _best_member(metrics: Metrics, members: Sequence[str]) -> str | None:
    return next((judged.name for judged in judges(metrics) if judged.name in members), None)
