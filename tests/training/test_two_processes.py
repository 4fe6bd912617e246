"""`accelerate launch` with two CPU processes: the metrics, the weights and the scores of one process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from prm.data.records import read_trajectories
from prm.models.step_classifier import StepClassifier
from tests.training.launch import launch_prm, run_prm

pytestmark = pytest.mark.slow


def _training(backbone: Path, train: Path, validation: Path, out: Path) -> list[str]:
    return [
        *("train", "supervised", "--model", str(backbone), "--train_data", str(train)),
        *("--validation_data", str(validation), "--output_dir", str(out), "--device", "cpu"),
        *("--tokens_per_batch", "900", "--num_train_epochs", "2", "--learning_rate", "3e-3"),
    ]


def _result(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "run.json").read_text())["result"]
    return {name: value for name, value in result.items() if name.startswith("eval_") or name == "updates"}


@pytest.mark.parametrize(
    ("train", "validation"), [("train", "nine"), ("nine", "validation"), ("one", "nine"), ("nine", "one")]
)
def test_two_processes_train_and_measure_as_one_with_twice_the_accumulation(
    train: str, validation: str, backbone: Path, data: Path, tmp_path: Path
) -> None:
    """9 rows do not divide by two, and of 1 row one rank gets none."""
    files = data / f"{train}.jsonl", data / f"{validation}.jsonl"
    run_prm([*_training(backbone, *files, tmp_path / "one"), "--gradient_accumulation_steps", "2"])
    launch_prm(_training(backbone, *files, tmp_path / "two"), "cpu.yaml")
    one, two = _result(tmp_path / "one"), _result(tmp_path / "two")
    assert one == pytest.approx(two, abs=1e-5)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    for name in first:
        torch.testing.assert_close(first[name], second[name], atol=2e-5, rtol=0)


@pytest.mark.parametrize("rows", ["nine", "one"])
def test_two_processes_score_what_one_scores(rows: str, backbone: Path, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    run_prm(_training(backbone, data / "train.jsonl", data / "nine.jsonl", model))
    command = ["score", "--model", str(model), "--data", str(data / f"{rows}.jsonl"), "--device", "cpu"]
    command += ["--tokens_per_batch".replace("_", "-"), "900", "--out"]
    run_prm([*command, str(tmp_path / "one.jsonl")])
    launch_prm([*command, str(tmp_path / "two.jsonl")], "cpu.yaml")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_fsdp_trains_saves_and_its_checkpoint_scores(backbone: Path, data: Path, tmp_path: Path) -> None:
    command = _training(backbone, data / "train.jsonl", data / "nine.jsonl", tmp_path)
    launch_prm(command, "fsdp_cpu.yaml", "tests.training.fsdp_on_cpu")
    result = json.loads((tmp_path / "run.json").read_text())["result"]
    assert (result["processes"], result["distributed_type"]) == (2, "FSDP")
    runs = list(read_trajectories(data / "nine.jsonl"))
    predictions = StepClassifier.from_pretrained(tmp_path, device="cpu").score(runs)
    hits = [p.step_labels[i] == v for run, p in zip(runs, predictions, strict=True) for i, v in run.step_labels.items()]
    assert sum(hits) / len(hits) == pytest.approx(_result(tmp_path)["eval_step_acc"])
