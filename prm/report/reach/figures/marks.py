"""How standings are drawn: the same in every figure of the page."""

from __future__ import annotations

from matplotlib.axes import Axes

from prm.report.figures.draw import write
from prm.report.figures.names import text_width
from prm.report.figures.theme import CLASSES, GRID, MUTED, TINY
from prm.report.reach.figures.boxes import Box, rounded

REACHED, LOST = CLASSES["1"].color, CLASSES["-1"].color
PALE = 0.38
"""Touched only is drawn in the colour of reached, with this opacity."""


def standing_key(axes: Axes, x: float, y: float, *, across: float = 0.0, down: float = 0.0) -> None:
    """What the colours mean; entries follow each other to the right, or `down` pixels apart. `axes` in pixels."""
    entries = (("reached", REACHED, 1.0), ("touched only", REACHED, PALE), ("neither", GRID, 1.0))
    for words, color, opacity in entries:
        rounded(axes, Box(x, y - 5, 16, 10), face=GRID, edge="none")
        rounded(axes, Box(x, y - 5, 16, 10), face=color, edge="none", opacity=opacity)
        write(axes, x + 22, y, words, fontsize=TINY, color=MUTED)
        y += down
        x += 22 + text_width(words, TINY) + across if across else 0.0
