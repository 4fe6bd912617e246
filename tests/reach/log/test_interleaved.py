from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prm.reach.log.interleaved import grouped


def test_a_group_is_given_out_with_its_last_row() -> None:
    read: list[str] = []

    def rows() -> list[str]:
        return [*"axbyaz"]

    for key, group in grouped(rows, [1, 2, 1, 2, 1, 3]):
        read.append(f"{key}:{''.join(group)}")
    assert read == ["2:xy", "1:aba", "3:z"]


@given(st.lists(st.integers(0, 3)))
def test_every_row_comes_out_once_in_order_within_its_group(keys: list[int]) -> None:
    groups = list(grouped(lambda: range(len(keys)), keys))
    assert sorted(number for _, group in groups for number in group) == list(range(len(keys)))
    for key, group in groups:
        assert group == [number for number, other in enumerate(keys) if other == key]


def test_rows_that_a_growing_file_has_gained_are_left_for_the_next_time() -> None:
    assert list(grouped(lambda: [1, 2, 3], ["a", "a"])) == [("a", [1, 2])]
