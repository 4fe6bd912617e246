"""After how many calls each milestone is first reached: a histogram a milestone, with median and quartiles."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from prm.reach.metrics.node_values import NodeReport
from prm.reach.metrics.report_values import ArmReport
from prm.report.cells import counted, decimal
from prm.report.figures.draw import MARGIN, WIDTH, Box, Drawing, figure, filled_boxes, new_canvas, panel, pixels, write
from prm.report.figures.lines import words_axis
from prm.report.figures.names import fitting_names, text_width
from prm.report.figures.theme import FG, GRID, MUTED, SMALL, SURFACE, TINY
from prm.report.reach.figures.marks import PALE, REACHED
from prm.report.reach.shares import share

MAX_CALLS = 40
"""Further to the right nothing is drawn."""

MAX_NODES = 40
"""More milestones than this are not drawn."""

_ROW, _HEAD, _FOOT, _RIGHT = 54, 30, 46, 190
_WIDEST_NAME, _MAX_TICKS, _FEWEST = 170.0, 15, 10
_TALL = 0.62
"""Height of the tallest bar in a row, in rows."""


@figure
def first_reach_figure(arm: ArmReport, name: str) -> Drawing | None:
    """One agent × variant; None where no run reaches anything."""
    nodes = [node for node in arm.nodes[:MAX_NODES] if node.first_reach.quartiles is not None]
    if not nodes:
        return None
    labels = fitting_names([node.name for node in nodes], _WIDEST_NAME, SMALL)
    left = MARGIN + max(text_width(label, SMALL) for label in labels.values()) + 16
    longest = min(MAX_CALLS, max(_FEWEST, *(len(node.first_reach.curve) for node in nodes)))
    canvas = new_canvas(_HEAD + _ROW * len(nodes) + _FOOT)
    axes = panel(canvas, left, _HEAD, WIDTH - left - _RIGHT, _ROW * len(nodes))
    axes.set_xlim(0.4, longest + 0.6)
    axes.set_ylim(len(nodes) - 0.5, -0.5)
    every = -(-longest // _MAX_TICKS)
    ticks = [float(k) for k in range(every, longest + 1, every)]
    words_axis(axes, ticks, [f"{k:.0f}" for k in ticks], "tool calls made when it is first reached")
    words = pixels(canvas)
    write(words, left, 12, "share of runs", color=MUTED, fontsize=TINY)
    tallest = max(max(_steps(node, longest), default=0.0) for node in nodes) or 1.0
    for row, node in enumerate(nodes):
        middle = _HEAD + (row + 0.5) * _ROW
        write(words, left - 14, middle + 8, labels[node.name], ha="right")
        _draw_row(axes, row, _steps(node, longest), tallest)
        _draw_quartiles(axes, row, node, longest)
        _write_numbers(canvas_words=words, middle=middle + 8, node=node)
    return Drawing(
        canvas,
        name=name,
        title=f"First reach: {arm.arm.name}",
        alt=_alt(nodes),
        caption="Bars: the share of runs that first reach the milestone with that many calls made, all rows on one "
        "scale. The mark below them is the median of the runs that reach it, its line the quartiles."
        + (f" Only the first {longest} calls are drawn." if _is_cut(nodes, longest) else ""),
    )


def _steps(node: NodeReport, longest: int) -> list[float]:
    """Share of runs that first reach it at call 1, 2, …"""
    curve = [value or 0.0 for value in node.first_reach.curve[:longest]]
    return [now - before for now, before in zip(curve, [0.0, *curve], strict=False)]


def _is_cut(nodes: Sequence[NodeReport], longest: int) -> bool:
    return any(len(node.first_reach.curve) > longest for node in nodes)


def _draw_row(axes: Axes, row: int, steps: Sequence[float], tallest: float) -> None:
    base = row + 0.22
    axes.plot(axes.get_xlim(), [base, base], color=GRID, lw=1, zorder=0)
    heights = [step / tallest * _TALL for step in steps]
    boxes: list[Box] = [(k - 0.36, base - height, 0.72, height) for k, height in enumerate(heights, 1) if height > 0]
    filled_boxes(axes, boxes, [REACHED] * len(boxes), [PALE] * len(boxes))


def _draw_quartiles(axes: Axes, row: int, node: NodeReport, longest: int) -> None:
    low, middle, high = (min(value, longest + 0.5) for value in node.first_reach.quartiles or (0.0, 0.0, 0.0))
    base = row + 0.32
    axes.plot([low, high], [base, base], color=REACHED, lw=2.4, solid_capstyle="round", clip_on=False, zorder=3)
    axes.plot([middle], [base], "o", ms=7.5, mfc=REACHED, mec=SURFACE, mew=1.2, clip_on=False, zorder=4)


def _write_numbers(canvas_words: Axes, middle: float, node: NodeReport) -> None:
    low, median, high = node.first_reach.quartiles or (0.0, 0.0, 0.0)
    left = WIDTH - _RIGHT + 18
    text = f"median {decimal(median, 1)}, IQR {decimal(low, 1)}–{decimal(high, 1)}"
    write(canvas_words, left, middle - 8, text, fontsize=TINY, color=FG)
    write(canvas_words, left, middle + 8, f"reached {share(node.reached.value)}", fontsize=TINY, color=MUTED)


def _alt(nodes: Sequence[NodeReport]) -> str:
    medians = [f"{node.name} {decimal((node.first_reach.quartiles or (0, 0, 0))[1], 1)}" for node in nodes]
    return f"Histograms of {counted(len(nodes), 'milestone')}; median calls: {', '.join(medians)}."
