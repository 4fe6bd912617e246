"""The figures: what they say, what they leave out, and that names from logs stay text."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from prm.reach.metrics.report_values import ArmReport
from prm.report.elements import Figure
from prm.report.reach.figures.chain import bottleneck, chain_figure, ends, main_cause
from prm.report.reach.figures.chain_places import places, wrapped
from prm.report.reach.figures.curves import curves_figure
from prm.report.reach.figures.first_reach import first_reach_figure
from prm.report.reach.figures.grid import MAX_SCENARIOS, chosen_rows, grid_figure
from prm.report.reach.figures.stability import stability_figure
from tests.report.pages import HOSTILE
from tests.report.reach.examples import drawn, repeated, report_of, verdict


def arm(*letters: str, **more: Any) -> ArmReport:
    """What is measured on one agent."""
    return report_of(repeated(*letters, **more)).arms[0]


def titled(found: ArmReport, milestone: str, title: str) -> ArmReport:
    """The same with a title for one milestone."""
    nodes = (replace(node, title=title) if node.name == milestone else node for node in found.nodes)
    return replace(found, nodes=tuple(nodes))


def texts(drawn_figure: Figure | None) -> list[str]:
    """All that is written in a figure."""
    assert drawn_figure is not None
    return ["".join(element.itertext()) for element in ET.fromstring(drawn_figure.svg).iter() if element.text]


def test_the_chain_writes_shares_ends_and_the_title_of_each_milestone() -> None:
    half = arm("rrrrr", "rrrrr", "rrtmm", "tmmmm")
    words = texts(chain_figure(titled(half, "M3", "Stock checked"), "chain-1"))
    assert "Stock checked" in words
    assert "4 runs of 4 scenarios" in words
    assert words.count("25 % end here") == 2  # before M1, and before M3
    assert [word for word in words if word.startswith("touched")][1:] == [
        "touched 100 %",
        "touched 75 %",
        "touched 75 %",
        "touched 50 %",
        "touched 50 %",
    ]
    assert "All required reached: 50 %" in words


def test_where_nothing_ends_nothing_is_written() -> None:
    words = texts(chain_figure(arm("rrrrr", "rrrrr"), "chain-1"))
    assert not [word for word in words if "end here" in word]


def test_the_bottleneck_is_where_most_runs_end() -> None:
    found = arm("rrtrr", "rrtrr", "rrrrm")
    assert bottleneck(found) == "M3"
    assert ends(found)["M3"] == pytest.approx(2 / 3)
    assert bottleneck(arm("rrrrr")) is None


def test_a_cause_is_what_most_misses_have_in_common() -> None:
    verdicts, _ = drawn(10)
    node = next(node for node in report_of(verdicts).arms[0].nodes if node.name == "M3")
    cause = main_cause(node)
    assert cause is not None
    assert cause.words == "an invented SKU"


def test_the_alternative_text_says_what_is_drawn() -> None:
    found = chain_figure(arm("rrrrr", "rrtmm"), "chain-1")
    assert found is not None
    assert "M3: touched 100 %, reached 50 %, 50 % of runs end before it" in found.alt


def test_boxes_of_a_row_do_not_overlap_and_stay_on_the_canvas() -> None:
    graph = {**{f"a{k}": () for k in range(6)}, **{f"b{k}": (f"a{k}",) for k in range(6)}, "last": ("a0", "b5")}
    boxes = list(places(graph, {}).nodes.values())
    for one in boxes:
        assert one.left >= 8
        assert one.left + one.width <= 752
        for other in boxes:
            apart = one.left + one.width <= other.left or other.left + other.width <= one.left
            assert one is other or apart or one.bottom <= other.top or other.bottom <= one.top


def test_a_long_title_takes_two_lines_and_no_more() -> None:
    assert wrapped("", 100) == []
    assert wrapped("short", 100) == ["short"]
    lines = wrapped("a title that is much too long for a single line of a narrow box " * 5, 150)
    assert len(lines) == 2
    assert "…" in lines[1]


def test_curves_name_each_arm_and_say_where_they_are_cut() -> None:
    verdicts, _ = drawn(6)
    report = report_of(verdicts)
    words = texts(curves_figure(report.arms, 15))
    assert {one.arm.name for one in report.arms} <= set(words)
    long = verdict("rrrrr", calls=5_000)
    slow = replace(long.milestones[4], reached=replace(long.milestones[4].reached, call=4_998))  # type: ignore[type-var]
    longest = replace(long, milestones=(*long.milestones[:4], slow))
    found = curves_figure(report_of([longest]).arms, 15)
    assert found is not None
    assert "beyond 60 calls" in found.caption


def test_first_reach_tells_median_and_quartiles() -> None:
    words = texts(first_reach_figure(arm("rrrrr", "rrrrr"), "first-reach-1"))
    assert "median 2.0, IQR 2.0–2.0" in words
    assert first_reach_figure(arm("mmmmm"), "first-reach-1") is None


def test_stability_needs_repeats() -> None:
    assert stability_figure(arm("rrrrr", "rrtrr"), "stability-1") is None
    found = stability_figure(arm("rrrrr rrrrr rrrrr", "rrtrr rrrrr rrtrr", "rrtrr rrtrr rrtrr"), "stability-1")
    assert found is not None
    assert "M3: stable 1, unstable 0, undetermined 1, bottleneck 1" in found.alt
    assert "of their 3 runs" in found.caption


def test_the_grid_keeps_the_scenarios_whose_repeats_differ_most() -> None:
    alike = ["rrrrr rrrrr"] * MAX_SCENARIOS
    found = arm(*alike, "rrrrr mmmmm")
    rows = chosen_rows(found.grid)
    assert len(rows) == MAX_SCENARIOS
    assert rows[0].scenario == f"s{MAX_SCENARIOS}"  # and it reaches least, so it stands at the top
    drawing = grid_figure(found, "grid-1")
    assert drawing is not None
    assert f"{MAX_SCENARIOS} of {MAX_SCENARIOS + 1} scenarios" in drawing.caption


def test_the_grid_says_what_has_no_room() -> None:
    chain = {f"m{k}": () for k in range(40)}
    verdicts = [
        verdict("r" * 40, chain, run=run, identity=replace(verdict("rrrrr").identity, sample_index=run))
        for run in range(12)
    ]
    drawing = grid_figure(report_of(verdicts).arms[0], "grid-1")
    assert drawing is not None
    assert "of 40 milestones have room" in drawing.caption
    assert "Only 8 of up to 12 runs" in drawing.caption


def test_names_that_are_hostile_stay_text() -> None:
    chain: dict[str, tuple[str, ...]] = {HOSTILE: (), "$x_1$": (HOSTILE,)}
    found = report_of([verdict("rm", chain, agent=HOSTILE, scenario=HOSTILE)]).arms[0]
    for drawing in (
        chain_figure(titled(found, HOSTILE, HOSTILE), "chain-1"),
        curves_figure([found], 15),
        first_reach_figure(found, "first-reach-1"),
        grid_figure(found, "grid-1"),
    ):
        assert drawing is not None
        assert "<script" not in drawing.svg
        assert "<img" not in drawing.svg


def test_a_milestone_that_cannot_be_scored_is_drawn_without_a_share() -> None:
    words = texts(chain_figure(arm("r?rrr"), "chain-1"))
    assert "reached –" in words
