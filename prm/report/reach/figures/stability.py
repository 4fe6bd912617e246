"""How sure each milestone is over repeated runs: of every scenario, how many of its repeats reach it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from prm.reach.metrics.node_values import Ability, Stability
from prm.reach.metrics.report_values import ArmReport
from prm.report.cells import counted
from prm.report.figures.draw import MARGIN, WIDTH, Drawing, figure, filled_boxes, new_canvas, panel, pixels, write
from prm.report.figures.names import fitting_names, text_width
from prm.report.figures.theme import FG, GRID, MUTED, SMALL, SURFACE, TINY
from prm.report.reach.figures.boxes import Box, rounded
from prm.report.reach.figures.marks import LOST, REACHED
from prm.report.reach.shares import share

ABILITIES: Mapping[Ability, tuple[str, str, float]] = {
    "stable": ("every run: stable", REACHED, 1.0),
    "unstable": ("most runs: able, but unstable", REACHED, 0.62),
    "undetermined": ("few runs: may be luck", REACHED, 0.28),
    "bottleneck": ("no run: bottleneck", LOST, 0.8),
}
"""Ability → what it means of a scenario's runs, its colour, its opacity; as drawn from left to right."""

_ROW, _HEAD, _FOOT, _RIGHT = 27, 50, 14, 96
_WIDEST_NAME = 190.0
MAX_ROWS = 40
_BOLDEST = "covered m"
"""As wide as the last row's name, which is bold."""


@figure
def stability_figure(arm: ArmReport, name: str) -> Drawing | None:
    """One agent × variant: a bar a milestone, and one for covered; None where no scenario was run twice."""
    found = {node.name: node.stability for node in arm.nodes[: MAX_ROWS - 1]}
    rows = [(label, one) for label, one in [*found.items(), ("covered", arm.outcome_stability["covered"])]]
    rows = [(label, one) for label, one in rows if sum(one.abilities.values())]
    if not rows:
        return None
    labels = fitting_names([label for label, _ in rows], _WIDEST_NAME, SMALL)
    left = MARGIN + max(text_width(label, SMALL) for label in [*labels.values(), _BOLDEST]) + 14
    canvas = new_canvas(_HEAD + _ROW * len(rows) + _FOOT)
    words = pixels(canvas)
    _draw_key(words, left)
    axes = panel(canvas, left, _HEAD, WIDTH - left - _RIGHT, _ROW * len(rows))
    axes.set_xlim(0, 1)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    write(words, WIDTH - MARGIN, _HEAD - 12, "flip rate", ha="right", fontsize=TINY, color=MUTED)
    for row, (label, one) in enumerate(rows):
        middle = _HEAD + (row + 0.5) * _ROW
        weight = "bold" if label == "covered" else "normal"
        write(words, left - 14, middle, labels[label], ha="right", weight=weight)
        write(words, WIDTH - MARGIN, middle, share(one.flip_rate.value), ha="right", fontsize=TINY, color=FG)
        _draw_row(axes, row, one)
    return Drawing(
        canvas, name=name, title=f"Over repeated runs: {arm.arm.name}", alt=_alt(rows), caption=_caption(rows)
    )


def _draw_key(words: Axes, left: float) -> None:
    x = left
    for meaning, color, opacity in ABILITIES.values():
        rounded(words, Box(x, MARGIN + 3, 14, 10), face=color, edge="none", opacity=opacity)
        write(words, x + 19, MARGIN + 8, meaning, fontsize=TINY, color=MUTED)
        x += 19 + text_width(meaning, TINY) + 14


def _draw_row(axes: Axes, row: int, one: Stability) -> None:
    total = sum(one.abilities.values())
    start = 0.0
    for ability, (_, color, opacity) in ABILITIES.items():
        width = one.abilities.get(ability, 0) / total
        if width > 0:
            filled_boxes(axes, [(start, row - 0.32, width, 0.64)], [color], [opacity])
            _write_share(axes, start + width / 2, row, width, opacity)
        start += width
    axes.plot([0, 1], [row + 0.32] * 2, color=GRID, lw=0.8, zorder=0)


def _write_share(axes: Axes, x: float, row: int, width: float, opacity: float) -> None:
    if width * axes.bbox.width < 34:
        return
    color = SURFACE if opacity > 0.7 else FG
    write(axes, x, row, share(width), ha="center", fontsize=TINY, color=color)


def _caption(rows: Sequence[tuple[str, Stability]]) -> str:
    repeats = sorted({count for _, one in rows for count in one.repeats if count > 1})
    several = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
    single = max(one.single for _, one in rows)
    left_out = f" Up to {counted(single, 'scenario')} with a single run are left out." if single else ""
    return (
        f"Scenarios by how many of their {several} runs reach the milestone. The flip rate is how often two runs of "
        f"one scenario differ.{left_out}"
    )


def _alt(rows: Sequence[tuple[str, Stability]]) -> str:
    said = [
        f"{label}: " + ", ".join(f"{ability} {one.abilities.get(ability, 0)}" for ability in ABILITIES)
        for label, one in rows
    ]
    return f"Stacked bars of scenarios. {'; '.join(said)}."
