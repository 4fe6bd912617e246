"""The real base model: the longest real run is trained on and scored, whole, at a small budget."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_predictions, read_trajectories
from prm.models.fetch import fetch_base_model
from tests.training.launch import run_measured

pytestmark = pytest.mark.needs_model

_BUDGET = ("--max_tokens", "1536", "--num_layers", "18", "--trainable_layers", "6", "--bf16", "true")


def test_the_longest_real_run_is_trained_on_and_scored_within_six_gibibytes(shared_data: Path, tmp_path: Path) -> None:
    fetch_base_model("smollm2-135m")
    runs = read_trajectories(shared_data / "agentprocessbench" / "hotpotqa.jsonl")
    longest = max(runs, key=lambda run: len(json.dumps(dump_trajectory(run))))
    assert len(json.dumps(dump_trajectory(longest), ensure_ascii=False)) > 230_000
    data, model, out = tmp_path / "longest.jsonl", tmp_path / "model", tmp_path / "predictions.jsonl"
    write_jsonl(data, [dump_trajectory(longest)])
    train = ["train", "supervised", "--model", "smollm2-135m", "--train_data", str(data), "--output_dir", str(model)]
    trained = run_measured([sys.executable, "-m", "prm", *train, *_BUDGET, "--num_train_epochs", "1"])
    scored = run_measured(
        [sys.executable, "-m", "prm", "score", "--model", str(model), "--data", str(data), "--out", str(out)]
    )
    labels = json.loads((model / "run.json").read_text())["result"]["labels"]
    assert (
        sum(labels["labelled"].values())
        == len(longest.steps)
        == sum(labels["kept"].values()) + sum(labels["elided"].values())
    )
    (prediction,) = read_predictions(out)
    assert sorted(prediction.step_labels) == [step.index for step in longest.steps]
    assert max(trained, scored) < 6 * 2**30
