from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from prm.errors import ConfigError, InputError, ProtocolError
from prm.evaluation import evaluate
from prm.types import Prediction, Trajectory
from tests.evaluation.labelled_runs import gold_and_predictions, gold_run, said

SCHEMA = json.loads(files("prm.evaluation").joinpath("metrics.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Two queries of two runs; one error in each query's first run.
GOLD = [
    gold_run(0, 0, [1, -1], -1),
    gold_run(0, 1, [1, 1], 1),
    gold_run(1, 0, [-1, 0], -1),
    gold_run(1, 1, [0, 1], 1),
]
GOOD = [said(g, list(g.step_labels.values()), g.final_label) for g in GOLD]
POOR = [said(g, [1, 1], 1) for g in GOLD]


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers_in(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers_in(item)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_perfect_judge_scores_one_everywhere() -> None:
    overall = evaluate(GOLD, {"good": GOOD}, bootstrap=50)["judges"]["good"]["overall"]
    for name in (
        "step_acc",
        "first_err_acc",
        "first_err_acc_strict",
        "error_f1",
        "step_exact",
        "macro_recall",
    ):
        assert overall[name] == 1.0
        assert overall["ci95"].get(name) in ([1.0, 1.0], None)
    assert overall["confusion"] == [[2, 0, 0], [0, 2, 0], [0, 0, 4]]


def test_numbers_of_a_poor_judge_by_hand() -> None:
    overall = evaluate(GOLD, {"poor": POOR}, bootstrap=50)["judges"]["poor"]["overall"]
    assert overall["step_acc"] == 4 / 8
    assert overall["step_exact"] == 1 / 4
    assert overall["first_err_acc"] == 2 / 4
    assert (overall["error_acc"], overall["clean_acc"], overall["error_f1"]) == (0.0, 1.0, 0.0)
    assert overall["recall"] == {"-1": 0.0, "0": 0.0, "1": 1.0}
    assert overall["macro_recall"] == pytest.approx(1 / 3)
    assert overall["final_acc"] == 1 / 2
    assert overall["coverage"] == 1.0


def test_gold_block_counts_labels_outcomes_and_unknowns() -> None:
    gold = [*GOLD, gold_run(2, 0, [None, 1], None, source="other")]
    block = evaluate(gold, {}, bootstrap=0)["gold"]
    assert (block["trajectories"], block["queries"], block["steps"], block["unknown_steps"]) == (5, 3, 9, 1)
    assert block["label_counts"] == {"-1": 2, "0": 2, "1": 5}
    assert block["by_source"]["other"]["label_counts"] == {"-1": 0, "0": 0, "1": 1}
    assert block["unknown_outcomes"] == 1


def test_failed_partial_missing_and_ignored_are_counted() -> None:
    predictions = [
        Prediction(GOLD[0].identity, {}, status="failed"),
        Prediction(GOLD[1].identity, {2: 1, 3: -1}, 1),  # no label for message 4, one for a user message
        said(GOLD[2], [-1, 0], -1),
        said(gold_run(8, 8, [1]), [1]),
    ]
    overall = evaluate(GOLD, {"judge": predictions}, bootstrap=0)["judges"]["judge"]["overall"]
    counts = ("failed", "partial", "missing", "ignored_labels", "unmatched_predictions")
    assert {name: overall[name] for name in counts} == dict.fromkeys(counts, 1)
    assert overall["coverage"] == 3 / 8


def test_first_errors_that_are_unknown_are_left_out_and_counted() -> None:
    gold = [gold_run(0, 0, [None, -1]), gold_run(1, 0, [1, -1])]
    overall = evaluate(gold, {"j": [said(g, [1, -1]) for g in gold]}, bootstrap=0)["judges"]["j"]["overall"]
    assert (overall["first_err_left_out"], overall["first_err_acc"], overall["step_acc"]) == (1, 1.0, 1.0)
    assert overall["ignored_labels"] == 1  # the label on the step whose truth is unknown


def test_an_empty_prediction_file_is_measured() -> None:
    overall = evaluate(GOLD, {"silent": []}, bootstrap=20)["judges"]["silent"]["overall"]
    assert (overall["first_err_acc"], overall["first_err_acc_strict"], overall["step_acc"]) == (0.5, 0.0, 0.0)
    assert (overall["missing"], overall["coverage"], overall["final_acc_strict"]) == (4, 0.0, 0.0)
    assert overall["label_share"] == {"-1": None, "0": None, "1": None}


def test_a_file_of_only_failures_is_like_an_empty_one() -> None:
    failures = [Prediction(g.identity, {}, status="failed", reason="timeout") for g in GOLD]
    measured = evaluate(GOLD, {"failed": failures, "silent": []}, bootstrap=20)["judges"]
    for name in ("step_acc", "first_err_acc", "first_err_acc_strict", "final_acc", "ci95"):
        assert measured["failed"]["overall"][name] == measured["silent"]["overall"][name]
    assert measured["failed"]["overall"]["failed"] == 4


def test_one_query_has_no_intervals_and_says_why() -> None:
    metrics = evaluate(GOLD[:2], {"good": GOOD[:2], "poor": POOR[:2]}, bootstrap=50)
    overall = metrics["judges"]["good"]["overall"]
    assert overall["ci95"]["step_acc"] is None
    assert "fewer than 2 queries" in overall["undefined"]["ci95"]
    assert all(pair["p_value"] is None for pair in metrics["pairs"])
    VALIDATOR.validate(metrics)


def test_gold_without_errors_has_no_error_accuracy_and_says_why() -> None:
    gold = [gold_run(q, 0, [1, 0], 1) for q in range(3)]
    overall = evaluate(gold, {"j": [said(g, [1, 0], 1) for g in gold]}, bootstrap=20)["judges"]["j"]["overall"]
    assert (overall["error_acc"], overall["error_f1"], overall["recall"]["-1"]) == (None, None, None)
    assert overall["undefined"]["error_acc"] == "no gold trajectory has a -1 step"
    assert overall["undefined"]["recall_-1"] == "no gold step is -1"
    assert overall["macro_recall"] == 1.0  # of the classes that occur


def test_gold_without_any_known_label_is_undefined_not_zero() -> None:
    gold = [gold_run(q, 0, [None], None) for q in range(2)]
    metrics = evaluate(gold, {"j": [said(g, [1], 1) for g in gold]}, bootstrap=20)
    overall = metrics["judges"]["j"]["overall"]
    assert [overall[n] for n in ("step_acc", "first_err_acc", "final_acc", "macro_recall")] == [None] * 4
    VALIDATOR.validate(metrics)


def test_sources_are_measured_apart() -> None:
    gold = [*GOLD[:2], *(replace(g, identity=replace(g.identity, dataset="b")) for g in GOLD[2:])]
    metrics = evaluate(gold, {"judge": [*GOOD[:2], *POOR[2:]]}, bootstrap=20)
    blocks = metrics["judges"]["judge"]["by_source"]
    assert (blocks["desk"]["step_acc"], blocks["b"]["step_acc"]) == (1.0, 1 / 4)
    assert blocks["desk"]["best_of_n"]["groups"] == 1


def test_one_source_equals_overall() -> None:
    judge = evaluate(GOLD, {"poor": POOR}, bootstrap=50)["judges"]["poor"]
    assert judge["by_source"]["desk"]["ci95"] == judge["overall"]["ci95"]


def with_generators(names: list[str]) -> list[Trajectory]:
    return [replace(g, identity=replace(g.identity, generator=n)) for g, n in zip(GOLD, names, strict=True)]


def test_best_of_n_by_generator_is_null_with_one_run_each() -> None:
    block = evaluate(with_generators(["x", "y", "x", "y"]), {"good": GOOD}, bootstrap=0)["judges"]["good"]["best_of_n"]
    assert block["by_generator"] is None
    assert block["by_generator_undefined"] == "every agent has one run per query"
    assert block["selectors"]["final"]["gain"] == 0.5


def test_best_of_n_by_generator_where_an_agent_ran_twice() -> None:
    gold = with_generators(["x", "x", "x", "y"])
    metrics = evaluate(gold, {"good": GOOD}, bootstrap=20)
    block = metrics["judges"]["good"]["best_of_n"]["by_generator"]
    assert list(block) == ["x"]
    assert (block["x"]["groups"], block["x"]["random"], block["x"]["oracle"]) == (2, 0.25, 0.5)
    VALIDATOR.validate(metrics)


def test_pairs_hold_every_two_judges_and_the_baseline() -> None:
    metrics = evaluate(GOLD, {"good": GOOD, "poor": POOR}, bootstrap=200)
    differences = {(p["a"], p["b"]): p for p in metrics["pairs"] if p["metric"] == "step_acc"}
    assert set(differences) == {("good", "poor"), ("good", "always_positive"), ("poor", "always_positive")}
    assert differences[("good", "poor")]["difference"] == 0.5
    same = differences[("poor", "always_positive")]
    assert (same["difference"], same["ci95"], same["p_value"]) == (0.0, [0.0, 0.0], 1.0)


def test_correlation_needs_three_judges_that_predict_outcomes() -> None:
    mute = [said(g, [1, 1]) for g in GOLD]
    two = evaluate(GOLD, {"good": GOOD, "poor": POOR, "mute": mute}, bootstrap=0)["correlation"]
    assert (two["pearson_r"], two["n"]) == (None, 2)
    middle = [*GOOD[:3], *POOR[3:]]
    three = evaluate(GOLD, {"good": GOOD, "poor": POOR, "middle": middle}, bootstrap=0)["correlation"]
    # StepAcc 1, 1/2, 7/8 against outcome accuracy 1, 1/2, 1: r = 0.145833 / √(0.135417 · 0.166667)
    assert three["pearson_r"] == pytest.approx(0.97073, abs=1e-5)
    assert three["n"] == 3


def test_equal_seeds_give_equal_files() -> None:
    once, again = (evaluate(GOLD, {"poor": POOR}, bootstrap=50, seed=4) for _ in range(2))
    assert json.dumps(once) == json.dumps(again)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="at least one record"):
        evaluate([], {})
    with pytest.raises(InputError, match="own key"):
        evaluate([GOLD[0], GOLD[0]], {})
    with pytest.raises(ConfigError, match="baseline's name"):
        evaluate(GOLD, {"always_positive": GOOD})
    with pytest.raises(ConfigError, match="0 or more"):
        evaluate(GOLD, {}, bootstrap=-1)
    with pytest.raises(ProtocolError):
        evaluate(
            [replace(GOLD[0], protocol="independent")],
            {"j": [replace(GOOD[0], protocol="error_propagation")]},
        )


def test_judges_of_two_protocols_are_not_compared_even_where_the_gold_names_none() -> None:
    own, other = ([replace(p, protocol=name) for p in GOOD] for name in ("independent", "error_propagation"))
    assert evaluate(GOLD, {"a": own, "b": GOOD}, bootstrap=0)["settings"]["protocol"] == "independent"
    with pytest.raises(ProtocolError, match="one protocol"):
        evaluate(GOLD, {"a": own, "b": other}, bootstrap=0)


def test_predicted_shares_of_each_class_by_hand() -> None:
    gold = [gold_run(0, 0, [-1, -1, -1, 1]), gold_run(1, 0, [1])]
    overall = evaluate(gold, {"j": [said(gold[0], [-1, 0, None, 1])]}, bootstrap=0)["judges"]["j"]["overall"]
    assert overall["confusion"] == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    # The step without a prediction is left out here; recall counts it as wrong.
    assert overall["confusion_rate"] == [[0.5, 0.5, 0.0], None, [0.0, 0.0, 1.0]]
    assert overall["recall"]["-1"] == pytest.approx(1 / 3)


def test_recall_of_each_class_has_an_interval() -> None:
    ci95 = evaluate(GOLD, {"poor": POOR}, bootstrap=50)["judges"]["poor"]["overall"]["ci95"]
    assert (ci95["recall_-1"], ci95["recall_1"]) == ([0.0, 0.0], [1.0, 1.0])


def test_every_further_analysis_is_in_the_file_and_in_its_schema() -> None:
    gold = with_generators(["x", "x", "x", "x"])
    members = {"members": ["good", "poor"], "rule": "vote"}
    metrics = evaluate(
        gold, {"good": GOOD, "poor": POOR}, independent={"good": POOR}, ensembles={"both": members}, bootstrap=20
    )
    VALIDATOR.validate(metrics)
    for name in (*metrics["gold"]["by_source"], None):
        block = metrics["gold"] if name is None else metrics["gold"]["by_source"][name]
        assert {"by_outcome", "first_error"} <= block.keys()
    judge = metrics["judges"]["good"]
    assert {"by_length", "versus_always_positive"} <= judge.keys()
    assert "by_length" in metrics["baselines"]["always_positive"]
    for block in (judge["best_of_n"], judge["by_source"]["desk"]["best_of_n"], judge["best_of_n"]["by_generator"]["x"]):
        assert {"curve", "chosen"} <= block.keys()
    assert metrics["ensembles"] == {"both": members}
    assert [entry["judge"] for entry in metrics["protocols"]] == ["good"]


@pytest.mark.parametrize(
    "where",
    [
        ("gold", "first_error", "relative_counts"),
        ("judges", "good", "by_length", 0, "min_steps"),
        ("judges", "good", "versus_always_positive", "step_acc", "p_holm"),
        ("judges", "good", "best_of_n", "curve", "groups"),
        ("judges", "good", "best_of_n", "chosen", "selector_by_fold"),
        ("protocols", 0, "same_label"),
    ],
)
def test_schema_refuses_a_further_analysis_with_a_part_missing(where: tuple[Any, ...]) -> None:
    metrics = evaluate(GOLD, {"good": GOOD}, independent={"good": POOR}, bootstrap=20)
    VALIDATOR.validate(metrics)
    part = metrics
    for key in where[:-1]:
        part = part[key]
    del part[where[-1]]
    assert not VALIDATOR.is_valid(metrics)


def test_schema_takes_a_file_of_before_the_further_analyses() -> None:
    metrics = evaluate(GOLD, {"good": GOOD}, bootstrap=20)
    for block in (metrics["gold"], metrics["gold"]["by_source"]["desk"]):
        del block["by_outcome"], block["first_error"]
    for block in (*metrics["judges"].values(), *metrics["baselines"].values()):
        block.pop("by_length")
        block.pop("versus_always_positive", None)
        del block["best_of_n"]["curve"], block["best_of_n"]["chosen"], block["overall"]["confusion_rate"]
    del metrics["ensembles"], metrics["protocols"]
    VALIDATOR.validate(metrics)


@settings(max_examples=40, deadline=None)
@given(gold_and_predictions())
def test_any_input_gives_a_valid_file_without_nan(drawn: tuple[list, list]) -> None:  # type: ignore[type-arg]
    gold, predictions = drawn
    judges = {"judge": predictions, "other": predictions[::-1]}
    metrics = evaluate(gold, judges, independent={"judge": predictions}, bootstrap=20)
    VALIDATOR.validate(metrics)
    assert all(math.isfinite(number) for number in numbers_in(metrics))


def test_schema_itself_is_valid_and_refuses_a_file_with_a_metric_missing() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    metrics = evaluate(GOLD, {"good": GOOD}, bootstrap=0)
    del metrics["judges"]["good"]["overall"]["first_err_acc_strict"]
    assert not VALIDATOR.is_valid(metrics)
