"""The benchmark's own numbers, from its released labels and predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prm.data.records import parse_prediction, read_predictions
from prm.errors import RecordError
from prm.evaluation import evaluate
from prm.evaluation.sources import load_gold, load_predictions
from prm.evaluation.step_metrics import summary

WITHIN = 0.0001  # 0.01 points


@pytest.fixture(scope="module")
def bench(shared_data: Path) -> Path:
    return shared_data / "agentprocessbench"


@pytest.fixture(scope="module")
def metrics(bench: Path) -> dict[str, Any]:
    folders = sorted((bench / "predictions").iterdir())
    judges = {folder.name: load_predictions(folder) for folder in folders}
    return evaluate(load_gold([bench / "labels"]), judges, bootstrap=200)


def test_every_published_cell(bench: Path, metrics: dict[str, Any]) -> None:
    published = json.loads((bench / "published_scores.json").read_text())["judges"]
    assert set(published) == set(metrics["judges"])
    checked = 0
    for name, cells in published.items():
        judge = metrics["judges"][name]
        for subset, scores in cells.items():
            block = judge["overall"] if subset == "all" else judge["by_source"][subset]
            for metric, percent in scores.items():
                assert block[metric] == pytest.approx(percent / 100, abs=WITHIN), (name, subset, metric)
                checked += 1
    assert checked == 12 * (5 * 2 + 1)


def test_published_correlation(bench: Path, metrics: dict[str, Any]) -> None:
    published = json.loads((bench / "published_scores.json").read_text())
    expected = published["pearson_step_acc_vs_final_acc_over_these_12"]
    assert metrics["correlation"]["pearson_r"] == pytest.approx(expected, abs=1e-4)
    assert metrics["correlation"]["n"] == 12


def test_always_positive_line(metrics: dict[str, Any]) -> None:
    block = metrics["baselines"]["always_positive"]
    assert block["overall"]["step_acc"] == pytest.approx(0.628, abs=0.0005)
    assert block["by_source"]["hotpotqa"]["step_acc"] == pytest.approx(0.680, abs=0.0005)
    assert block["by_source"]["hotpotqa"]["first_err_acc"] == pytest.approx(0.584, abs=WITHIN)


def test_gold_counts(metrics: dict[str, Any]) -> None:
    gold = metrics["gold"]
    assert (gold["trajectories"], gold["steps"], gold["queries"]) == (1000, 8509, 200)
    assert set(gold["by_source"]) == {"hotpotqa", "gaia_dev", "bfcl", "tau2"}
    assert gold["by_source"]["hotpotqa"]["label_counts"] == {"-1": 179, "0": 56, "1": 499}


def test_five_agents_ran_once_each_so_there_is_no_choice_within_an_agent(metrics: dict[str, Any]) -> None:
    block = metrics["judges"]["GPT-5.2"]["best_of_n"]
    assert (block["n"], block["groups"], block["by_generator"]) == (5, 200, None)
    assert block["by_generator_undefined"] == "every agent has one run per query"


def test_failed_records_are_counted(metrics: dict[str, Any]) -> None:
    overall = metrics["judges"]["DeepSeek-V3.2-Thinking"]["overall"]
    assert (overall["failed"], overall["missing"]) == (1, 0)


def test_empty_prediction_file_on_hotpotqa(bench: Path) -> None:
    result = summary(load_gold([bench / "labels" / "hotpotqa.jsonl"]), [])
    assert result["first_err_acc"] == pytest.approx(0.584)
    assert result["first_err_acc_strict"] == 0.0


def test_labels_as_text_are_refused(bench: Path) -> None:
    file = next((bench / "predictions" / "GPT-5.2").glob("hotpotqa*"))
    record = json.loads(file.read_text().splitlines()[0])
    record["step_labels"] = dict.fromkeys(record["step_labels"], "+1")
    with pytest.raises(RecordError, match="must be -1, 0 or 1, got '\\+1'"):
        parse_prediction(record, "predictions.jsonl:1")


def test_an_extra_error_on_a_user_message_costs_the_published_score_only(bench: Path) -> None:
    gold = load_gold([bench / "labels" / "hotpotqa.jsonl"])
    file = next((bench / "predictions" / "GPT-5.2").glob("hotpotqa*"))
    predictions = list(read_predictions(file))
    extra = [replace(p, step_labels={**p.step_labels, 1: -1}) for p in predictions]
    before, after = summary(gold, predictions), summary(gold, extra)
    assert after["first_err_acc"] == 0.0
    assert after["first_err_acc_strict"] == before["first_err_acc_strict"]
    assert after["step_acc"] == before["step_acc"]


def test_full_trajectories_and_label_only_records_agree(bench: Path) -> None:
    predictions = load_predictions(next((bench / "predictions" / "GPT-5.2").glob("hotpotqa*")))
    full, bare = load_gold([bench / "hotpotqa.jsonl"]), load_gold([bench / "labels" / "hotpotqa.jsonl"])
    assert summary(full, predictions) == summary(bare, predictions)
    assert {t.source for t in full} == {t.source for t in bare} == {"hotpotqa"}
