"""Judges one below the other: names on the left, one or more panels beside them that share the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from prm.report.cells import decimal
from prm.report.elements import Estimate
from prm.report.figures.draw import MARGIN, WIDTH, new_canvas, panel, pixels, write
from prm.report.figures.names import fitting_names, text_width
from prm.report.figures.theme import FG, GRID, MUTED, SERIES, SMALL, SURFACE, TEXT, TINY, Mark
from prm.report.judged import Judged

WIDEST_NAME = 220.0
ROW_HEIGHT = 25

_GAP = 28
_VALUE_WIDTH = 36
_AXIS_HEIGHT = 46


@dataclass(frozen=True, slots=True)
class Rows:
    """A canvas with names on its left.

    Attributes:
        canvas: It.
        words: Axes in pixels of the canvas.
        count: Rows.
        top: Pixel where the first row begins.
        left: Pixel where panels may begin.
    """

    canvas: Canvas
    words: Axes
    count: int
    top: float
    left: float

    @property
    def height(self) -> float:
        """Of all rows, in pixels."""
        return self.count * ROW_HEIGHT

    def middle(self, row: int) -> float:
        """Pixel of a row's middle."""
        return self.top + (row + 0.5) * ROW_HEIGHT

    def panel(self, left: float, width: float) -> Axes:
        """A panel over all rows whose vertical coordinate is the row's number."""
        axes = panel(self.canvas, left, self.top, width, self.height)
        axes.set_ylim(self.count - 0.5, -0.5)
        return axes

    def panels(self, count: int) -> list[tuple[float, float]]:
        """(left, width) of `count` equal panels, each with room for values on its right."""
        width = (WIDTH - MARGIN - self.left - (count - 1) * _GAP) / count
        return [(self.left + number * (width + _GAP), width - _VALUE_WIDTH) for number in range(count)]


def judge_rows(shown: Sequence[Judged], head: float, foot: float = _AXIS_HEIGHT) -> Rows:
    """A canvas with a row for each judge; baselines are in italics. `head` and `foot` in pixels."""
    labels = fitting_names([judged.shown for judged in shown], WIDEST_NAME, SMALL)
    return named_rows([(labels[judged.shown], judged.is_baseline) for judged in shown], head, foot)


def named_rows(names: Sequence[tuple[str, bool]], head: float, foot: float = _AXIS_HEIGHT) -> Rows:
    """The same for any (label, whether it is a yardstick)."""
    canvas = new_canvas(head + len(names) * ROW_HEIGHT + foot)
    widest = max(text_width(label, SMALL) for label, _ in names)
    rows = Rows(canvas, pixels(canvas), len(names), head, MARGIN + widest + 14)
    for number, (label, is_yardstick) in enumerate(names):
        style = {"style": "italic", "color": MUTED} if is_yardstick else {}
        write(rows.words, rows.left - 14, rows.middle(number), label, ha="right", **style)
    return rows


def guides(axes: Axes, count: int) -> None:
    """A thin line through the middle of every row, from the name to its mark."""
    axes.hlines(range(count), *axes.get_xlim(), color=GRID, linewidth=1, zorder=0)


def heading(rows: Rows, left: float, text: str) -> None:
    """The title of a panel, at the top of the canvas."""
    write(rows.words, left, MARGIN + 8, text, fontsize=TEXT, weight="bold")


def estimates(axes: Axes, values: Sequence[Estimate], marks: Sequence[Mark], filled: Sequence[bool]) -> None:
    """A mark and a whisker in each row, in per cent; nothing where the value is undefined."""
    for row, (estimate, mark, is_filled) in enumerate(zip(values, marks, filled, strict=True)):
        if estimate.value is None:
            continue
        if estimate.low is not None and estimate.high is not None:
            axes.plot([100 * estimate.low, 100 * estimate.high], [row, row], color=mark.color, lw=2, clip_on=False)
        point(axes, 100 * estimate.value, row, mark, is_filled)


def point(axes: Axes, x: float, y: float, mark: Mark, filled: bool, size: float = 8) -> Line2D:
    """One mark: filled, or with an empty middle."""
    face, edge, width = (mark.color, SURFACE, 1.2) if filled else (SURFACE, mark.color, 1.6)
    size += 1.5 if mark.marker in "^v" else 0  # triangles look smaller than they are
    (line,) = axes.plot(
        [x], [y], mark.marker, ms=size, mfc=face, mec=edge, mew=width, ls="none", clip_on=False, zorder=4
    )
    return line


def mark_key(axes: Axes, x: float, y: float, entries: Iterable[tuple[str, Mark, bool]]) -> None:
    """What marks mean, on one line: (words, mark, whether it is filled) each; `axes` in pixels."""
    for words, mark, filled in entries:
        point(axes, x + 5, y, mark, filled)
        write(axes, x + 16, y, words, fontsize=TINY, color=MUTED)
        x += 16 + text_width(words, TINY) + 22


def values_column(
    rows: Rows, right: float, values: Sequence[float | None], form: Callable[[float], str] | None = None
) -> None:
    """Numbers at the right of a panel, one a row; `form` writes a fraction, per cent with one decimal unless given."""
    form = form or (lambda value: decimal(100 * value, 1))
    for row, value in enumerate(values):
        text = "–" if value is None else form(value)
        write(rows.words, right + _VALUE_WIDTH, rows.middle(row), text, ha="right", fontsize=TINY, color=MUTED)


def yardstick(rows: Rows, axes: Axes, x: float, label: str, align: str = "center") -> None:
    """A dashed vertical line over all rows with its name above them, kept within the panel's width."""
    axes.plot([x, x], [-0.5, rows.count - 0.5], color=FG, lw=1.4, ls=(0, (4, 3)), clip_on=False, zorder=2)
    low, high = axes.get_xlim()
    box = axes.get_position()
    left, right = box.x0 * WIDTH, box.x1 * WIDTH
    at = left + (x - low) / (high - low) * (right - left)
    half = text_width(label, TINY) / 2
    kept = min(max(at, left + half), max(right + _VALUE_WIDTH - half, left + half))
    write(rows.words, kept, rows.top - 11, label, ha=align, fontsize=TINY)


def limits(values: Sequence[float | None], step: float = 10, low: float = 0, high: float = 100) -> tuple[float, float]:
    """The smallest range of whole steps that holds all values (in per cent), within [low, high]."""
    known = [value for value in values if value is not None]
    if not known:
        return low, high
    first = max(low, (min(known) // step) * step)
    last = min(high, -(-max(known) // step) * step)
    return (first, last) if last > first else (max(low, first - step), min(high, first + step))


def bounds(values: Sequence[Estimate]) -> list[float | None]:
    """Everything that must fit into a panel, in per cent."""
    return [
        None if bound is None else 100 * bound
        for estimate in values
        for bound in (estimate.value, estimate.low, estimate.high)
    ]


JUDGE_MARK = SERIES[0]
BASELINE_MARK = Mark(MUTED, "D")
"""How judges and baselines are drawn where they share a panel."""


def marks_of(shown: Sequence[Judged]) -> tuple[list[Mark], list[bool]]:
    """Marks, and whether each is filled."""
    marks = [BASELINE_MARK if judged.is_baseline else JUDGE_MARK for judged in shown]
    return marks, [not judged.is_baseline for judged in shown]
