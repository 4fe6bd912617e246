from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.reach_curve import MAX_K, all_reached_within, longest_curve, reach_curve, reach_within
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import verdict


def test_reach_counts_the_required_milestones_within_k_calls() -> None:
    arrays = encode_verdicts([verdict("rrtrm")])
    assert [reach_within(arrays, k)[0] for k in (1, 2, 3, 4, 5)] == pytest.approx([0.2, 0.4, 0.4, 0.6, 0.6])


def test_not_applicable_and_unscorable_milestones_are_no_part_of_it() -> None:
    arrays = encode_verdicts([verdict("rr-?m"), verdict("--")])
    assert reach_within(arrays, 15)[0] == pytest.approx(2 / 3)
    assert np.isnan(reach_within(arrays, 15)[1])


def test_all_reached_needs_every_one_in_time_and_stays_unknown_where_it_is() -> None:
    arrays = encode_verdicts([verdict("rrr"), verdict("rrt"), verdict("rr?")])
    np.testing.assert_array_equal(all_reached_within(arrays, 2), [0, 0, np.nan])
    np.testing.assert_array_equal(all_reached_within(arrays, 3), [1, 0, np.nan])


def test_the_curve_is_macro_over_scenarios_and_goes_to_the_cap() -> None:
    arrays = encode_verdicts([verdict("rr", "a"), verdict("rm", "b"), verdict("rm", "b", 1), verdict("rm", "b", 2)])
    points = reach_curve(arrays, 15, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))()
    assert [point.k for point in points] == list(range(1, 16))
    assert points[14].reach.value == pytest.approx((1 + 0.5) / 2)
    assert points[14].all_reached.value == 0.5


def test_the_curve_goes_on_beyond_the_cap_but_not_for_ever() -> None:
    late = [verdict("r", run=0), verdict("rrrrr", run=1)]
    assert longest_curve(encode_verdicts(late), 2) == 5
    far = verdict("r", calls=9_000)

    arrays = encode_verdicts([replace(far, milestones=(replace(far.milestones[0], reached=None),))])
    assert longest_curve(arrays, 15) == MAX_K
