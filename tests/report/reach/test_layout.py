"""Rows of a milestone graph: everything below what it comes after, no line through a box."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from prm.report.reach.layout import MAX_IN_ROW, acyclic, laid_out, ranks, reduced
from tests.report.reach.examples import CHAIN

NAMES = tuple("abcdefghij")


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Any graph, with circles, with names that are not in it."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return {name: tuple(draw(st.lists(st.sampled_from(NAMES), max_size=4))) for name in names}


def test_the_ticket_chain_has_its_two_lookups_side_by_side() -> None:
    layout = laid_out(CHAIN)
    assert [[slot.name for slot in row] for row in layout.rows] == [["M1"], ["M2", "M3"], ["M4"], ["M5"]]
    assert set(layout.edges) == {("M1", "M2"), ("M1", "M3"), ("M2", "M4"), ("M3", "M4"), ("M4", "M5")}


def test_an_edge_that_a_longer_way_implies_is_not_drawn() -> None:
    assert reduced({"a": (), "b": ("a",), "c": ("a", "b")}) == {"a": (), "b": ("a",), "c": ("b",)}


def test_an_edge_over_a_row_gets_a_place_of_its_own_there() -> None:
    layout = laid_out({"a": (), "b": ("a",), "c": ("b",), "d": ("a",), "e": ("c", "d"), "x": ()})
    way = layout.edges["d", "e"]
    assert len(way) == 3
    assert [slot.name for slot in layout.rows[2] if slot.key == way[1]] == [None]


def test_a_circle_loses_one_edge_and_an_unknown_name_is_left_out() -> None:
    assert acyclic({"a": ("b",), "b": ("a", "nobody", "b")}) == {"a": ("b",), "b": ()}


def test_many_milestones_without_order_are_wrapped() -> None:
    rank = ranks({f"m{k}": () for k in range(2 * MAX_IN_ROW + 1)})
    assert sorted(rank.values()) == [0] * MAX_IN_ROW + [1] * MAX_IN_ROW + [2]


def test_rows_are_ordered_so_that_parallel_chains_do_not_cross() -> None:
    rows = laid_out({"a": (), "b": (), "x": ("b",), "y": ("a",)}).rows
    assert [slot.name for slot in rows[0]] == ["a", "b"]
    assert [slot.name for slot in rows[1]] == ["y", "x"]


@given(graphs())
def test_every_graph_is_laid_out_downwards(graph: dict[str, tuple[str, ...]]) -> None:
    layout = laid_out(graph)
    row_of = {slot.key: number for number, row in enumerate(layout.rows) for slot in row}
    named = [slot.name for row in layout.rows for slot in row if slot.name is not None]
    assert sorted(named) == sorted(graph)
    for (source, target), way in layout.edges.items():
        assert (way[0], way[-1]) == (source, target)
        assert all(row_of[lower] == row_of[upper] + 1 for upper, lower in pairwise(way))
    assert all(sum(slot.name is not None for slot in row) <= MAX_IN_ROW for row in layout.rows)
