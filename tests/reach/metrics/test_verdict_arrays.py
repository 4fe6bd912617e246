from __future__ import annotations

from dataclasses import replace

import numpy as np

from prm.reach.metrics.verdict_arrays import encode_verdicts, group_runs
from tests.reach.metrics.hand_verdicts import verdict


def test_standings_become_numbers_and_what_cannot_be_scored_is_nan() -> None:
    arrays = encode_verdicts([verdict("rtm-?")])
    assert arrays.milestones == ("M1", "M2", "M3", "M4", "M5")
    np.testing.assert_array_equal(arrays.touched[0], [1, 1, 0, np.nan, np.nan])
    np.testing.assert_array_equal(arrays.reached[0], [1, 0, 0, np.nan, np.nan])
    np.testing.assert_array_equal(arrays.required[0], [True, True, True, False, True])


def test_calls_count_from_one_and_never_reached_is_infinite() -> None:
    arrays = encode_verdicts([verdict("rrt")])
    np.testing.assert_array_equal(arrays.calls[0], [1, 2, np.inf])


def test_reached_without_a_moment_counts_as_reached_by_the_last_call() -> None:
    one = verdict("r", calls=7)
    arrays = encode_verdicts([replace(one, milestones=(replace(one.milestones[0], reached=None),))])
    assert arrays.calls[0, 0] == 7


def test_the_chain_breaks_where_a_milestone_is_open_and_its_prerequisites_are_reached() -> None:
    arrays = encode_verdicts([verdict("rtrmm")])
    np.testing.assert_array_equal(arrays.lost[0], [0, 1, 0, 0, 0])


def test_a_break_behind_something_unscorable_is_unknown() -> None:
    arrays = encode_verdicts([verdict("r?rmr")])
    assert np.isnan(arrays.lost[0, 3])


def test_a_milestone_that_a_verdict_does_not_name_does_not_apply() -> None:
    arrays = encode_verdicts([verdict("rr"), verdict("rrr", run=1)])
    assert np.isnan(arrays.reached[0, 2])
    assert not arrays.required[0, 2]


def test_unknown_outcomes_are_nan() -> None:
    arrays = encode_verdicts([verdict("r", final_success=None, covered=True)])
    np.testing.assert_array_equal(arrays.outcomes[0], [np.nan, 1, 1, 1])


def test_a_subset_is_what_encoding_it_alone_gives() -> None:
    verdicts = [verdict("rrrrr", "a-1"), verdict("rtmmm", "b-1"), verdict("rr-rr", "a-1", 1)]
    part, alone = encode_verdicts(verdicts).subset(np.array([0, 2])), encode_verdicts([verdicts[0], verdicts[2]])
    np.testing.assert_array_equal(part.reached, alone.reached)
    np.testing.assert_array_equal(part.grouping.scenario, alone.grouping.scenario)
    assert part.verdicts == alone.verdicts


def test_a_scenario_has_the_template_of_its_first_run() -> None:
    grouping = group_runs(["a", "b", "a"], ["t", "u", "u"])
    assert grouping.template.tolist() == [0, 1]
    assert grouping.n_templates == 2
