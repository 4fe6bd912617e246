"""The quickstart, small, with the real base model: every stage runs, and a second call goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from transformers import AutoModelForTokenClassification

from prm.data.records import read_trajectories
from tests.training.launch import run_prm

pytestmark = pytest.mark.needs_model


def test_a_small_quickstart_leaves_data_model_predictions_and_metrics(tmp_path: Path) -> None:
    command = ["quickstart", "--out", str(tmp_path), "--runs", "60", "--max_steps", "4", "--num_layers", "6"]
    command += ["--trainable_layers", "2", "--eval_strategy", "epoch", "--save_strategy", "epoch"]
    shown = run_prm(command, timeout=900).stdout
    assert "points of StepAcc against always_positive" in shown
    metrics = json.loads((tmp_path / "evaluation" / "metrics.json").read_text())
    judge = metrics["judges"]["step classifier"]
    assert judge["overall"]["coverage"] == 1.0
    assert judge["best_of_n"]["selectors"]["two_stage"]["gain"] is not None
    parts = {name: list(read_trajectories(tmp_path / "data" / f"{name}.jsonl")) for name in ("train", "test")}
    templates = {name: {run.extra["template"] for run in runs} for name, runs in parts.items()}
    assert not templates["train"] & templates["test"]
    model = AutoModelForTokenClassification.from_pretrained(tmp_path / "model")
    assert model.config.id2label == {0: "-1", 1: "0", 2: "+1"}
    before = (tmp_path / "predictions.jsonl").read_bytes()
    assert "already trained" in run_prm(command, timeout=900).stderr
    assert (tmp_path / "predictions.jsonl").read_bytes() == before
