"""The chapters of the reach page, each with the question that it answers in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prm.reach.metrics.report_values import ArmReport, Report
from prm.report.elements import Figure, Section, Table
from prm.report.phrases import are
from prm.report.reach import tables
from prm.report.reach.causes_table import causes_table
from prm.report.reach.figures.chain import chain_figure
from prm.report.reach.figures.curves import curves_figure
from prm.report.reach.figures.first_reach import first_reach_figure
from prm.report.reach.figures.grid import grid_figure
from prm.report.reach.figures.stability import stability_figure

MAX_ARMS = 12
"""Agents × variants with figures of their own: those with most runs; the tables hold all."""


def reach_sections(report: Report) -> Iterator[Section]:
    """All chapters that have something to show."""
    for section in (
        _chain(report),
        _arms(report),
        _differences(report),
        _curves(report),
        _repeats(report),
        _first_reach(report),
        _missing(report),
        _causes(report),
    ):
        if section.tables or section.figures:
            yield section


def drawn_arms(report: Report) -> list[ArmReport]:
    """The agents × variants that have figures of their own, in the report's order."""
    kept = sorted(range(len(report.arms)), key=lambda number: (-report.arms[number].runs, number))[:MAX_ARMS]
    return [report.arms[number] for number in sorted(kept)]


def _per_arm(report: Report, name: str, draw: Callable[[ArmReport, str], Figure | None]) -> list[Figure]:
    """A figure an arm, named ``name-1``, ``name-2`` …; the page shows the chosen one."""
    drawn = (draw(arm, f"{name}-{number}") for number, arm in enumerate(drawn_arms(report), 1))
    return [figure for figure in drawn if figure is not None]


def _section(
    id: str, title: str, text: str, shown: Iterable[Table | None] = (), drawn: Sequence[Figure | None] = ()
) -> Section:
    return Section(
        id,
        title,
        text,
        tables=tuple(one for one in shown if one is not None),
        figures=tuple(one for one in drawn if one is not None),
    )


def _chain(report: Report) -> Section:
    text = (
        "How far do runs get, and where does the chain break? A milestone is touched when its tool was called, and "
        "reached when what it returned was used in what came next.\n\n"
        "The lines are as thick as the share of runs that pass. A run ends on the way to a milestone when it reaches "
        "all that comes before it and not the milestone; where two open at once, it is counted before each. A dashed "
        "frame is an optional milestone."
    )
    left_out = len(report.arms) - MAX_ARMS
    if left_out > 0:
        text += f" The {MAX_ARMS} agents × variants with most runs are drawn; {are(left_out, 'in the tables only')}."

    return _section("chain", "The milestone chain", text, drawn=_per_arm(report, "chain", chain_figure))


def _arms(report: Report) -> Section:
    text = (
        "Every number is a mean over scenarios: first over the runs of a scenario, then over the scenarios. Intervals "
        "are 95 % and resample whole scenario templates."
    )
    shown = [
        tables.arms_table(report),
        tables.milestones_table(report),
        tables.nodes_table(report),
        tables.minefields_table(report),
    ]
    return _section("compared", "Agents × variants", text, shown)


def _differences(report: Report) -> Section:
    text = (
        "What moved between two agents or variants on the same scenarios and seeds: sign-flip tests on paired means, "
        "corrected (Holm), the surest first."
    )
    return _section("differences", "What differs", text, [tables.comparisons_table(report)])


def _curves(report: Report) -> Section:
    text = "How soon are milestones reached, in tool calls? A curve that is steep and then flat asks for no more calls."
    drawn = [curves_figure(report.arms, report.settings.cap)]
    return _section("reach-at-k", "Reach@K", text, drawn=drawn)


def _repeats(report: Report) -> Section:
    text = (
        "Does the same agent do it again on the same scenario? No run of several is a bottleneck; few may be luck; "
        "most means that it can, but not reliably; every run is stable."
    )
    bars = _per_arm(report, "stability", stability_figure)
    grids = _per_arm(report, "grid", grid_figure) if bars else []
    return _section("stability", "Over repeated runs", text, [tables.stability_table(report)], [*bars, *grids])


def _first_reach(report: Report) -> Section:
    text = "After how many tool calls is each milestone reached for the first time?"
    drawn = _per_arm(report, "first-reach", first_reach_figure)
    return _section("first-reach", "First reach", text, [tables.first_reach_table(report)], drawn)


def _missing(report: Report) -> Section:
    text = "What does the agent do where the world did not give it what it needs: ask, refuse, or make it up?"
    return _section("missing", "Missing information", text, [tables.missing_information_table(report)])


def _causes(report: Report) -> Section:
    text = "What the rules found in the runs, most frequent first. The log lines that prove it stand below."
    return _section("causes", "What goes wrong", text, [causes_table(report)])
