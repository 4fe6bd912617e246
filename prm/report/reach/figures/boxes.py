"""Rounded boxes, pills and curved bands: what a milestone graph is drawn with. Coordinates are pixels, y downwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from prm.report.figures.draw import write
from prm.report.figures.names import text_width
from prm.report.figures.theme import GRID, MUTED, SURFACE, TINY

Point: TypeAlias = tuple[float, float]
Dash: TypeAlias = "str | tuple[float, tuple[float, ...]]"

_PILL_HEIGHT, _PILL_PADDING = 18.0, 8.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Of its width."""
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height


def rounded(
    axes: Axes,
    box: Box,
    *,
    face: str = SURFACE,
    edge: str = GRID,
    width: float = 1.2,
    dash: Dash = "-",
    opacity: float = 1.0,
) -> None:
    """A box with round corners; `edge` may be "none"."""
    radius = min(9.0, box.height / 2, box.width / 2)
    style = f"round,pad=0,rounding_size={radius}"
    shape = FancyBboxPatch((box.left, box.top), box.width, box.height, boxstyle=style, clip_on=False, zorder=3)
    shape.set(facecolor=face, edgecolor=edge, linewidth=width, linestyle=dash, alpha=opacity)
    axes.add_patch(shape)


def bar(axes: Axes, box: Box, parts: Sequence[tuple[float, str, float]]) -> None:
    """A horizontal bar on a grey track; each part is (share up to which it goes, colour, opacity), longest first."""
    rounded(axes, box, face=GRID, edge="none")
    for share, color, opacity in parts:
        width = max(0.0, min(1.0, share)) * box.width
        if width >= 1:
            rounded(axes, Box(box.left, box.top, width, box.height), face=color, edge="none", opacity=opacity)


def band(axes: Axes, points: Sequence[Point], width: float) -> None:
    """A curve through the points, upright at each of them."""
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (y1 - y0) / 2
        vertices += [(x0, y0 + half), (x1, y1 - half), (x1, y1)]
        codes += [Path.CURVE4] * 3
    path = Path(vertices, codes)
    axes.add_patch(PathPatch(path, facecolor="none", edgecolor=MUTED, lw=width, alpha=0.4, clip_on=False, zorder=1))


def pill(axes: Axes, x: float, y: float, text: str, color: str, weight: str = "normal") -> None:
    """A short text in a rounded frame, centred on a point."""
    width = text_width(text, TINY) * (1.12 if weight == "bold" else 1.0) + 2 * _PILL_PADDING
    box = Box(x - width / 2, y - _PILL_HEIGHT / 2, width, _PILL_HEIGHT)
    rounded(axes, box, edge=color, width=1.0)
    write(axes, x, y, text, ha="center", fontsize=TINY, color=color, weight=weight, zorder=5)
