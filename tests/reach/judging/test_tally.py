from __future__ import annotations

from prm.reach.judging.tally import VerdictTally
from prm.reach.judging.verdict import Diagnosis
from tests.reach.metrics.hand_verdicts import verdict


def test_runs_are_counted_once_for_each_diagnosis() -> None:
    tally = VerdictTally()
    tally.add(verdict("rt", minefields={"a": True, "b": False}, diagnoses=(Diagnosis("loop", 1), Diagnosis("loop", 2))))
    tally.add(verdict("rm", notes=("odd",)))
    assert (tally.runs, tally.calls, tally.noted) == (2, 4, 1)
    assert tally.standings == {"M1": {"reached": 2}, "M2": {"touched": 1, "missed": 1}}
    assert (tally.diagnoses, tally.minefields) == ({"loop": 1}, {"a": 1})
    assert tally.covered == {False: 2}


def test_logs_that_no_tool_of_the_spec_is_in_are_foreign() -> None:
    tally = VerdictTally()
    tally.add(verdict("mm", calls=4))
    assert tally.is_foreign
    tally.add(verdict("mt"))
    assert not tally.is_foreign
    assert not VerdictTally().is_foreign
