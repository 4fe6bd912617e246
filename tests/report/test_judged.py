"""Reading metrics.json for the report."""

from __future__ import annotations

import pytest

from prm.report.elements import Estimate
from prm.report.judged import (
    estimate,
    everyone,
    judges,
    label_shares,
    paired,
    sources,
    verdict_of,
    versus_always,
)
from tests.report.examples import measured, older, unknown_gold


def test_judges_and_baselines_stand_together_best_first() -> None:
    metrics = measured(("good", "bad"))
    ranked = everyone(metrics)
    scores = [one.overall["step_acc"] for one in ranked]
    assert scores == sorted(scores, reverse=True)
    assert [one.shown for one in ranked if one.is_baseline] == ["always +1"]
    assert [one.name for one in judges(metrics)] == ["good", "bad"]


def test_a_judge_without_a_score_comes_last_and_is_kept() -> None:
    metrics = measured(("good", "bad"))
    metrics["judges"]["good"]["overall"]["step_acc"] = None
    assert [one.name for one in judges(metrics)] == ["bad", "good"]


def test_equal_judges_stand_by_name_and_no_score_is_below_zero() -> None:
    scores = {"none": None, "low": 0.1, "z": 0.9, "a": 0.9, "zero": 0.0}
    blocks = {name: {"overall": {"step_acc": score}} for name, score in scores.items()}
    assert [one.name for one in judges({"judges": blocks})] == ["a", "z", "low", "zero", "none"]


def test_an_estimate_takes_its_interval_from_the_block() -> None:
    block = {"step_acc": 0.5, "final_acc": None, "ci95": {"step_acc": [0.4, 0.6], "final_acc": [0.1, 0.2]}}
    assert estimate(block, "step_acc") == Estimate(0.5, 0.4, 0.6)
    assert estimate(block, "final_acc") == Estimate(None)
    assert estimate(block, "coverage") == Estimate(None)
    assert estimate({"step_acc": 0.5, "ci95": {"step_acc": None}}, "step_acc") == Estimate(0.5)


def test_a_pair_reads_in_both_directions() -> None:
    pair = {"a": "x", "b": "y", "metric": "step_acc", "difference": 0.1, "ci95": [0.05, 0.2], "p_value": 0.01}
    found = paired({"pairs": [pair]}, "step_acc")
    assert found["x", "y"].difference == Estimate(0.1, 0.05, 0.2)
    assert found["x", "y"].verdict == "better"
    assert found["y", "x"].difference == Estimate(-0.1, -0.2, -0.05)
    assert found["y", "x"].verdict == "worse"


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (Estimate(0.1, 0.01, 0.2), "better"),
        (Estimate(0.1, 0.0, 0.2), "not distinguishable"),
        (Estimate(0.1, -0.1, 0.2), "not distinguishable"),
        (Estimate(-0.1, -0.2, -0.01), "worse"),
        (Estimate(0.1), None),
        (Estimate(None), None),
    ],
)
def test_an_interval_that_holds_zero_is_not_distinguishable(difference: Estimate, verdict: str | None) -> None:
    assert verdict_of(difference) == verdict


def test_versus_always_positive_is_read_off_the_pairs_of_an_older_file() -> None:
    new, old = measured(("judge",)), older(measured(("judge",)))
    told, read_off = (versus_always(m, judges(m)[0], "step_acc") for m in (new, old))
    assert told is not None
    assert read_off is not None
    assert told.difference == read_off.difference
    assert told.p_holm is not None
    assert read_off.p_holm is None


def test_a_single_source_is_no_source_of_its_own() -> None:
    assert sources(measured(sources=("desk",))) == []
    assert len(sources(measured())) == 3


def test_label_shares_of_unlabelled_gold_are_undefined() -> None:
    assert set(label_shares(unknown_gold()["gold"]).values()) == {None}
    assert label_shares({"label_counts": {"-1": 1, "0": 0, "1": 3}}) == {"-1": 0.25, "0": 0.0, "1": 0.75}
