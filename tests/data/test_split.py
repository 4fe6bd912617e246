"""Splits and folds draw whole queries, spread over strata, the same for the same seed."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.layout import plan_layout
from prm.data.split import Query, fold_queries, order_queries, parts_of_fold, split_queries, take_share
from prm.errors import InputError


def queries(count: int, source: str = "s", success: float | None = 1.0) -> list[Query]:
    return [Query(f"{source}{i:03}", source, success, 5) for i in range(count)]


some_queries = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([None, 0.0, 0.2, 0.8, 1.0])), min_size=3, max_size=30
).map(lambda pairs: [Query(f"q{i}", source, success, 1) for i, (source, success) in enumerate(pairs)])
seeds = st.integers(0, 2**32)


def test_fifty_queries_give_ten_to_test_and_five_to_validate_on() -> None:
    assert Counter(split_queries(queries(50), 0.2, 0.1, 0).values()) == {
        "train": 35,
        "validation": 5,
        "test": 10,
    }


def test_a_share_of_nothing_takes_nothing_and_any_other_takes_one() -> None:
    assert take_share(queries(5), 0.0, 0, 5) == set()
    assert len(take_share(queries(5), 0.01, 0, 5)) == 1


def test_every_source_and_success_stratum_is_tested_in_proportion() -> None:
    mixed = queries(40, "a", 1.0) + queries(20, "b", 0.0) + queries(20, "a2", 0.3)
    parts = split_queries(mixed, 0.25, 0.0, 3)
    assert Counter(query.source for query in mixed if parts[query.name] == "test") == {
        "a": 10,
        "b": 5,
        "a2": 5,
    }


def test_too_few_queries_to_train_on_are_refused() -> None:
    for count in (1, 2):
        with pytest.raises(InputError, match="must leave a query to train on"):
            split_queries(queries(count), 0.2, 0.1, 0)
    assert Counter(split_queries(queries(3), 0.2, 0.1, 0).values()) == {
        "train": 1,
        "validation": 1,
        "test": 1,
    }


@given(some_queries, st.floats(0, 0.5), st.floats(0, 0.3), seeds)
def test_a_split_is_a_partition_that_ignores_input_order(
    given_queries: list[Query], test: float, validation: float, seed: int
) -> None:
    try:
        parts = split_queries(given_queries, test, validation, seed)
    except InputError:
        assert len(given_queries) * (1 - test - validation) < 3
        return
    assert set(parts) == {query.name for query in given_queries}
    shuffled = random.Random(seed).sample(given_queries, len(given_queries))
    assert split_queries(shuffled, test, validation, seed) == parts
    tested = sum(part == "test" for part in parts.values())
    assert tested == (max(1, round(test * len(parts))) if test else 0)


@given(some_queries, st.integers(2, 6), seeds)
def test_folds_are_even_and_each_query_is_in_one(given_queries: list[Query], folds: int, seed: int) -> None:
    if folds > len(given_queries):
        with pytest.raises(InputError, match="number of queries"):
            fold_queries(given_queries, folds, seed)
        return
    fold_of = fold_queries(given_queries, folds, seed)
    assert set(fold_of) == {query.name for query in given_queries}
    for source in ("a", "b", "c", None):
        sizes = [0] * folds
        for query in given_queries:
            sizes[fold_of[query.name]] += source in (query.source, None)
        assert max(sizes) - min(sizes) <= 1
    assert fold_queries(given_queries[::-1], folds, seed) == fold_of


@pytest.mark.parametrize("folds", [0, 1, 51, -1])
def test_impossible_numbers_of_folds_are_refused(folds: int) -> None:
    with pytest.raises(InputError, match="--folds"):
        fold_queries(queries(50), folds, 0)


@given(some_queries, seeds)
def test_a_fold_is_its_own_test_set_and_the_rest_trains_and_validates(given_queries: list[Query], seed: int) -> None:
    fold_of = fold_queries(given_queries, 3, seed)
    for fold in range(3):
        try:
            parts = parts_of_fold(given_queries, fold_of, fold, 0.2, seed)
        except InputError:
            assert sum(other != fold for other in fold_of.values()) < 2
            continue
        assert {name for name, part in parts.items() if part == "test"} == {n for n, f in fold_of.items() if f == fold}


def test_another_seed_gives_another_split() -> None:
    first, second = (split_queries(queries(50), 0.2, 0.1, seed) for seed in (0, 1))
    assert first != second
    assert [q.name for q in order_queries(queries(50), 0)] != [q.name for q in order_queries(queries(50), 1)]


@given(some_queries.filter(lambda q: len(q) >= 8), st.integers(2, 3), seeds)
def test_leaving_generators_out_tests_every_run_once_on_unseen_queries(
    given_queries: list[Query], folds: int, seed: int
) -> None:
    generators = ["gpt 4/o", "gpt 4:o", "x"]
    layout = plan_layout(
        given_queries,
        generators,
        test_share=0.2,
        validation_share=0.1,
        seed=seed,
        folds=folds,
        leave_generator_out=True,
    )
    assert len({split.folder for split in layout}) == len(generators) * folds
    tested = Counter(
        (query.name, generator)
        for split in layout
        for query in given_queries
        for generator in generators
        if split.part_of(query.name, generator) == "test"
    )
    assert set(tested.values()) == {1}
    assert len(tested) == len(generators) * len(given_queries)
    for split in layout:
        placed = [(q.name, g, split.part_of(q.name, g)) for q in given_queries for g in generators]
        test_queries = {name for name, _, part in placed if part == "test"}
        fitted = [(name, g) for name, g, part in placed if part in ("train", "validation")]
        assert fitted
        assert not test_queries & {name for name, _ in fitted}
        assert split.generator not in {g for _, g in fitted}


@pytest.mark.parametrize("generators", [["", "a"], ["a"]])
def test_generators_to_leave_out_must_be_named_and_several(generators: list[str]) -> None:
    with pytest.raises(InputError, match="--leave-generator-out"):
        plan_layout(
            queries(9),
            generators,
            test_share=0.2,
            validation_share=0.1,
            seed=0,
            folds=None,
            leave_generator_out=True,
        )
