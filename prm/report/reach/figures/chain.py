"""The milestone chain as a graph: share touched and reached on each node, where runs end on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from prm.reach.metrics.node_values import MissCause, NodeReport
from prm.reach.metrics.report_values import ArmReport
from prm.report.cells import counted
from prm.report.figures.draw import MARGIN, Drawing, figure, new_canvas, pixels, write
from prm.report.figures.names import fitting_names
from prm.report.figures.theme import FG, GRID, MUTED, TEXT, TINY
from prm.report.reach.figures.boxes import Box, band, bar, pill, rounded
from prm.report.reach.figures.chain_places import INNER, LINE, NARROW, Places, places
from prm.report.reach.figures.marks import LOST, PALE, REACHED, standing_key
from prm.report.reach.shares import share
from prm.report.reach.words import full_sentence

_NOTABLE = 0.05
"""From this share of runs on, an end is drawn in the colour of a loss."""


@figure
def chain_figure(arm: ArmReport, name: str) -> Drawing | None:
    """The graph of one agent × variant, in a figure called `name`; None without milestones."""
    if not arm.nodes:
        return None
    titles = {node.name: node.title for node in arm.nodes}
    where = places({node.name: node.after for node in arm.nodes}, titles)
    canvas = new_canvas(where.height)
    axes = pixels(canvas)
    standing_key(axes, MARGIN, MARGIN + 8, down=17)
    _draw_lines(axes, arm, where)
    _draw_start(axes, where.start, arm)
    _draw_end(axes, where.end, arm)
    for node in arm.nodes:
        _draw_node(axes, node, where, node.name == bottleneck(arm))
    _draw_ends(axes, arm, where)
    caption = "\n\n".join(map(full_sentence, arm.findings))
    return Drawing(canvas, name=name, title=arm.arm.name, alt=_alt(arm), caption=caption)


def bottleneck(arm: ArmReport) -> str | None:
    """The milestone before which most runs end; None where none does."""
    ended = ends(arm)
    return max(ended, key=lambda name: ended[name]) if any(ended.values()) else None


def ends(arm: ArmReport) -> Mapping[str, float]:
    """Required milestone → the share of runs that reach all that comes before it, and not it: the same on all edges."""
    required = {node.name for node in arm.nodes if node.required}
    ended = ((edge.target, edge.ended.value) for edge in arm.edges if edge.target in required)
    return {target: value for target, value in ended if value is not None}


def main_cause(node: NodeReport) -> MissCause | None:
    """What is found most often where the milestone is not reached; None where nothing is."""
    found = [cause for cause in node.causes if cause.share.value]
    return found[0] if found else None


def _draw_lines(axes: Axes, arm: ArmReport, where: Places) -> None:
    """Lines as thick as the share of runs that pass."""
    passed = {(edge.source, edge.target): edge.passed.value for edge in arm.edges}
    reached = {node.name: node.reached.value for node in arm.nodes}
    for edge, points in where.ways.items():
        band(axes, points, _thickness(passed.get(edge)))
    for name in where.first:
        ends_at = (where.nodes[name].middle, where.nodes[name].top)
        band(axes, [(where.start.middle, where.start.bottom), ends_at], _thickness(reached[name]))
    for name in where.last:
        begins_at = (where.nodes[name].middle, where.nodes[name].bottom)
        band(axes, [begins_at, (where.end.middle, where.end.top)], _thickness(reached[name]))


def _thickness(value: float | None) -> float:
    return 1.2 if value is None else 1.2 + 8.8 * value


def _draw_start(axes: Axes, box: Box, arm: ArmReport) -> None:
    rounded(axes, box)
    write(axes, box.middle, box.top + 14, "Start", ha="center", weight="bold", fontsize=TEXT, zorder=5)
    counts = f"{counted(arm.runs, 'run')} of {counted(arm.scenarios, 'scenario')}"
    write(axes, box.middle, box.top + 30, counts, ha="center", fontsize=TINY, color=MUTED, zorder=5)


def _draw_end(axes: Axes, box: Box, arm: ArmReport) -> None:
    rounded(axes, box, edge=REACHED, width=1.6)
    text = f"All required reached: {share(arm.outcomes['all_reached'].value)}"
    write(axes, box.middle, box.top + 14, text, ha="center", weight="bold", fontsize=TEXT, zorder=5)
    covered = f"without a minefield (covered): {share(arm.outcomes['covered'].value)}"
    write(axes, box.middle, box.top + 30, covered, ha="center", fontsize=TINY, color=MUTED, zorder=5)


def _draw_node(axes: Axes, node: NodeReport, where: Places, is_bottleneck: bool) -> None:
    box = where.nodes[node.name]
    edge, width = (LOST, 2.0) if is_bottleneck else (GRID, 1.2)
    rounded(axes, box, edge=edge, width=width, dash="-" if node.required else (0, (4, 3)))
    left, room = box.left + INNER, box.width - 2 * INNER
    small: dict[str, Any] = {"fontsize": TINY, "color": MUTED, "zorder": 5}
    write(axes, left, box.top + 17, _fitting(node.name, room, TEXT + 1), weight="bold", fontsize=TEXT, zorder=5)
    y = box.top + 17
    for line in where.titles[node.name]:
        y += LINE
        write(axes, left, y + 2, line, **small)
    parts = [(node.touched.value or 0.0, REACHED, PALE), (node.reached.value or 0.0, REACHED, 1.0)]
    bar(axes, Box(left, y + 14, room, 10), parts)
    y += 38
    write(axes, left, y, f"touched {share(node.touched.value)}", **small)
    at, side = (left, "left") if box.width < NARROW else (left + room, "right")
    y += LINE if box.width < NARROW else 0
    bold = small | {"color": FG, "weight": "bold", "ha": side}
    write(axes, at, y, f"reached {share(node.reached.value)}", **bold)
    cause = main_cause(node)
    if cause is not None:
        words = f"{share(cause.share.value)} of misses: {cause.words}"
        write(axes, left, y + LINE + 2, _fitting(words, room, TINY), **small)


def _fitting(text: str, room: float, size: float) -> str:
    return fitting_names([text], room, size)[text]


def _draw_ends(axes: Axes, arm: ArmReport, where: Places) -> None:
    """How many runs end, on the line into each milestone before which any does."""
    worst = bottleneck(arm)
    for name, value in ends(arm).items():
        box = where.nodes[name]
        color = LOST if value >= _NOTABLE else MUTED
        if value > 0:
            pill(
                axes, box.middle, box.top - 19, f"{share(value)} end here", color, "bold" if name == worst else "normal"
            )


def _alt(arm: ArmReport) -> str:
    ended = ends(arm)
    said = [
        f"{node.name}: touched {share(node.touched.value)}, reached {share(node.reached.value)}"
        + (f", {share(ended[node.name])} of runs end before it" if node.name in ended else "")
        for node in arm.nodes
    ]
    return f"Graph of {counted(len(arm.nodes), 'milestone')}. {'; '.join(said)}."
