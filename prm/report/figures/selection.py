"""Does a judge pick good runs: Best-of-N at all runs, and over the number of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prm.report.cells import counted, decimal
from prm.report.elements import Estimate
from prm.report.figures.draw import MARGIN, WIDTH, Drawing, figure, new_canvas, panel, percent_axis, pixels, write
from prm.report.figures.lines import (
    LIMIT,
    MAX_NAMED,
    Line,
    draw_lines,
    end_labels,
    line_limits,
    percent_scale,
    series,
    words_axis,
)
from prm.report.figures.rows import (
    JUDGE_MARK,
    Rows,
    bounds,
    estimates,
    guides,
    judge_rows,
    limits,
    mark_key,
    point,
    values_column,
    yardstick,
)
from prm.report.figures.theme import SERIES, Mark
from prm.report.judged import Judged, Metrics, judges, value_or, with_interval
from prm.report.measures import selector_title
from prm.report.tables.selection import chosen_from, selected, selectors, size_words

_HINDSIGHT = Mark(SERIES[1].color, "D")
_MAX_TICKS = 12
_LEFT, _TOP, _HEIGHT, _ROOM = 44, 30, 300, 230


@figure
def selection_figure(metrics: Metrics) -> Drawing | None:
    """Success of the chosen runs, between a random pick and the oracle."""
    shown = [judged for judged in judges(metrics) if judged.block["best_of_n"]["selectors"]]
    limit = chosen_from(metrics)
    if not shown or limit is None:
        return None
    values = [_headline(judged) for judged in shown]
    best = [_hindsight(judged) for judged in shown]
    rows = judge_rows(shown, head=72)
    left, width = rows.panels(1)[0]
    axes = rows.panel(left, width)
    ends = [100 * limit["random"], 100 * limit["oracle"]]
    percent_axis(axes, *limits([*bounds(values), *ends]), label="queries whose chosen run succeeded")
    guides(axes, rows.count)
    for row, value in enumerate(best):
        if value is not None:
            point(axes, 100 * value, row, _HINDSIGHT, False)
    estimates(axes, values, [JUDGE_MARK] * len(shown), [True] * len(shown))
    values_column(rows, left + width, [value.value for value in values])
    yardstick(rows, axes, ends[0], f"random pick: {decimal(ends[0], 1)} %")
    yardstick(rows, axes, ends[1], f"oracle: {decimal(ends[1], 1)} %")
    is_chosen = any(judged.block["best_of_n"].get("chosen") for judged in shown)
    _key(rows, "selector chosen on other queries" if is_chosen else "two-stage", any(v is not None for v in best))
    return Drawing(
        rows.canvas,
        name="best-of-n",
        title=f"Best of {size_words(limit)}: how often the chosen run succeeded",
        alt=f"Dot plot of {counted(len(shown), 'judge')} between a random pick ({decimal(ends[0], 1)} per cent) and "
        f"the oracle ({decimal(ends[1], 1)} per cent).",
        caption="Whiskers are 95 % intervals. The best selector in hindsight was found on the very queries it is shown "
        "on and is too good; the selector chosen on other queries is honest."
        if is_chosen
        else "Whiskers are 95 % intervals.",
    )


def _headline(judged: Judged) -> Estimate:
    """Accuracy of the selector chosen on other queries; of two-stage where none was chosen."""
    block = judged.block["best_of_n"]
    return selected(block.get("chosen") or block["selectors"].get("two_stage"), "accuracy")


def _hindsight(judged: Judged) -> float | None:
    chosen: Mapping[str, Any] | None = judged.block["best_of_n"].get("chosen")
    return None if chosen is None else chosen["best_in_hindsight"]["accuracy"]


def _key(rows: Rows, first: str, has_second: bool) -> None:
    second = [("best in hindsight", _HINDSIGHT, False)] if has_second else []
    mark_key(rows.words, rows.left, MARGIN + 12, [(first, JUDGE_MARK, True), *second])


@figure
def curve_figure(metrics: Metrics) -> Drawing | None:
    """Best-of-N over N: two-stage of every judge, or every selector of a single judge."""
    with_curve = [judged for judged in judges(metrics) if judged.block["best_of_n"].get("curve")]
    if not with_curve:
        return None
    first = with_curve[0].block["best_of_n"]["curve"]
    lines = _judge_lines(with_curve) if len(with_curve) > 1 else _selector_lines(metrics, with_curve[0])
    at = [float(number) for number in range(len(first["n"]))]
    lines += [
        Line("oracle", at, [Estimate(value) for value in first["oracle"]], LIMIT, markers=False),
        Line("random pick", at, [Estimate(value) for value in first["random"]], LIMIT, markers=False),
    ]
    canvas = new_canvas(_TOP + _HEIGHT + 48)
    axes = panel(canvas, _LEFT, _TOP, WIDTH - _LEFT - _ROOM, _HEIGHT)
    axes.set_xlim(-0.1, max(len(at) - 0.9, 0.1))
    percent_scale(axes, *line_limits(lines))
    every = -(-len(at) // _MAX_TICKS)
    words_axis(axes, at[::every], [str(n) for n in first["n"][::every]], "N: runs to choose from")
    draw_lines(axes, lines)
    end_labels(axes, lines, _ROOM - MARGIN)
    write(pixels(canvas), _LEFT, 12, "queries whose chosen run succeeded")
    return Drawing(
        canvas,
        name="best-of-n-curve",
        title="Best-of-N over the number of runs",
        alt=f"Lines from N = {first['n'][0]} to N = {first['n'][-1]} between a random pick and the oracle.",
        caption=_curve_caption(with_curve, first),
    )


def _judge_lines(shown: list[Judged]) -> list[Line]:
    def values(judged: Judged) -> list[Estimate]:
        return _values(judged, "two_stage")

    ranked = sorted(shown, key=lambda judged: -value_or(values(judged)[-1].value, 0.0))
    at = [float(number) for number in range(len(shown[0].block["best_of_n"]["curve"]["n"]))]
    return series([judged.shown for judged in ranked], at, [values(judged) for judged in ranked])


def _selector_lines(metrics: Metrics, judged: Judged) -> list[Line]:
    names = [name for name in selectors(metrics) if name in judged.block["best_of_n"]["curve"]["selectors"]]
    ranked = sorted(names, key=lambda name: -value_or(_values(judged, name)[-1].value, 0.0))
    at = [float(number) for number in range(len(judged.block["best_of_n"]["curve"]["n"]))]
    return series([selector_title(name) for name in ranked], at, [_values(judged, name) for name in ranked])


def _values(judged: Judged, selector: str) -> list[Estimate]:
    curve = judged.block["best_of_n"]["curve"]
    found = curve["selectors"].get(selector)
    if found is None:
        return [Estimate(None)] * len(curve["n"])
    return [with_interval(*pair) for pair in zip(found["accuracy"], found["ci95"], strict=True)]


def _curve_caption(shown: list[Judged], curve: Mapping[str, Any]) -> str:
    what = "Two-stage selector of each judge" if len(shown) > 1 else f"Selectors of {shown[0].shown}"
    grey = f"; the best {MAX_NAMED} are named" if len(shown) > MAX_NAMED else ""
    fewer = curve["groups"][-1] < curve["groups"][0]
    note = " Fewer queries have that many runs further right." if fewer else ""
    return f"{what}{grey}, expected over which N of a query's runs are taken.{note}"
