"""Better than always +1, better than each other: paired differences with what the intervals allow to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from prm.report.cells import counted, signed
from prm.report.elements import Estimate
from prm.report.figures.draw import (
    MARGIN,
    WIDTH,
    Box,
    Drawing,
    figure,
    filled_boxes,
    new_canvas,
    percent_axis,
    pixels,
    write,
)
from prm.report.figures.names import fitting_names, text_width
from prm.report.figures.rows import (
    WIDEST_NAME,
    Rows,
    bounds,
    estimates,
    guides,
    heading,
    judge_rows,
    limits,
    mark_key,
    values_column,
    yardstick,
)
from prm.report.figures.theme import FG, LIGHT, MUTED, SMALL, TINY, Mark
from prm.report.judged import (
    ALWAYS_SHOWN,
    Difference,
    Judged,
    Metrics,
    always_positive,
    everyone,
    judges,
    paired,
    versus_always,
)

_PANELS = {"step_acc": "StepAcc", "first_err_acc_strict": "FirstErrAcc, strict rule"}

_VERDICTS: dict[str | None, tuple[Mark, bool]] = {
    "better": (Mark(LIGHT["--pos"], "^"), True),
    "not distinguishable": (Mark(MUTED, "o"), False),
    "worse": (Mark(LIGHT["--neg"], "v"), True),
    None: (Mark(MUTED, "s"), False),
}
"""Verdict → how it is drawn, and whether it is filled."""

_HOLM = (
    "The shape of a mark is the verdict after correction for the number of judges (Holm), so an interval just beside 0 "
    "may not suffice."
)

_NO_DIFFERENCE = Difference(Estimate(None), None, None, None)

_SMALLEST_CELL, _LARGEST_CELL, _TALLEST_CELL = 22.0, 52.0, 28.0
_HEAD = 42
_OPACITY = 0.3


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Where the matrix begins, and the size of a cell, in pixels."""

    left: float
    width: float
    height: float

    def box(self, row: int, column: int) -> Box:
        left, top = self.left + column * self.width, _HEAD + row * self.height
        return left + 1, top + 1, self.width - 2, self.height - 2


@figure
def versus_figure(metrics: Metrics) -> Drawing | None:
    """Each judge minus always +1 in StepAcc and strict FirstErrAcc."""
    shown = judges(metrics)
    if not shown or always_positive(metrics) is None:
        return None
    found = {key: [versus_always(metrics, one, key) or _NO_DIFFERENCE for one in shown] for key in _PANELS}
    if all(one.difference.value is None for differences in found.values() for one in differences):
        return None
    rows = judge_rows(shown, head=80)
    for (left, width), (key, title) in zip(rows.panels(len(_PANELS)), _PANELS.items(), strict=True):
        _versus_panel(rows, left, width, title, found[key])
    _verdict_key(rows, {one.verdict for differences in found.values() for one in differences})
    better = sum(one.verdict == "better" for one in found["step_acc"])
    return Drawing(
        rows.canvas,
        name="versus-always-positive",
        title=f"Each judge minus {ALWAYS_SHOWN}",
        alt=f"Dot plot of paired differences. {better} of {counted(len(shown), 'judge')} better in StepAcc.",
        caption="Paired differences in percentage points on the same runs, with 95 % intervals. "
        + (_HOLM if any(one.p_holm is not None for one in found["step_acc"]) else ""),
    )


def _versus_panel(rows: Rows, left: float, width: float, title: str, found: Sequence[Difference]) -> None:
    values = [one.difference for one in found]
    axes = rows.panel(left, width)
    low, high = limits([*bounds(values), 0.0], low=-100)
    percent_axis(axes, low, high, label="difference in points", unit="")
    guides(axes, rows.count)
    styles = [_VERDICTS[one.verdict] for one in found]
    estimates(axes, values, [mark for mark, _ in styles], [filled for _, filled in styles])
    values_column(rows, left + width, [value.value for value in values], lambda value: signed(100 * value, 1))
    heading(rows, left, title)
    yardstick(rows, axes, 0, ALWAYS_SHOWN)


def _verdict_key(rows: Rows, verdicts: set[str | None]) -> None:
    """What the marks mean, on one line below the headings."""
    entries = [(verdict or "no interval", *_VERDICTS[verdict]) for verdict in _VERDICTS if verdict in verdicts]
    mark_key(rows.words, rows.left, MARGIN + 34, entries)


@figure
def pairs_figure(metrics: Metrics) -> Drawing | None:
    """StepAcc of every two judges: row minus column, filled where they can be told apart. From three judges on."""
    shown = [judged for judged in everyone(metrics) if not judged.is_baseline or judged.shown == ALWAYS_SHOWN]
    found = paired(metrics, "step_acc")
    if len(judges(metrics)) < 3 or not found:
        return None
    names = fitting_names([judged.shown for judged in shown], WIDEST_NAME, SMALL)
    labels = [names[judged.shown] for judged in shown]
    left = MARGIN + max(text_width(label, SMALL) for label in labels) + 40
    side = max(_SMALLEST_CELL, min(_LARGEST_CELL, (WIDTH - MARGIN - left) / (len(shown) - 1)))
    matrix = _Matrix(left, side, min(side, _TALLEST_CELL))
    canvas = new_canvas(_HEAD + matrix.height * (len(shown) - 1) + MARGIN)
    axes = pixels(canvas)
    _matrix_names(axes, shown, labels, matrix)
    _matrix_cells(axes, shown, found, matrix)
    compared = [found[a.name, b.name] for a, b in _pairs(shown, found)]
    told_apart = sum(pair.verdict in ("better", "worse") for pair in compared)
    return Drawing(
        canvas,
        name="pairs",
        title="Who is better than whom in StepAcc",
        alt=f"Matrix of paired differences; {told_apart} of {len(compared)} pairs can be told apart.",
        caption="Percentage points of StepAcc, row minus column, best judge first. Filled and bold: the 95 % interval "
        "of that pair excludes 0. Grey: not distinguishable. No correction for the number of pairs.",
    )


def _pairs(shown: Sequence[Judged], found: Mapping[tuple[str, str], Difference]) -> list[tuple[Judged, Judged]]:
    return [(a, b) for number, a in enumerate(shown) for b in shown[number + 1 :] if (a.name, b.name) in found]


def _matrix_names(axes: Axes, shown: Sequence[Judged], labels: Sequence[str], matrix: _Matrix) -> None:
    """Rows by number and name, columns by number: names would not fit above narrow columns."""
    write(axes, matrix.left, MARGIN + 6, "minus …", fontsize=TINY, color=MUTED)
    for number, (judged, label) in enumerate(zip(shown, labels, strict=True)):
        style = {"style": "italic", "color": MUTED} if judged.is_baseline else {}
        y = _HEAD + (number + 0.5) * matrix.height
        if number < len(shown) - 1:
            write(axes, matrix.left - 36, y, label, ha="right", **style)
            write(axes, matrix.left - 10, y, f"{number + 1}", ha="right", fontsize=TINY, color=MUTED)
        if number > 0:
            x = matrix.left + (number - 0.5) * matrix.width
            write(axes, x, _HEAD - 11, f"{number + 1}", ha="center", fontsize=TINY, color=MUTED)
    last = len(shown) - 1
    # The last one has no row: its name stands at the end of the diagonal, where there is room.
    style = {"style": "italic"} if shown[last].is_baseline else {}
    y = _HEAD + (last - 0.5) * matrix.height
    note = f"{last + 1} = {labels[last]}"
    write(axes, matrix.left + (last - 1) * matrix.width - 8, y, note, ha="right", fontsize=TINY, color=MUTED, **style)


def _matrix_cells(
    axes: Axes, shown: Sequence[Judged], found: Mapping[tuple[str, str], Difference], matrix: _Matrix
) -> None:
    place = {judged.name: number for number, judged in enumerate(shown)}
    boxes: list[Box] = []
    colors: list[str] = []
    for a, b in _pairs(shown, found):
        pair, value = found[a.name, b.name], found[a.name, b.name].difference.value
        if value is not None:
            box = matrix.box(place[a.name], place[b.name] - 1)
            _difference(axes, box, pair, value)
            if pair.verdict in ("better", "worse"):
                boxes.append(box)
                colors.append(LIGHT["--pos"] if value > 0 else LIGHT["--neg"])
    filled_boxes(axes, boxes, colors, [_OPACITY] * len(boxes))


def _difference(axes: Axes, box: Box, pair: Difference, value: float) -> None:
    left, top, width, height = box
    apart = pair.verdict in ("better", "worse")
    style = {"color": FG, "weight": "bold"} if apart else {"color": MUTED}
    size = TINY if width >= 32 else TINY - 1.5
    text = signed(100 * value, 1 if width >= 34 else 0)
    write(axes, left + width / 2, top + height / 2, text, ha="center", fontsize=size, **style)
