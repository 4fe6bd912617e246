from __future__ import annotations

from prm.reach.judging.json_leaves import leaves_of, parts_of, path_text


def test_leaves_come_in_order_with_their_paths() -> None:
    value = {"a": [1, {"b": None}], "c": "x", "d": {}, "e": []}
    assert list(leaves_of(value)) == [(("a", 0), 1), (("a", 1, "b"), None), (("c",), "x")]


def test_a_leaf_alone_has_the_empty_path() -> None:
    assert list(leaves_of("x")) == [((), "x")]


def test_parts_have_the_keys_too() -> None:
    assert list(parts_of({"a": {"b": 1}})) == [(("a",), "a", True), (("a", "b"), "b", True), (("a", "b"), 1, False)]


def test_depth_is_no_matter() -> None:
    value: object = 1
    for _ in range(3_000):
        value = [value]
    ((path, leaf),) = leaves_of(value)
    assert (len(path), leaf) == (3_000, 1)


def test_a_path_as_people_write_it() -> None:
    assert path_text(("a", "b", 0, "c")) == "a.b[0].c"
    assert path_text((0, "c")) == "[0].c"
    assert path_text(()) == ""
