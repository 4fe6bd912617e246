"""The browser's index: what a judge made of a run's first error, and what the list shows of each run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from prm.errors import InputError
from prm.evaluation.first_error import first_error_accuracy_strict, first_error_is_known
from prm.evaluation.matching import match
from prm.evaluation.metrics_file import evaluate
from prm.evaluation.sources import judge_paths, load_gold, load_predictions
from prm.report import browser
from prm.report.browser import browser_data, disputed_steps, first_error_kind, run_index
from prm.types import Prediction, RunIdentity, Trajectory
from tests.evaluation.labelled_runs import gold_and_predictions
from tests.report.pages import run, said, unpacked

CLEAN = {2: 1, 4: 0, 6: 1}
ERROR = {2: 1, 4: -1, 6: 1}


@pytest.mark.parametrize(
    ("gold", "labels", "kind"),
    [
        (CLEAN, {2: 1, 4: 1, 6: 1}, browser.RIGHT),
        (CLEAN, {2: 1, 4: -1, 6: 1}, browser.FALSE_ALARM),
        (CLEAN, {2: 1, 4: 1}, browser.NOT_JUDGED),
        (ERROR, {2: 1, 4: -1, 6: -1}, browser.RIGHT),
        (ERROR, {2: 1, 4: -1}, browser.RIGHT),  # what follows the first error decides nothing
        (ERROR, {2: 1, 4: 0, 6: 1}, browser.MISSED),
        (ERROR, {2: -1, 4: -1, 6: 1}, browser.TOO_EARLY),
        (ERROR, {2: -1}, browser.TOO_EARLY),
        (ERROR, {2: 1, 4: 0, 6: -1}, browser.TOO_LATE),
        (ERROR, {4: -1, 6: 1}, browser.NOT_JUDGED),  # step 2 might have been accused
        (ERROR, {2: 1, 6: -1}, browser.NOT_JUDGED),
        (ERROR, {}, browser.NOT_JUDGED),
        (ERROR, None, browser.NOT_JUDGED),
        (ERROR, {1: -1, 2: 1, 4: -1, 6: 1}, browser.RIGHT),  # message 1 is no step
        ({2: None, 4: -1}, {2: 1, 4: -1}, browser.UNKNOWN),
        ({2: 1, 4: None}, None, browser.UNKNOWN),
        ({2: -1, 4: None}, {2: -1, 4: 1}, browser.RIGHT),
        ({}, {}, browser.RIGHT),
    ],
)
def test_the_kind_of_a_first_error(gold: dict, labels: dict | None, kind: str) -> None:
    assert first_error_kind(gold, labels) == kind


@given(gold_and_predictions())
def test_right_is_what_the_strict_rule_counts_as_right(drawn: tuple[list[Trajectory], list[Prediction]]) -> None:
    gold, predictions = drawn
    unique = list({trajectory.key: trajectory for trajectory in gold}.values())
    for trajectory, prediction in zip(unique, match(unique, predictions, "judge").predictions, strict=True):
        labels = None if prediction is None or prediction.status == "failed" else prediction.step_labels
        kind = first_error_kind(trajectory.step_labels, labels)
        assert (kind == browser.UNKNOWN) == (not first_error_is_known(trajectory.step_labels))
        if kind != browser.UNKNOWN:
            strict = first_error_accuracy_strict([trajectory.step_labels], [labels])
            assert strict == (1.0 if kind == browser.RIGHT else 0.0)


def test_the_index_of_two_runs_by_hand() -> None:
    gold = [run(0, {2: 1, 4: -1}, -1), run(1, {2: 1, 4: None}, None)]
    judge = [said(gold[0], {2: 0, 4: -1}, 1), None]
    index = run_index(gold, {"judge": judge})
    assert index["judges"] == ["judge"]
    assert index["sources"] == ["desk"]
    assert index["agents"] == ["agent_0", "agent_1"]
    assert index["runs"] == {
        "key": ["desk:0:0", "desk:0:1"],
        "source": [0, 0],
        "agent": [0, 1],
        "question": [0, 1],
        "outcome": [-1, None],
        "steps": [2, 2],
        "strip": ["+-", "+?"],
        "first": [1, -1],
        "disputed": [0, 0],
    }
    # Run 0: step 2 is wrong; −1 found at its place; an outcome of success instead of failure. Run 1: no record, so
    # its one known step is wrong.
    assert index["said"] == [
        {
            "kind": browser.RIGHT + browser.UNKNOWN,
            "wrong": [1, 1],
            "first": [1, -1],
            "final": [1, None],
            "strip": ["0-", "??"],
            "differs": [1, 0],
            "outcome": [1, 0],
        }
    ]


def test_a_failed_record_gives_no_labels() -> None:
    gold = [run(0, {2: 1, 4: 1})]
    failed = said(gold[0], {2: 1}, status="failed", reason="cut off")
    assert run_index(gold, {"judge": [failed]})["said"][0]["kind"] == browser.NOT_JUDGED
    assert run_index(gold, {"judge": [failed]})["said"][0]["wrong"] == [2]


def test_steps_are_disputed_where_two_judges_differ() -> None:
    gold = run(0, {2: 1, 4: 1})
    one, two = said(gold, {2: 1, 4: 0}), said(gold, {2: 1, 4: -1})
    assert disputed_steps(gold, [one, two, None]) == 1
    assert disputed_steps(gold, [one, said(gold, {2: 1})]) == 0  # a missing label contradicts nothing
    assert disputed_steps(gold, [one, said(gold, {4: 1}, status="failed")]) == 0
    assert disputed_steps(gold, []) == 0


def test_keys_are_unique_and_ids_stand_alone() -> None:
    identities = [RunIdentity("a:b", "c", 0), RunIdentity("a", "b:c", 0), RunIdentity(id="run-7", data_source="a")]
    gold = [Trajectory(identity, (), {2: 1}) for identity in identities]
    assert run_index(gold, {})["runs"]["key"] == ["a:b:c:0", "a:b:c:0 (2)", "run-7"]


def test_a_long_run_shows_its_first_labels_and_counts_all() -> None:
    gold = [Trajectory(RunIdentity("a", 0, 0), (), dict.fromkeys(range(100), 1))]
    columns = run_index(gold, {})["runs"]
    assert columns["strip"] == ["+" * 40]
    assert columns["steps"] == [100]


def test_every_run_is_packed() -> None:
    gold = [run(sample, {2: 1, 4: 1}) for sample in range(3)]
    data = browser_data(gold, {"judge": [said(gold[2], {2: 1, 4: -1})]})
    assert [unpacked(text)["judges"][0] is None for text in data.runs] == [True, True, False]
    assert unpacked(data.index)["said"][0]["kind"] == "nnf"
    assert data.left_out == 0


def test_runs_beyond_the_limit_are_counted() -> None:
    gold = [run(sample, {2: 1, 4: 1}) for sample in range(3)]
    data = browser_data(gold, {"judge": [said(gold[0], {2: 1})]}, max_runs=2)
    assert (len(data.runs), data.left_out) == (2, 1)
    assert unpacked(data.index)["runs"]["key"] == ["desk:0:0", "desk:0:1"]


def test_no_runs_and_no_judges_are_no_error() -> None:
    assert unpacked(browser_data([], {}).index)["runs"]["key"] == []


def test_predictions_for_other_runs_are_refused() -> None:
    with pytest.raises(InputError, match="keys of gold"):
        browser_data([run(0, {2: 1, 4: 1})], {"judge": [said(run(9, {}), {2: 1})]})


def test_shares_on_the_benchmark_are_those_of_the_metrics(shared_data: Path) -> None:
    folder = shared_data / "agentprocessbench"
    gold = load_gold([folder / "labels"])
    judges = {name: load_predictions(path) for name, path in judge_paths([], folder / "predictions").items()}
    metrics = evaluate(gold, judges, bootstrap=0)
    index = run_index(gold, {name: match(gold, given, name).predictions for name, given in judges.items()})
    for name, column in zip(index["judges"], index["said"], strict=True):
        overall = metrics["judges"][name]["overall"]
        known = len(gold) - column["kind"].count(browser.UNKNOWN)
        assert column["kind"].count(browser.RIGHT) / known == pytest.approx(overall["first_err_acc_strict"])
        assert 1 - sum(column["wrong"]) / metrics["gold"]["steps"] == pytest.approx(overall["step_acc"])
