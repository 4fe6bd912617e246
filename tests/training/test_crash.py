"""SIGKILL in the middle of training and of scoring: the same command ends as an undisturbed one does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from tests.tiny import make_run
from tests.training.launch import kill_prm_when, run_prm

pytestmark = pytest.mark.slow


def _training(backbone: Path, data: Path, out: Path) -> list[str]:
    return [
        *("train", "supervised", "--model", str(backbone), "--train_data", str(data / "train.jsonl")),
        *("--validation_data", str(data / "validation.jsonl"), "--output_dir", str(out), "--resume", "true"),
        *("--device", "cpu", "--tokens_per_batch", "1500", "--num_train_epochs", "6", "--learning_rate", "3e-3"),
        *("--eval_strategy", "steps", "--eval_steps", "3", "--save_strategy", "steps", "--save_steps", "3"),
        *(
            "--logging_steps",
            "1",
        ),
    ]


def test_training_killed_twice_ends_with_the_same_weights(backbone: Path, data: Path, tmp_path: Path) -> None:
    run_prm(_training(backbone, data, tmp_path / "whole"))
    broken = tmp_path / "broken"
    for step in (5, 14):
        kill_prm_when(_training(backbone, data, broken), lambda step=step: _logged_step(broken) >= step)  # type: ignore[misc]
        assert not (broken / "model.safetensors").exists()
        assert all((folder / "trainer_state.json").is_file() for folder in broken.glob("checkpoint-*"))
    run_prm(_training(backbone, data, broken))
    first, second = (load_file(folder / "model.safetensors") for folder in (tmp_path / "whole", broken))
    for name in first:
        torch.testing.assert_close(first[name], second[name], atol=1e-6, rtol=0)
    assert _history(tmp_path / "whole") == _history(broken)


def _logged_step(folder: Path) -> int:
    path = folder / "history.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return max((json.loads(line)["step"] for line in lines if line.endswith("}")), default=0)


def _history(folder: Path) -> list[tuple[int, float]]:
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    return [(line["step"], round(line["loss"], 4)) for line in lines if "loss" in line]


def test_scoring_killed_in_the_middle_ends_with_the_same_bytes(backbone: Path, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    run_prm([*_training(backbone, data, model), "--num_train_epochs", "1"])
    many = tmp_path / "many.jsonl"
    write_jsonl(many, (dump_trajectory(make_run(1000 + i, steps=6)) for i in range(128 * 9 + 5)))
    command = ["score", "--model", str(model), "--data", str(many), "--device", "cpu", "--out"]
    run_prm([*command, str(tmp_path / "whole.jsonl")])
    out, partial = tmp_path / "broken.jsonl", tmp_path / ".broken.jsonl.partial"
    kill_prm_when([*command, str(out)], lambda: partial.exists() and partial.read_bytes().count(b"\n") >= 2 * 128)
    assert not out.exists()
    done = partial.read_bytes()
    partial.write_bytes(done + b'{"half a li')  # what a kill in the middle of a write leaves
    run_prm([*command, str(out)])
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not partial.exists()
