from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from prm.errors import ConfigError, InputError, ProtocolError
from prm.evaluation.arrays import encode_gold
from prm.evaluation.calibration.before_after import before_and_after
from prm.evaluation.calibration.cross_fitting import LABEL_METRICS
from prm.evaluation.calibration.fit import FitOptions, fit_calibration
from prm.evaluation.calibration.parameters import Parameters, calibrated
from prm.evaluation.calibration.reliability import MEASURES
from prm.types import Prediction, Trajectory
from tests.evaluation.calibration.synthetic import drawn_truth
from tests.evaluation.labelled_runs import encoded, gold_run, said

FAST = FitOptions(bootstrap=50)


def test_an_overconfident_judge_gets_its_sharpness_back_and_is_truer_on_held_out_queries() -> None:
    found = fit_calibration(*drawn_truth(600, sharpness=2.0), FitOptions(bootstrap=200))
    assert found["temperature"]["steps"] == pytest.approx(2.0, rel=0.1)
    assert found["temperature"]["final"] == pytest.approx(2.0, rel=0.25)
    held_out = found["held_out"]
    assert (found["development"]["queries"], held_out["queries"]) == (300, 300)
    for part in ("steps", "final"):
        assert held_out[part]["after"]["ece"] < held_out[part]["before"]["ece"] / 2
        assert held_out[part]["ci95"]["nll"][1] < 0
        assert held_out[part]["ci95"]["ece"][1] < 0
    assert held_out["labels"]["after"]["error_f1"] > held_out["labels"]["before"]["error_f1"]


def test_a_true_judge_keeps_its_probabilities() -> None:
    found = fit_calibration(*drawn_truth(600), FAST)
    assert found["temperature"]["steps"] == pytest.approx(1.0, rel=0.1)
    low, high = found["held_out"]["steps"]["ci95"]["nll"]
    assert abs(low) < 0.01
    assert abs(high) < 0.01


def test_the_file_names_what_it_rests_on() -> None:
    found = fit_calibration(*drawn_truth(20), FAST)
    json.dumps(found, allow_nan=False)
    assert found["schema"] == "prm.calibration/1"
    assert found["settings"] == {
        "metric": "error_f1",
        "dev_share": 0.5,
        "bootstrap": 50,
        "seed": 0,
        "resampled": "queries",
        "protocol": None,
    }
    assert found["predictions"] == {"matched": 40, "failed": 0, "missing": 0, "unmatched": 0, "superseded": 0}
    assert found["undefined"] == {}
    assert found["development"]["labels"]["ci95"] is None  # fitted there: an interval would promise too much


def test_held_out_labels_change_nothing_that_is_fitted() -> None:
    gold, predictions = drawn_truth(20)
    found = fit_calibration(gold, predictions, FAST)
    development = development_queries(gold, predictions)
    other = [g if g.identity.query_index in development else flipped(g) for g in gold]
    again = fit_calibration(other, predictions, FAST)
    assert again["temperature"] == found["temperature"]
    assert again["error_threshold"] == found["error_threshold"]
    assert again["development"] == found["development"]
    assert again["held_out"] != found["held_out"]


def flipped(gold: Trajectory) -> Trajectory:
    labels: Any = {index: None if label is None else -label for index, label in gold.step_labels.items()}
    return replace(gold, step_labels=labels, final_label=None)


def development_queries(gold: list[Trajectory], predictions: list[Prediction]) -> set[object]:
    """The queries without which fewer than ten development queries are left."""
    found = set()
    for query in range(20):
        others = [p for p in predictions if p.identity.query_index != query]
        steps = fit_calibration(gold, others, FAST)["development"]["steps"]
        if steps["n"] < 100:
            found.add(query)
    assert len(found) == 10
    return found


def test_the_order_of_records_makes_no_difference() -> None:
    gold, predictions = drawn_truth(20)
    found = fit_calibration(gold, predictions, FAST)
    again = fit_calibration(gold[::-1], predictions[::-1], FAST)
    assert again["temperature"]["steps"] == pytest.approx(found["temperature"]["steps"])
    assert again["error_threshold"] == pytest.approx(found["error_threshold"])
    assert again["held_out"]["labels"] == found["held_out"]["labels"]


def test_nothing_held_out_on_request() -> None:
    found = fit_calibration(*drawn_truth(4), FitOptions(dev_share=1.0))
    assert found["held_out"] is None
    assert found["undefined"] == {"held_out": "every query is development data"}
    assert found["development"]["queries"] == 4


def test_outcome_probabilities_alone_are_enough() -> None:
    gold, predictions = drawn_truth(20)
    found = fit_calibration(gold, [replace(p, step_probs={}) for p in predictions], FAST)
    assert found["temperature"]["steps"] is None
    assert found["error_threshold"] is None
    assert set(found["undefined"]) == {"temperature.steps", "error_threshold"}
    assert found["held_out"]["steps"] is None
    assert found["held_out"]["final"]["n"] == 20


def test_gold_without_errors_has_no_threshold_and_says_why() -> None:
    gold = [gold_run(query, 0, [1]) for query in range(4)]
    found = fit_calibration(gold, [said(g, [1], step_probs={2: (0.2, 0.0, 0.8)}) for g in gold], FAST)
    assert found["error_threshold"] is None
    assert "error_f1 is undefined" in found["undefined"]["error_threshold"]
    assert found["held_out"]["labels"]["before"] == found["held_out"]["labels"]["after"]


def test_a_temperature_at_its_bound_is_told(caplog: pytest.LogCaptureFixture) -> None:
    gold = [gold_run(query, 0, [1]) for query in range(4)]
    fit_calibration(gold, [said(g, [1], step_probs={2: (0.2, 0.0, 0.8)}) for g in gold], FAST)
    assert "temperature of steps lies at its bound, 0.05" in caplog.text


def without_probabilities(predictions: list[Prediction]) -> list[Prediction]:
    return [replace(p, step_probs={}, final_prob=None) for p in predictions]


@pytest.mark.parametrize(
    ("queries", "share", "message"),
    [
        (1, 1.0, "at least 2 development queries must have probabilities, got 1"),
        (2, 0.5, "at least 2 development queries must have probabilities, got 1"),
        (3, 0.9, "at least one held-out query must have probabilities, got 0"),
    ],
)
def test_too_few_queries_are_one_line(queries: int, share: float, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fit_calibration(*drawn_truth(queries), FitOptions(dev_share=share))
    assert "\n" not in str(caught.value)


def test_a_judge_without_probabilities_is_one_line() -> None:
    gold, predictions = drawn_truth(4)
    with pytest.raises(InputError, match="must have step_probs or final_prob, got 'none'"):
        fit_calibration(gold, without_probabilities(predictions), FAST)


def test_predictions_calibrated_already_are_refused() -> None:
    gold, predictions = drawn_truth(4)
    marked = [replace(p, extra={"calibration": {}}) for p in predictions]
    with pytest.raises(InputError, match="not calibrated ones"):
        fit_calibration(gold, marked, FAST)


def test_wrong_gold_is_one_line() -> None:
    gold, predictions = drawn_truth(4)
    with pytest.raises(InputError, match="at least one record"):
        fit_calibration([], predictions, FAST)
    with pytest.raises(InputError, match="its own key"):
        fit_calibration([*gold, gold[0]], predictions, FAST)
    with pytest.raises(InputError, match="keys of gold"):
        fit_calibration([gold_run(99, 0, [1])], predictions, FAST)
    independent = [replace(p, protocol="independent") for p in predictions]
    with pytest.raises(ProtocolError, match="error_propagation"):
        fit_calibration([replace(g, protocol="error_propagation") for g in gold], independent, FAST)


def test_the_protocol_that_the_predictions_alone_name_is_kept() -> None:
    gold, predictions = drawn_truth(4)
    named = [replace(p, protocol="independent") for p in predictions]
    assert fit_calibration(gold, named, FAST)["settings"]["protocol"] == "independent"


@pytest.mark.parametrize(
    ("options", "message"),
    [({"metric": "f2"}, "--metric"), ({"dev_share": 0.0}, "--dev-share"), ({"bootstrap": -1}, "--bootstrap")],
)
def test_options_out_of_range_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FitOptions(**options)


def test_before_and_after_by_hand() -> None:
    gold = [gold_run(0, 0, [1]), gold_run(1, 0, [-1])]
    predictions = [said(g, [1], step_probs={2: (0.1, 0.0, 0.9)}) for g in gold]
    arrays, judge = encoded(gold, predictions)
    after = calibrated(judge, Parameters(steps=2.0, final=None, error_threshold=0.25))
    found = before_and_after(arrays, judge, after, bootstrap=100, seed=0)
    # 0.9 against 0.1 becomes 0.75 against 0.25, up to the floor in the place of 0; half the steps are right.
    assert found["steps"]["before"]["ece"] == pytest.approx(0.9 - 0.5)
    assert found["steps"]["after"]["ece"] == pytest.approx(0.75 - 0.5, abs=1e-3)
    assert found["steps"]["difference"]["ece"] == pytest.approx(-0.15, abs=1e-3)
    assert found["labels"]["before"] == {"step_acc": 0.5, "first_err_acc_strict": 0.5, "error_f1": 0.0}
    assert set(found["labels"]["ci95"]) == set(LABEL_METRICS)
    assert set(found["steps"]["ci95"]) == set(MEASURES)
    assert found["final"] is None


def test_an_unchanged_judge_has_differences_of_zero_in_every_draw() -> None:
    arrays = encoded(*drawn_truth(10))
    found = before_and_after(*arrays, arrays[1], bootstrap=100, seed=0)
    for part in ("steps", "final", "labels"):
        assert set(found[part]["difference"].values()) == {0.0}
        assert all(bounds == [0.0, 0.0] for bounds in found[part]["ci95"].values())


def test_one_query_has_no_intervals() -> None:
    arrays = encoded(*drawn_truth(1))
    assert before_and_after(*arrays, arrays[1], bootstrap=100, seed=0)["labels"]["ci95"] is None


def test_without_parameters_a_judge_stays_as_it_is() -> None:
    gold, predictions = drawn_truth(3)
    arrays, judge = encoded(gold, predictions)
    same = calibrated(judge, Parameters(None, None, None))
    assert same.probs is judge.probs
    assert same.labels is judge.labels
    assert encode_gold(gold)[0].n_queries == arrays.n_queries == 3
