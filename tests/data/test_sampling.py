"""Mixing by weight and choosing queries that differ: whole queries, no randomness beyond the seed."""

from __future__ import annotations

import importlib.util
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.sampling import choose_diverse, embed_by_model, embed_by_tfidf, farthest_points, mix_by_weight
from prm.data.split import Query
from prm.errors import ConfigError, InputError


def queries(source: str, *sizes: int) -> list[Query]:
    return [Query(f"{source}{i:02}", source, None, size) for i, size in enumerate(sizes)]


def test_equal_weights_keep_the_scarce_source_whole_and_as_many_of_the_other() -> None:
    both = queries("a", *[5] * 20) + queries("b", *[5] * 4)
    kept = mix_by_weight(both, {"a": 1, "b": 1}, 0)
    assert Counter(query.source for query in both if query.name in kept) == {"a": 4, "b": 4}


def test_weights_are_shares_of_trajectories_not_of_queries() -> None:
    both = queries("a", *[2] * 30) + queries("b", *[10] * 3)
    kept = mix_by_weight(both, {"a": 2, "b": 3}, 0)
    trajectories = {s: sum(q.trajectories for q in both if q.source == s and q.name in kept) for s in "ab"}
    assert trajectories == {"a": 20, "b": 30}


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
    st.floats(0.1, 9),
)
def test_no_source_exceeds_its_share_and_none_vanishes(a: list[int], b: list[int], weight: float) -> None:
    both = queries("a", *a) + queries("b", *b)
    kept = mix_by_weight(both, {"a": weight, "b": 1.0}, 0)
    unit = min(sum(a) / weight, sum(b))
    for source, target in (("a", unit * weight), ("b", unit)):
        sizes = [q.trajectories for q in both if q.source == source and q.name in kept]
        assert sizes
        assert sum(sizes) <= target + 1e-6 or len(sizes) == 1
    assert mix_by_weight(both[::-1], {"b": 1.0, "a": weight}, 0) == kept


@pytest.mark.parametrize("weights", [{"a": 1}, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 0}, {"a": 1, "b": float("nan")}])
def test_weights_must_name_each_source_once_and_be_positive(weights: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="--weight"):
        mix_by_weight(queries("a", 1) + queries("b", 1), weights, 0)


def test_farthest_points_by_hand() -> None:
    # Directions in degrees. The mean points at about 38, so 40 comes first; 90 is farthest from it, then 0.
    angles = np.radians([0.0, 10.0, 40.0, 45.0, 90.0])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert farthest_points(points, 3) == [2, 4, 0]


def test_equal_points_are_each_chosen_once_in_order() -> None:
    assert farthest_points(np.tile([1.0, 0.0], (4, 1)), 4) == [0, 1, 2, 3]


@given(st.lists(st.text("abc ", max_size=12), min_size=1, max_size=12), st.data())
def test_any_texts_give_distinct_points(texts: list[str], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(texts)))
    chosen = farthest_points(embed_by_tfidf(texts), count)
    assert len(set(chosen)) == count


def test_queries_that_repeat_each_other_are_chosen_last() -> None:
    texts = {
        "a00": "book a flight to Rome",
        "a01": "book a flight to Rome now",
        "a02": "what is the capital of Peru",
    }
    chosen = choose_diverse(queries("a", 1, 1, 1), texts, 2, embed_by_tfidf)
    assert "a02" in chosen
    assert len(chosen) == 2


def test_every_source_gives_the_same_number_or_is_refused() -> None:
    both = queries("a", 1, 1, 1) + queries("b", 1, 1)
    texts = {query.name: f"text {query.name}" for query in both}
    chosen = choose_diverse(both, texts, 2, embed_by_tfidf)
    assert Counter(name[0] for name in chosen) == {"a": 2, "b": 2}
    with pytest.raises(InputError, match="source b must have at least 3 queries"):
        choose_diverse(both, texts, 3, embed_by_tfidf)


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="the package is installed")
def test_without_sentence_transformers_the_error_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"needs the package sentence-transformers.*pip install"):
        embed_by_model("any/model")
