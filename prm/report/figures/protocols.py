"""The same judge under two label protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prm.report.cells import counted, signed
from prm.report.elements import Estimate
from prm.report.figures.draw import MARGIN, Drawing, figure, percent_axis
from prm.report.figures.names import fitting_names
from prm.report.figures.rows import (
    JUDGE_MARK,
    Rows,
    bounds,
    estimates,
    guides,
    heading,
    limits,
    mark_key,
    named_rows,
    point,
    values_column,
    yardstick,
)
from prm.report.figures.theme import MUTED, SERIES, SMALL
from prm.report.judged import Metrics, with_interval
from prm.report.measures import selector_title
from prm.report.tables.protocols import compared, protocol_words

_SHOWN = ("final", "pct_pos", "two_stage", "prob_mean", "final_prob")


@figure
def protocols_figure(metrics: Metrics) -> Drawing | None:
    """Best-of-N under both protocols, and the paired difference, for the main selectors of each judge."""
    found = [
        (row["judge"], name, row["selectors"][name])
        for row in compared(metrics)
        for name in _SHOWN
        if name in (row.get("selectors") or {})
    ]
    if not found:
        return None
    names = fitting_names([judge for judge, _, _ in found], 130, SMALL)
    rows = named_rows([(f"{names[judge]}, {selector_title(name)}", False) for judge, name, _ in found], head=80)
    (left, width), (right, _) = rows.panels(2)
    _both(rows, left, width, [selector for _, _, selector in found])
    _difference(rows, right, width, [selector for _, _, selector in found])
    _key(rows, compared(metrics)[0])
    return Drawing(
        rows.canvas,
        name="protocols",
        title="Best-of-N of one judge under two protocols",
        alt=f"Dot plot of {counted(len(found), 'selector')} under two protocols, with paired differences.",
        caption="Left: queries whose chosen run succeeded. Right: the paired difference with its 95 % interval.",
    )


def _both(rows: Rows, left: float, width: float, found: list[Mapping[str, Any]]) -> None:
    axes = rows.panel(left, width)
    values = [100 * one[side] for one in found for side in ("a", "b")]
    percent_axis(axes, *limits(values), label="chosen run succeeded")
    guides(axes, rows.count)
    for row, one in enumerate(found):
        axes.plot([100 * one["a"], 100 * one["b"]], [row, row], color=MUTED, lw=1.2)
        point(axes, 100 * one["a"], row, JUDGE_MARK, True)
        point(axes, 100 * one["b"], row, SERIES[1], False)
    heading(rows, left, "both protocols")


def _difference(rows: Rows, left: float, width: float, found: list[Mapping[str, Any]]) -> None:
    axes = rows.panel(left, width)
    values: list[Estimate] = [with_interval(one["difference"], one.get("ci95")) for one in found]
    percent_axis(axes, *limits([*bounds(values), 0.0], low=-100), label="difference in points", unit="")
    guides(axes, rows.count)
    estimates(axes, values, [JUDGE_MARK] * len(values), [True] * len(values))
    values_column(rows, left + width, [value.value for value in values], lambda value: signed(100 * value, 1))
    yardstick(rows, axes, 0, "no difference")
    heading(rows, left, "second minus first")


def _key(rows: Rows, first: Mapping[str, Any]) -> None:
    a = (f"first: {protocol_words(first['a'])}", JUDGE_MARK, True)
    b = (f"second: {protocol_words(first['b'])}", SERIES[1], False)
    mark_key(rows.words, rows.left, MARGIN + 34, (a, b))
