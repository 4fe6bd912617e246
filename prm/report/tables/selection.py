"""Does a judge pick good runs? Best-of-N by selector, chosen on other queries, over N, by source and by agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from prm.report.elements import Cell, CellKind, Column, Estimate, Table
from prm.report.judged import Judged, Metrics, everyone, judges, sources, with_interval
from prm.report.measures import SELECTORS, selector_title
from prm.report.tables.build import Field, field, judge_table, table

_MAX_CURVE_COLUMNS = 16

_CurveRow: TypeAlias = tuple[str, str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class _Choice:
    """What stands in a row: a judge, or one of the two limits (its name and its value)."""

    shown: str
    selectors: Mapping[str, Any]
    limit: float | None = None
    is_yardstick: bool = False


def selectors(metrics: Metrics) -> list[str]:
    """The selectors that any judge has, the known ones first in their usual order."""
    found = {name for judged in everyone(metrics) for name in judged.block["best_of_n"]["selectors"]}
    return [name for name in SELECTORS if name in found] + sorted(found - SELECTORS.keys())


def chosen_from(metrics: Metrics) -> Mapping[str, Any] | None:
    """Any Best-of-N block that is defined: groups, n, random and oracle are the same for all judges."""
    blocks = (judged.block["best_of_n"] for judged in everyone(metrics))
    return next((block for block in blocks if block["selectors"]), None)


def size_words(block: Mapping[str, Any]) -> str:
    """ "5", or "2–8" where queries differ in their number of runs."""
    return str(block["n"]) if block["n"] is not None else f"{block['n_min']}–{block['n_max']}"


def selection_table(metrics: Metrics) -> Table | None:
    """Share of queries whose chosen run succeeded, by judge and selector, between a random pick and the oracle."""
    block = chosen_from(metrics)
    if block is None:
        return None
    rows = [_choice(judged) for judged in everyone(metrics)]
    rows += [_limit("oracle", block["oracle"]), _limit("random pick", block["random"])]
    names = selectors(metrics)
    fields: list[Field[_Choice]] = [field("judge", "text", lambda one: one.shown)]
    fields += [_selector_field(name, "accuracy") for name in names]
    return table(
        "best_of_n",
        f"Best of {size_words(block)} over {block['groups']:,} queries: chosen runs that succeeded",
        fields,
        rows,
        yardsticks=lambda one: one.is_yardstick,
        note="Ties count as a random pick among the tied. Oracle: some run of the query succeeded.",
    )


def gain_table(metrics: Metrics) -> Table | None:
    """The same as gains over a random pick."""
    if chosen_from(metrics) is None:
        return None
    fields: list[Field[_Choice]] = [field("judge", "text", lambda one: one.shown)]
    fields += [_selector_field(name, "gain") for name in selectors(metrics)]
    return table(
        "best_of_n_gain",
        "Best-of-N: gain over a random pick",
        fields,
        [_choice(judged) for judged in everyone(metrics)],
        yardsticks=lambda one: one.is_yardstick,
    )


def _choice(judged: Judged) -> _Choice:
    return _Choice(judged.shown, judged.block["best_of_n"]["selectors"], is_yardstick=judged.is_baseline)


def _limit(name: str, value: float | None) -> _Choice:
    return _Choice(name, {}, value, is_yardstick=True)


def _selector_field(name: str, what: str) -> Field[_Choice]:
    kind: CellKind = "percent" if what == "accuracy" else "points"
    meaning = SELECTORS[name].meaning if name in SELECTORS else ""

    def value(one: _Choice) -> Cell:
        return one.limit if one.limit is not None else selected(one.selectors.get(name), what)

    return Field(Column(selector_title(name), kind, meaning), value)


def selected(selector: Mapping[str, Any] | None, what: str) -> Estimate:
    """Accuracy or gain of a selector with its interval."""
    if selector is None:
        return Estimate(None)
    return with_interval(selector.get(what), (selector.get("ci95") or {}).get(what))


def chosen_table(metrics: Metrics) -> Table | None:
    """The selector chosen on the other queries, beside the best one in hindsight."""
    rows = [judged for judged in everyone(metrics) if judged.block["best_of_n"].get("chosen")]
    fields: list[Field[Judged]] = [
        field("selectors chosen", "text", lambda one: chosen_words(_chosen(one)["selector_by_fold"])),
        field(
            "accuracy",
            "percent",
            lambda one: selected(_chosen(one), "accuracy"),
            "Of the chosen selectors.",
        ),
        field("gain", "points", lambda one: selected(_chosen(one), "gain"), "Over a random pick."),
        field("best in hindsight", "text", lambda one: selector_title(_hindsight(one)["selector"])),
        field(
            "its accuracy", "percent", lambda one: _hindsight(one)["accuracy"], "Too good: found on the very queries."
        ),
        field("its gain", "points", lambda one: _hindsight(one)["gain"]),
    ]
    return judge_table(
        "best_of_n_chosen",
        "Best-of-N with the selector chosen on other queries",
        fields,
        rows,
        "Each fold's queries are judged with the selector that did best on the other folds.",
    )


def _chosen(judged: Judged) -> Mapping[str, Any]:
    chosen: Mapping[str, Any] = judged.block["best_of_n"]["chosen"]
    return chosen


def _hindsight(judged: Judged) -> Mapping[str, Any]:
    best: Mapping[str, Any] = _chosen(judged)["best_in_hindsight"]
    return best


def chosen_words(by_fold: Sequence[str]) -> str:
    """ "two-stage (4 of 5 folds), outcome (1 of 5 folds)", the most frequent first."""
    counts = Counter(by_fold)
    if len(counts) == 1:
        return selector_title(by_fold[0])
    return ", ".join(f"{selector_title(name)} ({n} of {len(by_fold)} folds)" for name, n in counts.most_common())


def by_source_table(metrics: Metrics) -> Table | None:
    """Two-stage Best-of-N in each source."""
    if chosen_from(metrics) is None:
        return None
    fields = [
        field(source, "percent", partial(_two_stage_in, source))
        for source in sources(metrics)
        if any(_two_stage_in(source, judged).value is not None for judged in everyone(metrics))
    ]
    rows = everyone(metrics) if fields else []
    return judge_table("best_of_n_by_source", "Two-stage Best-of-N by source", fields, rows)


def _two_stage_in(source: str, judged: Judged) -> Estimate:
    block = (judged.block["by_source"].get(source) or {}).get("best_of_n") or {}
    return selected((block.get("selectors") or {}).get("two_stage"), "accuracy")


def by_generator_table(metrics: Metrics) -> Table | None:
    """Two-stage Best-of-N among the runs of one agent."""
    rows = [
        (judged, generator, block)
        for judged in everyone(metrics)
        for generator, block in (judged.block["best_of_n"].get("by_generator") or {}).items()
    ]
    fields: list[Field[tuple[Judged, str, Mapping[str, Any]]]] = [
        field("judge", "text", lambda row: row[0].shown),
        field("agent", "text", lambda row: row[1]),
        field("queries", "count", lambda row: row[2].get("groups")),
        field("random pick", "percent", lambda row: row[2].get("random")),
        field("two-stage", "percent", lambda row: selected(row[2]["selectors"].get("two_stage"), "accuracy")),
        field("gain", "points", lambda row: selected(row[2]["selectors"].get("two_stage"), "gain")),
        field("oracle", "percent", lambda row: row[2].get("oracle")),
    ]
    return table(
        "best_of_n_by_agent",
        "Best-of-N among the runs of one agent",
        fields,
        rows,
        yardsticks=lambda row: row[0].is_baseline,
    )


def curve_table(metrics: Metrics) -> Table | None:
    """Accuracy over the number of runs to choose from, for every judge and selector."""
    rows = [
        (judged.shown, selector_title(name), curve["accuracy"])
        for judged in judges(metrics)
        for name, curve in (_curve(judged).get("selectors") or {}).items()
    ]
    first = next((_curve(judged) for judged in judges(metrics) if _curve(judged)), None)
    if first is None:
        return None
    rows += [("oracle", "", first["oracle"]), ("random pick", "", first["random"])]
    fields: list[Field[_CurveRow]] = [
        field("judge", "text", lambda row: row[0]),
        field("selector", "text", lambda row: row[1]),
    ]
    shown = _shown_sizes(first["n"])
    for number in shown:
        groups = f"{first['groups'][number]:,} queries have that many runs."
        fields.append(Field(Column(f"N = {first['n'][number]}", "percent", groups), partial(_at, number)))
    left_out = "" if len(shown) == len(first["n"]) else " Further N are in metrics.json."
    return table(
        "best_of_n_curve",
        "Best-of-N over the number of runs",
        fields,
        rows,
        yardsticks=lambda row: not row[1],
        note=f"Expected over which N of a query's runs are taken.{left_out}",
    )


def _at(number: int, row: _CurveRow) -> float | None:
    return row[2][number]


def _curve(judged: Judged) -> Mapping[str, Any]:
    return judged.block["best_of_n"].get("curve") or {}


def _shown_sizes(sizes: Sequence[int]) -> list[int]:
    """Numbers of the columns that are shown: all, or powers of two and the last."""
    if len(sizes) <= _MAX_CURVE_COLUMNS:
        return list(range(len(sizes)))
    return [number for number, n in enumerate(sizes) if n & (n - 1) == 0 or number == len(sizes) - 1]
