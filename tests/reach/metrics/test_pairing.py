from __future__ import annotations

import numpy as np

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.pairing import Paired, pair_runs
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import verdict


def paired(old: list[RunVerdict], new: list[RunVerdict]) -> Paired:
    rows = list(range(len(old))), list(range(len(old), len(old) + len(new)))
    return pair_runs(encode_verdicts([*old, *new]), [rows])


def test_scenarios_on_one_side_only_are_named() -> None:
    found = paired([verdict("r", "a"), verdict("r", "b")], [verdict("r", "b", 1), verdict("r", "c")])
    assert (found.only_old, found.only_new, found.grouping.names) == (("a",), ("c",), ("b",))


def test_a_scenario_under_another_seed_is_another_one() -> None:
    found = paired([verdict("r", "a", seed=1), verdict("r", "b")], [verdict("r", "a", seed=2), verdict("r", "b")])
    assert (found.other_seed, found.grouping.names) == (("a",), ("b",))


def test_seeds_that_differ_from_run_to_run_or_are_unknown_do_not_part_scenarios() -> None:
    several = [verdict("r", "a", seed=1), verdict("r", "a", 1, seed=2)]
    assert paired(several, [verdict("r", "a", seed=3), verdict("r", "a", 1, seed=4)]).other_seed == ()
    assert paired([verdict("r", "a", seed=1)], [verdict("r", "a")]).other_seed == ()


def test_unequal_repeats_are_means_of_their_scenario() -> None:
    found = paired([verdict("r", "a"), verdict("m", "a", 1)], [verdict("r", "a"), verdict("r", "b")])
    old, new, difference = found.differences(np.array([[1.0], [0.0], [1.0], [1.0]]))
    assert (old.tolist(), new.tolist(), difference.tolist()) == ([[0.5]], [[1.0]], [[0.5]])


def test_a_scenario_without_a_value_on_one_side_is_no_pair() -> None:
    found = paired([verdict("r", "a"), verdict("r", "b")], [verdict("r", "a"), verdict("r", "b")])
    old, _, difference = found.differences(np.array([[1.0], [1.0], [np.nan], [0.0]]))
    np.testing.assert_array_equal(difference, [[np.nan], [-1.0]])
    np.testing.assert_array_equal(old, [[np.nan], [1.0]])


def test_several_pairs_together_are_one_difference_a_scenario() -> None:
    verdicts = [verdict("r", "a", agent=agent, variant=variant) for agent in "xy" for variant in ("p", "q")]
    found = pair_runs(encode_verdicts(verdicts), [([0], [1]), ([2], [3])])
    old, new, difference = found.differences(np.array([[0.0], [1.0], [1.0], [1.0]]))
    assert (old.tolist(), new.tolist(), difference.tolist()) == ([[0.5]], [[1.0]], [[0.5]])


def test_nothing_in_common_is_no_scenario() -> None:
    assert paired([verdict("r", "a")], [verdict("r", "b")]).grouping.names == ()
