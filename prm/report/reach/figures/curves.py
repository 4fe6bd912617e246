"""Reach@K: the share of required milestones reached within K calls, a line for each agent × variant."""

from __future__ import annotations

from collections.abc import Sequence

from prm.reach.metrics.report_values import ArmReport
from prm.report.cells import counted
from prm.report.elements import Estimate
from prm.report.figures.draw import MARGIN, WIDTH, Drawing, figure, new_canvas, panel, pixels, write
from prm.report.figures.lines import (
    MAX_NAMED,
    Line,
    draw_lines,
    end_labels,
    line_limits,
    percent_scale,
    series,
    words_axis,
)
from prm.report.figures.theme import FG, TINY
from prm.report.reach.shares import with_interval

MAX_CALLS = 60
"""Further to the right nothing is drawn: runs of thousands of calls would press the rest into a corner."""

_LEFT, _TOP, _HEIGHT, _ROOM = 44, 34, 320, 210
_MAX_TICKS, _MAX_MARKERS = 15, 30


@figure
def curves_figure(arms: Sequence[ArmReport], cap: int) -> Drawing | None:
    """The curves of all arms, best at the cap first; None where no arm has one."""
    ranked = sorted((arm for arm in arms if _values(arm)), key=lambda arm: -(arm.reach.value or 0.0))
    if not ranked:
        return None
    longest = max(len(_values(arm)) for arm in ranked)
    at = [float(k) for k in range(1, longest + 1)]
    lines = series([arm.arm.name for arm in ranked], at, [_padded(_values(arm), longest) for arm in ranked])
    if longest > _MAX_MARKERS:
        lines = [Line(line.name, line.x, line.y, line.mark, markers=False) for line in lines]
    canvas = new_canvas(_TOP + _HEIGHT + 48)
    axes = panel(canvas, _LEFT, _TOP, WIDTH - _LEFT - _ROOM, _HEIGHT)
    axes.set_xlim(0.7, max(longest + 0.3, 1.7))
    percent_scale(axes, *line_limits(lines))
    every = -(-longest // _MAX_TICKS)
    ticks = at[every - 1 :: every]
    words_axis(axes, ticks, [f"{k:.0f}" for k in ticks], "K: tool calls made")
    draw_lines(axes, lines)
    end_labels(axes, lines, _ROOM - MARGIN)
    write(pixels(canvas), _LEFT, 12, "required milestones reached within K calls")
    if longest > cap:
        axes.axvline(cap, color=FG, lw=1.2, ls=(0, (4, 3)), zorder=2)
        write(
            axes, cap, 1 + 8 / _HEIGHT, f"cap {cap}", ha="center", fontsize=TINY, transform=axes.get_xaxis_transform()
        )
    return Drawing(
        canvas,
        name="reach-curves",
        title="Reach@K",
        alt=f"Lines of {counted(len(ranked), 'agent × variant', 'agents × variants')} from 1 to {longest} calls.",
        caption=_caption(ranked, longest),
    )


def _values(arm: ArmReport) -> list[Estimate]:
    return [with_interval(point.reach) for point in arm.curve[:MAX_CALLS]]


def _padded(values: list[Estimate], length: int) -> list[Estimate]:
    """A curve that ends early stays where it was: no call was made after that."""
    return values + values[-1:] * (length - len(values))


def _caption(ranked: Sequence[ArmReport], longest: int) -> str:
    grey = f" The best {MAX_NAMED} are named, the others grey." if len(ranked) > MAX_NAMED else ""
    cut = max(len(arm.curve) for arm in ranked) > MAX_CALLS
    rest = f" Runs go on beyond {MAX_CALLS} calls; that is not drawn." if cut else ""
    whiskers = (
        " Whiskers are 95 % intervals over scenario templates." if len(ranked) <= 2 and longest <= _MAX_MARKERS else ""
    )
    return (
        "How soon milestones are reached: the mean over scenarios of the share of a run's required milestones that "
        f"are reached within its first K tool calls.{whiskers}{grey}{rest}"
    )
