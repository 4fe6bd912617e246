from __future__ import annotations

from prm.reach.labels.tally import LabelTally
from tests.reach.labels.labelled_runs import labelled_run


def test_steps_are_counted_by_rule_and_label_and_runs_by_outcome() -> None:
    tally = LabelTally()
    tally.add(labelled_run(0, [("milestone", 1), ("no_progress", 0), ("unknown", None)], outcome=1))
    tally.add(labelled_run(1, [("no_progress", -1), ("no_progress", 0)], outcome=None))
    assert (tally.runs, tally.steps, tally.masked) == (2, 5, 1)
    assert tally.rules == {("milestone", 1): 1, ("no_progress", 0): 2, ("no_progress", -1): 1, ("unknown", None): 1}
    assert tally.labels() == {1: 1, 0: 2, -1: 1, None: 1}
    assert tally.outcomes == {1: 1, None: 1}
