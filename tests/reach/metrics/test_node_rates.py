from __future__ import annotations

import pytest

from prm.reach.judging.verdict import RunVerdict
from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.node_rates import edge_reports, node_reports
from prm.reach.metrics.node_values import EdgeReport, NodeReport
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import verdict


def nodes(*verdicts: RunVerdict) -> dict[str, NodeReport]:
    arrays = encode_verdicts(verdicts)
    return {node.name: node for node in node_reports(arrays, 15, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))()}


def edges(*verdicts: RunVerdict) -> dict[tuple[str | None, str], EdgeReport]:
    arrays = encode_verdicts(verdicts)
    found = edge_reports(arrays, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))()
    return {(edge.source, edge.target): edge for edge in found}


def test_the_gap_is_what_is_touched_and_not_reached() -> None:
    node = nodes(verdict("rr", "a"), verdict("rt", "b"), verdict("rm", "c"), verdict("r-", "d"))["M2"]
    assert node.touched.value == pytest.approx(2 / 3)
    assert node.reached.value == pytest.approx(1 / 3)
    assert node.gap.value == pytest.approx(1 / 3)
    assert node.standings == {"n/a": 1, "unscorable": 0, "missed": 1, "touched": 1, "reached": 1}
    assert node.reached.left_out == 1


def test_the_conditional_rate_is_over_the_runs_whose_prerequisites_are_reached() -> None:
    node = nodes(verdict("rr", "a"), verdict("mm", "b"), verdict("rt", "c"))["M2"]
    assert node.reached.value == pytest.approx(1 / 3)
    assert node.reached_given_prerequisites.value == 0.5
    assert node.reached_given_prerequisites.runs == 2


def test_the_conditional_rate_is_undefined_where_no_run_gets_so_far() -> None:
    node = nodes(verdict("mm"))["M2"]
    assert node.reached_given_prerequisites.value is None
    assert node.reached_given_prerequisites.undefined is not None


def test_a_run_behind_something_unscorable_is_no_part_of_the_conditional_rate() -> None:
    assert nodes(verdict("?r", "a"), verdict("rm", "b"))["M2"].reached_given_prerequisites.runs == 1


def test_the_reasons_are_shares_of_the_runs_that_do_not_reach_it() -> None:
    reasons = nodes(verdict("rr", "a"), verdict("rt", "b"), verdict("rm", "c"), verdict("rm", "c", 1))["M2"].reasons
    assert reasons["never_called"].value == 0.5
    assert reasons["called_wrong"].value == 0.5
    assert reasons["never_called"].runs == 3


def test_an_unscorable_milestone_is_neither_missed_nor_reached() -> None:
    node = nodes(verdict("?"), verdict("r", run=1))["M1"]
    assert node.reached.value == 1.0
    assert node.standings["unscorable"] == 1


def test_runs_end_on_the_edge_to_the_milestone_that_they_do_not_reach() -> None:
    found = edges(verdict("rrrrr", "a"), verdict("rtrmm", "b"), verdict("mmmmm", "c"))
    assert set(found) == {
        (None, "M1"), ("M1", "M2"), ("M1", "M3"), ("M2", "M4"), ("M3", "M4"), ("M4", "M5"),
    }  # fmt: skip
    assert found[None, "M1"].ended.value == pytest.approx(1 / 3)
    assert found["M1", "M2"].ended.value == pytest.approx(1 / 3)
    assert found["M1", "M2"].passed.value == pytest.approx(1 / 3)
    assert found["M1", "M3"].passed.value == pytest.approx(2 / 3)
    assert found["M3", "M4"].ended.value == 0.0
    assert found["M3", "M4"].passed.value == pytest.approx(1 / 3)


def test_a_prerequisite_that_no_verdict_names_is_no_edge() -> None:
    assert ("M1", "M2") not in edges(verdict("r"))
