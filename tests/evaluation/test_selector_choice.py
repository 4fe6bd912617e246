from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.evaluation.best_of_n import NO_OUTCOME, NOTHING_TO_CHOOSE, Choices, choose, group_runs
from prm.evaluation.intervals import Resampling
from prm.evaluation.selector_choice import TOO_FEW_QUERIES, SelectorChoice, choose_selectors, chosen
from tests.evaluation.labelled_runs import encoded, gold_run, said


def two_selectors(x: list[float], y: list[float]) -> Choices:
    """Choices in which selectors x and y have the given success in each query, one of whose two runs succeeded."""
    runs = [gold_run(q, s, [1], 1 if s else -1) for q in range(len(x)) for s in range(2)]
    arrays, _ = encoded(runs, [])
    ends = np.tile([1.0, 0.5, 1.0], (len(x), 1))
    scores = {name: np.zeros(len(runs)) for name in ("x", "y")}
    return Choices(group_runs(arrays), scores, np.column_stack([ends, x, y]), None)


def block_of(choices: Choices, bootstrap: int = 0, seed: int = 0) -> dict:  # type: ignore[type-arg]
    choice = choose_selectors(choices, seed)
    sums = Resampling(len(choices.statistics), bootstrap, 0).add(choice.statistics)
    block = chosen(choice, sums, choices)
    assert block is not None
    return block


def test_what_helps_one_query_alone_does_not_help_the_other() -> None:
    # Each of the two queries is a fold of its own; what won on the other one fails here.
    block = block_of(two_selectors([1.0, 0.0], [0.0, 1.0]))
    assert sorted(block["selector_by_fold"]) == ["x", "y"]
    assert (block["folds"], block["accuracy"], block["gain"]) == (2, 0.0, -0.5)
    assert block["best_in_hindsight"] == {"selector": "x", "accuracy": 0.5, "gain": 0.0}


def test_a_selector_that_is_better_everywhere_is_chosen_in_every_fold() -> None:
    block = block_of(two_selectors([0.0] * 10, [1.0] * 10), bootstrap=50)
    assert block["selector_by_fold"] == ["y"] * 5
    assert (block["accuracy"], block["gain"]) == (1.0, 0.5)
    assert block["ci95"] == {"accuracy": [1.0, 1.0], "gain": [0.5, 0.5]}
    assert block["best_in_hindsight"] == {"selector": "y", "accuracy": 1.0, "gain": 0.5}


def test_equal_selectors_go_to_the_first_name() -> None:
    assert block_of(two_selectors([1.0, 0.0, 1.0], [1.0, 0.0, 1.0]))["selector_by_fold"] == ["x"] * 3


def test_sums_that_differ_by_rounding_only_are_equal() -> None:
    assert block_of(two_selectors([0.3] * 4, [0.1 + 0.2] * 4))["selector_by_fold"] == ["x"] * 4


def test_without_draws_there_is_no_interval() -> None:
    assert block_of(two_selectors([1.0, 0.0], [0.0, 1.0]))["ci95"] == {"accuracy": None, "gain": None}


def test_queries_without_a_known_outcome_are_in_no_fold() -> None:
    gold = [gold_run(q, s, [1], (1 if s else -1) if q < 2 else None) for q in range(9) for s in range(2)]
    choice = choose_selectors(choose(*encoded(gold, [said(g, [1], 1) for g in gold])), 0)
    assert len(choice.selector_by_fold) == 2
    assert choice.statistics[:, 0].tolist() == [1, 1, *[0] * 7]


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [([[1, -1]], TOO_FEW_QUERIES), ([[1], [-1]], NOTHING_TO_CHOOSE), ([[None, None], [None]], NO_OUTCOME)],
)
def test_where_nothing_can_be_chosen_the_reason_is_given(outcomes: list, reason: str) -> None:  # type: ignore[type-arg]
    gold = [gold_run(q, s, [1], y) for q, group in enumerate(outcomes) for s, y in enumerate(group)]
    choices = choose(*encoded(gold, []))
    choice = choose_selectors(choices, 0)
    assert (choice.undefined, choice.selector_by_fold) == (reason, ())
    sums = Resampling(len(choices.statistics), 10, 0).add(choice.statistics)
    assert chosen(choice, sums, choices) is None


def test_the_folds_depend_on_the_seed_alone() -> None:
    rng = np.random.default_rng(0)
    choices = two_selectors(rng.random(40).tolist(), rng.random(40).tolist())
    assert np.array_equal(choose_selectors(choices, 1).statistics, choose_selectors(choices, 1).statistics)
    assert {choose_selectors(choices, seed).selector_by_fold for seed in range(12)} != {("x",) * 5}


def own_accuracy(choice: SelectorChoice) -> float:
    groups, _, successes = choice.statistics.sum(axis=0)
    return float(successes / groups)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12), st.integers(0, 3))
def test_the_chosen_success_of_a_query_is_one_of_its_selectors(pairs: list[tuple[float, float]], seed: int) -> None:
    choices = two_selectors([x for x, _ in pairs], [y for _, y in pairs])
    choice = choose_selectors(choices, seed)
    assert all(value in pair for value, pair in zip(choice.statistics[:, 2].tolist(), pairs, strict=True))
    assert 0.0 <= own_accuracy(choice) <= 1.0
