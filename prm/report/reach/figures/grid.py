"""The stability grid: a row a scenario, and for each milestone a square a repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from prm.reach.judging.verdict import Standing
from prm.reach.metrics.report_values import ArmReport, GridCell, GridRow
from prm.report.cells import counted
from prm.report.figures.draw import MARGIN, WIDTH, Drawing, figure, new_canvas, pixels, write
from prm.report.figures.names import fitting_names, text_width
from prm.report.figures.theme import GRID, MUTED, SMALL, TINY
from prm.report.reach.figures.marks import LOST, PALE, REACHED

MAX_SCENARIOS = 40
"""Scenarios in one grid; of more, those whose repeats differ most are drawn."""

MAX_REPEATS = 8
"""Squares of one milestone in a row; further repeats are not drawn."""

_ROW, _HEAD, _FOOT = 19.0, 56.0, 10.0
_WIDEST_NAME, _LARGEST, _SMALLEST, _APART = 170.0, 15.0, 6.0, 10.0

Square = tuple[float, float, float]
"""left, top, side."""


@figure
def grid_figure(arm: ArmReport, name: str) -> Drawing | None:
    """One agent × variant; None without scenarios or milestones."""
    if not arm.grid or not arm.nodes:
        return None
    rows = chosen_rows(arm.grid)
    repeats = min(MAX_REPEATS, max(len(row.cells) for row in rows))
    labels = fitting_names([row.scenario for row in rows], _WIDEST_NAME, TINY)
    left = MARGIN + max(text_width(label, TINY) for label in labels.values()) + 12
    shown, side = _fitting(len(arm.nodes), repeats, WIDTH - MARGIN - left)
    canvas = new_canvas(_HEAD + _ROW * len(rows) + _FOOT)
    axes = pixels(canvas)
    columns = [left + number * (repeats * side + _APART) for number in range(shown + 1)]
    _draw_heads(axes, arm, columns, repeats * side)
    squares: dict[str, list[Square]] = {}
    for number, row in enumerate(rows):
        top = _HEAD + number * _ROW + (_ROW - side) / 2
        write(axes, left - 10, top + side / 2, labels[row.scenario], ha="right", fontsize=TINY, color=MUTED)
        for standing, square in _squares(row, columns, top, side, repeats):
            squares.setdefault(standing, []).append(square)
    _draw_squares(axes, squares)
    _draw_key(axes)
    return Drawing(
        canvas,
        name=name,
        title=f"Scenario × repeat: {arm.arm.name}",
        alt=f"Grid of {counted(len(rows), 'scenario')} by {counted(shown, 'milestone')} and covered, "
        f"with a square for each of up to {counted(repeats, 'repeat')}.",
        caption=_caption(arm, rows, shown, repeats),
    )


def chosen_rows(grid: Sequence[GridRow]) -> list[GridRow]:
    """At most `MAX_SCENARIOS` rows, those whose repeats differ most; the least reached at the top."""
    most = sorted(grid, key=lambda row: (-_difference(row), _reached(row), row.scenario))[:MAX_SCENARIOS]
    return sorted(most, key=lambda row: (_reached(row), row.scenario))


def _difference(row: GridRow) -> float:
    """Over the milestones, how often two repeats differ in reaching it."""
    total = 0.0
    for stands in zip(*(cell.standings for cell in row.cells), strict=False):
        known = [standing == "reached" for standing in stands if standing not in ("n/a", "unscorable")]
        total += sum(known) * (len(known) - sum(known)) / max(1, len(known)) ** 2
    return total


def _reached(row: GridRow) -> float:
    """Share of the milestones that apply that are reached."""
    stands = [one for cell in row.cells for one in cell.standings if one not in ("n/a", "unscorable")]
    return sum(one == "reached" for one in stands) / max(1, len(stands))


def _fitting(nodes: int, repeats: int, room: float) -> tuple[int, float]:
    """How many milestones are drawn beside "covered", and the side of a square."""
    most = int((room + _APART) // (repeats * _SMALLEST + _APART)) - 1
    shown = max(1, min(nodes, most))
    return shown, min(_LARGEST, ((room + _APART) / (shown + 1) - _APART) / repeats)


def _draw_heads(axes: Axes, arm: ArmReport, columns: Sequence[float], width: float) -> None:
    names = [*(node.name for node in arm.nodes[: len(columns) - 1]), "covered"]
    labels = fitting_names(names, width + _APART - 4, SMALL)
    for x, name in zip(columns, names, strict=True):
        weight = "bold" if name == "covered" else "normal"
        write(axes, x + width / 2, _HEAD - 14, labels[name], ha="center", fontsize=TINY, weight=weight)


def _squares(
    row: GridRow, columns: Sequence[float], top: float, side: float, repeats: int
) -> Iterable[tuple[str, Square]]:
    for repeat, cell in enumerate(row.cells[:repeats]):
        for x, standing in zip(columns, [*cell.standings[: len(columns) - 1], _covered(cell)], strict=False):
            yield standing, (x + repeat * side, top, side)


def _covered(cell: GridCell) -> Standing:
    covered = cell.outcomes.get("covered")
    return "unscorable" if covered is None else "reached" if covered else "missed"


def _draw_squares(axes: Axes, squares: dict[str, list[Square]]) -> None:
    """Reached: full. Touched: pale, its lower half darker. Missed: a frame. n/a: a dot. Unscorable: a grey frame."""
    _fill(axes, squares.get("reached", []), REACHED, 1.0, 0.0, 1.0)
    _fill(axes, squares.get("touched", []), REACHED, PALE, 0.0, 1.0)
    _fill(axes, squares.get("touched", []), REACHED, PALE, 0.5, 1.0)
    _outline(axes, squares.get("missed", []), LOST)
    _outline(axes, squares.get("unscorable", []), GRID)
    _fill(axes, squares.get("n/a", []), MUTED, 0.5, 0.42, 0.58)


def _fill(axes: Axes, squares: Sequence[Square], color: str, opacity: float, first: float, last: float) -> None:
    """The part of each square from `first` to `last` of its height (and of its width, where it is a dot)."""
    dot = last - first < 0.5
    boxes = []
    for x, y, side in squares:
        inner = side - 2
        across = (first, last) if dot else (0.0, 1.0)
        boxes.append(
            (x + 1 + across[0] * inner, y + 1 + first * inner, x + 1 + across[1] * inner, y + 1 + last * inner)
        )
    _path(axes, boxes, facecolor=color, edgecolor="none", alpha=opacity)


def _outline(axes: Axes, squares: Sequence[Square], color: str) -> None:
    boxes = [(x + 1.8, y + 1.8, x + side - 1.8, y + side - 1.8) for x, y, side in squares]
    _path(axes, boxes, facecolor="none", edgecolor=color, lw=1.4)


def _path(axes: Axes, boxes: Sequence[tuple[float, float, float, float]], **style: object) -> None:
    """All rectangles as one path: thousands of elements would be slow."""
    if not boxes:
        return
    vertices = [point for x0, y0, x1, y1 in boxes for point in ((x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0))]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    axes.add_patch(PathPatch(Path(vertices, codes), clip_on=False, zorder=3, **style))


def _draw_key(axes: Axes) -> None:
    x, y = float(MARGIN), float(MARGIN)
    words = {
        "reached": "reached",
        "touched": "touched only",
        "missed": "missed",
        "n/a": "does not apply",
        "unscorable": "cannot be said",
    }
    for standing, text in words.items():
        _draw_squares(axes, {standing: [(x, y, 14.0)]})
        write(axes, x + 20, y + 7, text, fontsize=TINY, color=MUTED)
        x += 20 + text_width(text, TINY) + 18


def _caption(arm: ArmReport, rows: Sequence[GridRow], shown: int, repeats: int) -> str:
    parts = ["A row is a scenario, each square one of its runs; the scenarios with least reached stand at the top."]
    if len(rows) < len(arm.grid):
        parts.append(f"Drawn are {len(rows)} of {len(arm.grid):,} scenarios: those whose repeats differ most.")
    if shown < len(arm.nodes):
        parts.append(f"Only the first {shown} of {len(arm.nodes)} milestones have room.")
    most = max(len(row.cells) for row in rows)
    if repeats < most:
        parts.append(f"Only {repeats} of up to {most} runs of a scenario are drawn.")
    return " ".join(parts)
