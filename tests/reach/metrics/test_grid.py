from __future__ import annotations

from prm.reach.metrics.estimate import Settings
from prm.reach.metrics.grid import grid
from prm.reach.metrics.scenario_means import ScenarioMeans
from prm.reach.metrics.verdict_arrays import encode_verdicts
from tests.reach.metrics.hand_verdicts import verdict


def test_rows_are_ordered_by_template_and_cells_by_repeat() -> None:
    arrays = encode_verdicts(
        [verdict("r", "z-1", 10), verdict("t", "a-2", 0), verdict("m", "z-1", 2), verdict("?", "z-1", "x")]
    )
    rows = grid(arrays, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))
    assert [row.scenario for row in rows] == ["a-2", "z-1"]
    assert [cell.run for cell in rows[1].cells] == [2, 10, "x"]
    assert [cell.standings for cell in rows[1].cells] == [("missed",), ("reached",), ("unscorable",)]
    assert rows[1].abilities == ("undetermined",)
    assert rows[0].abilities == (None,)


def test_a_milestone_that_a_run_does_not_have_is_not_applicable_in_its_cell() -> None:
    arrays = encode_verdicts([verdict("rr"), verdict("r", run=1)])
    (row,) = grid(arrays, ScenarioMeans(arrays.grouping, Settings(15, 0, 0)))
    assert row.cells[1].standings == ("reached", "n/a")
