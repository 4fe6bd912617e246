from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.edges import covers, edges_of, is_target
from prm.reach.judging.provenance_records import Leaf, Source


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ((), ("a", 0), True),
        (("a",), ("a",), True),
        (("a",), ("a", 0, "b"), True),
        (("a", "b"), ("a", 3, "b"), True),
        (("a", "b"), ("a",), False),
        (("b",), ("a", "b"), False),
        (("a", "1"), ("a", 1), True),
        (("a", "1"), ("a", 0), False),
        (("*", "b"), ("x", "b"), True),
        (("a",), (0, "a"), True),
    ],
)
def test_a_path_covers_what_is_below_it(pattern: tuple[str, ...], path: tuple[Any, ...], covered: bool) -> None:
    assert covers(pattern, path) is covered


def leaf(*sources: Source) -> Leaf:
    return Leaf(5, "c2", "order", ("items", 0, "id"), "lamp-4", "ref", "result", sources)


def test_a_target_is_a_tool_or_a_parameter_of_it() -> None:
    assert is_target((), leaf())
    assert is_target(("order",), leaf())
    assert is_target(("find", "order.items.id"), leaf())
    assert not is_target(("order.item",), leaf())
    assert not is_target(("find.items",), leaf())


def test_what_a_result_only_repeats_and_what_was_said_are_no_edges() -> None:
    given, repeated, said = Source(2, "c0", ("id",)), Source(4, "c1", ("id",), echo=True), Source(1)
    taken = leaf(given, repeated, said)
    assert edges_of({"c2": [taken]}) == {"c0": [(taken, given)]}
