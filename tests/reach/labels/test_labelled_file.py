from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.errors import InputError
from prm.reach.labels.labelled_file import read_labelled
from prm.reach.labels.records import milestones_of, rule_of
from prm.reach.labels.sample import strata_of
from tests.reach.labels.labelled_runs import labelled_run

RUNS = [
    labelled_run(0, [("milestone", 1), ("unknown", None)], M1="reached"),
    labelled_run(1, [("report", 1)], M1="missed"),
]


def test_only_the_runs_that_are_asked_for_keep_their_text(tmp_path: Path) -> None:
    path = tmp_path / "labelled.jsonl"
    write_jsonl(path, map(dump_trajectory, RUNS))
    first, second = read_labelled(path, whole={RUNS[1].key})
    assert first.messages == ()
    assert second == RUNS[1]
    assert [rule_of(first, index) for index in first.step_labels] == ["milestone", "unknown"]
    assert milestones_of(first) == {"M1": "reached"}
    assert strata_of([first, second]) == strata_of(RUNS)


def test_a_run_without_rule_labels_or_one_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labelled.jsonl"
    write_jsonl(path, [dump_trajectory(replace(RUNS[0], extra={}))])
    with pytest.raises(InputError, match="must have been labelled by"):
        read_labelled(path)
    write_jsonl(path, map(dump_trajectory, [RUNS[0], RUNS[0]]))
    with pytest.raises(InputError, match="its own key"):
        read_labelled(path)
