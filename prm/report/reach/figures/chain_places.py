"""Where everything of a milestone graph stands, in pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prm.report.figures.draw import MARGIN, WIDTH
from prm.report.figures.names import fitting_names, one_line, text_width
from prm.report.figures.theme import TINY
from prm.report.reach.figures.boxes import Box, Point
from prm.report.reach.layout import Graph, Layout, Slot, laid_out

INNER = 13.0
"""Room between a box's frame and its words."""

LINE = 14.0
"""From one line of small words to the next."""

NARROW = 215.0
"""A narrower box has its two shares one below the other."""

_NODE_HEIGHT, _GAP, _LAST_GAP, _END_HEIGHT = 84.0, 60.0, 30.0, 42.0
_WIDEST, _BETWEEN, _PASSING = 330.0, 18.0, 26.0
_MAX_LINES = 2


@dataclass(frozen=True, slots=True)
class Places:
    """A graph on its canvas.

    Attributes:
        height: Of the canvas.
        start, end: The boxes before the first and behind the last milestones.
        nodes: Milestone → its box.
        titles: Milestone → the lines of its title.
        ways: (from, to) → the points that its line runs through.
        first, last: The milestones of the first row that nothing comes before, and of the last row that nothing
            comes after: others have no line to the start or the end, because it would run through boxes.
    """

    height: float
    start: Box
    end: Box
    nodes: Mapping[str, Box]
    titles: Mapping[str, Sequence[str]]
    ways: Mapping[tuple[str, str], Sequence[Point]]
    first: Sequence[str]
    last: Sequence[str]


def places(graph: Graph, titles: Mapping[str, str]) -> Places:
    """Places of a graph of at least one milestone; `titles` are what milestones are, in words."""
    layout = laid_out(graph)
    counts = [sum(slot.name is not None for slot in row) for row in layout.rows]
    width = min(_width(len(row), count) for row, count in zip(layout.rows, counts, strict=True))
    names = [name for row in layout.rows for name in _names(row)]
    lines = {name: wrapped(titles.get(name, ""), width - 2 * INNER) for name in names}
    node_height = _NODE_HEIGHT + LINE * (max(map(len, lines.values())) + (width < NARROW))
    boxes = _boxes(layout, width, node_height)
    height = 2 * MARGIN + 2 * _END_HEIGHT + _LAST_GAP + len(layout.rows) * (node_height + _GAP)
    first, last = (_names(row) for row in (layout.rows[0], layout.rows[-1]))
    return Places(
        height=height,
        start=Box(WIDTH / 2 - 130, MARGIN, 260, _END_HEIGHT),
        end=Box(WIDTH / 2 - 170, height - MARGIN - _END_HEIGHT, 340, _END_HEIGHT),
        nodes={name: boxes[name] for name in lines},
        titles=lines,
        ways={edge: _points(way, boxes) for edge, way in layout.edges.items()},
        first=[name for name in first if all(target != name for _, target in layout.edges)],
        last=[name for name in last if all(source != name for source, _ in layout.edges)],
    )


def _width(slots: int, nodes: int) -> float:
    """The widest that the boxes of a row can be, beside those slots through which lines pass."""
    free = WIDTH - 2 * MARGIN - (slots - nodes) * _PASSING - (slots - 1) * _BETWEEN
    return min(_WIDEST, free / max(1, nodes))


def _names(row: Sequence[Slot]) -> list[str]:
    return [slot.name for slot in row if slot.name is not None]


def _boxes(layout: Layout, wide: float, height: float) -> dict[str, Box]:
    """Key → where it stands; what a line passes through is narrow."""
    boxes: dict[str, Box] = {}
    top = MARGIN + _END_HEIGHT + _GAP
    for row in layout.rows:
        across = [_PASSING if slot.name is None else wide for slot in row]
        left = (WIDTH - sum(across) - (len(row) - 1) * _BETWEEN) / 2
        for slot, width in zip(row, across, strict=True):
            boxes[slot.key] = Box(left, top, width, height)
            left += width + _BETWEEN
        top += height + _GAP
    return boxes


def _points(way: Sequence[str], boxes: Mapping[str, Box]) -> list[Point]:
    first, last = boxes[way[0]], boxes[way[-1]]
    points: list[Point] = [(first.middle, first.bottom)]
    for key in way[1:-1]:
        points += [(boxes[key].middle, boxes[key].top), (boxes[key].middle, boxes[key].bottom)]
    return [*points, (last.middle, last.top)]


def wrapped(text: str, room: float) -> list[str]:
    """The text in at most two lines of small words; what does not fit is left out in the middle of the last."""
    words = one_line(text).split() if text.strip() else []
    lines: list[str] = []
    while words:
        taken = 1
        while taken < len(words) and text_width(" ".join(words[: taken + 1]), TINY) <= room:
            taken += 1
        if len(lines) == _MAX_LINES - 1:
            taken = len(words)
        (line,) = fitting_names([" ".join(words[:taken])], room, TINY).values()
        lines.append(line)
        words = words[taken:]
    return lines
