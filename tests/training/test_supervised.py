"""Training end to end on a tiny backbone: it learns, accumulates, caches, resumes and saves what it should."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForTokenClassification

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.errors import ConfigError, ProtocolError
from prm.evaluation.step_metrics import summary
from prm.models.step_classifier import StepClassifier
from prm.training.arguments import parse_recipe
from prm.training.supervised import train_supervised
from prm.types import Trajectory
from tests.tiny import make_run


def _train(backbone: Path, data: Path, out: Path, *options: str, train: str = "train.jsonl") -> dict[str, Any]:
    arguments = [
        *("--model", str(backbone), "--train_data", str(data / train), "--output_dir", str(out)),
        *("--device", "cpu", "--tokens_per_batch", "1500", "--num_train_epochs", "1", "--learning_rate", "3e-3"),
    ]
    return train_supervised(parse_recipe(None, [*arguments, *options]))


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def _assert_same_weights(first: Path, second: Path, atol: float) -> None:
    ours, theirs = _weights(first), _weights(second)
    assert ours.keys() == theirs.keys()
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], atol=atol, rtol=0)


def test_a_tiny_model_learns_to_tell_good_from_bad(backbone: Path, data: Path, tmp_path: Path) -> None:
    validation = ("--validation_data", str(data / "validation.jsonl"))
    result = _train(backbone, data, tmp_path, *validation, "--num_train_epochs", "8", "--learning_rate", "5e-3")
    runs = list(read_trajectories(data / "validation.jsonl"))
    scores = summary(runs, StepClassifier.from_pretrained(tmp_path, device="cpu").score(runs))
    always = sum(v == 1 for run in runs for v in run.step_labels.values()) / scores["n_steps"]  # type: ignore[operator]
    assert scores["step_acc"] > always + 0.15  # type: ignore[operator]
    assert scores["step_acc"] == pytest.approx(result["eval_step_acc"])
    assert scores["first_err_acc"] == pytest.approx(result["eval_first_err_acc"])


def test_the_run_folder_holds_model_card_config_versions_seed_and_history(
    backbone: Path, data: Path, tmp_path: Path
) -> None:
    _train(backbone, data, tmp_path, "--num_layers", "2", "--seed", "7")
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["settings"]["seed"] == 7
    assert run["versions"]["torch"] == torch.__version__.split("+")[0] or run["versions"]["torch"]
    assert run["result"]["labels"]["dropped"] == {"-1": 0, "0": 0, "1": 0}
    card = (tmp_path / "README.md").read_text()
    for text in ("error_propagation", "0 → -1, 1 → 0, 2 → +1", "always +1", run["prm"]):
        assert text in card
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["prm"]["split_sha256"] in card
    plain = AutoModelForTokenClassification.from_pretrained(tmp_path)
    assert plain.config.num_hidden_layers == 2
    assert [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert not list(tmp_path.glob(".*partial*"))


def _labelled(folder: Path) -> None:
    """Four runs with 1, 8, 1 and 2 labels."""
    runs = []
    for number, labels in enumerate((1, 8, 1, 2)):
        run = make_run(400 + number, steps=8)
        kept = dict(list(run.step_labels.items())[:labels])
        unknown = dict.fromkeys(run.step_labels, None)
        runs.append(Trajectory(run.identity, run.messages, {**unknown, **kept}, None))
    write_jsonl(folder / "uneven.jsonl", (dump_trajectory(run) for run in runs))


def test_one_batch_of_four_equals_four_accumulated_batches_of_one(backbone: Path, tmp_path: Path) -> None:
    """Plain SGD without clipping, so that a wrong scale of the loss shows in the weights."""
    _labelled(tmp_path)
    sgd = ("--optim", "sgd", "--max_grad_norm", "0", "--learning_rate", "0.5", "--lr_scheduler_type", "constant")
    whole = _train(backbone, tmp_path, tmp_path / "a", *sgd, "--tokens_per_batch", "100000", train="uneven.jsonl")
    parts = _train(
        *(backbone, tmp_path, tmp_path / "b", *sgd, "--tokens_per_batch", "1"),
        *("--gradient_accumulation_steps", "4"),
        train="uneven.jsonl",
    )
    assert whole["updates"] == parts["updates"] == 1
    assert whole["train_loss"] == pytest.approx(parts["train_loss"], rel=1e-5)
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=1e-6)
    moved = (_weights(tmp_path / "a")["score.bias"]).abs().max()
    assert moved > 1e-3


def test_cached_states_give_the_weights_of_an_uncached_run(backbone: Path, data: Path, tmp_path: Path) -> None:
    frozen = ("--trainable_layers", "0", "--num_layers", "2")
    _train(backbone, data, tmp_path / "a", *frozen)
    _train(backbone, data, tmp_path / "b", *frozen, "--cache_frozen_states", "false")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=1e-5)


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    backbone: Path, data: Path, tmp_path: Path
) -> None:
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        _train(backbone, data, tmp_path / name, "--seed", seed)
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=0)
    assert not torch.equal(_weights(tmp_path / "a")["score.weight"], _weights(tmp_path / "c")["score.weight"])


def test_a_resumed_run_ends_with_the_weights_of_an_undisturbed_one(backbone: Path, data: Path, tmp_path: Path) -> None:
    options = ("--save_strategy", "steps", "--save_steps", "5", "--save_total_limit", "100", "--resume", "true")
    _train(backbone, data, tmp_path / "a", *options, "--num_train_epochs", "2")
    # What a crash after the sixth update leaves: the checkpoint of the fifth, and no model.
    broken = tmp_path / "b"
    broken.mkdir()
    shutil.copytree(tmp_path / "a" / "checkpoint-5", broken / "checkpoint-5")
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    del run["result"]
    (broken / "run.json").write_text(json.dumps(run))
    _train(backbone, data, broken, *options, "--num_train_epochs", "2")
    _assert_same_weights(tmp_path / "a", broken, atol=1e-6)


def test_the_best_checkpoint_is_kept_and_is_the_saved_model(backbone: Path, data: Path, tmp_path: Path) -> None:
    validation = ("--validation_data", str(data / "validation.jsonl"), "--num_train_epochs", "4")
    result = _train(backbone, data, tmp_path, *validation, "--save_total_limit", "1")
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    evaluations = [line["eval_step_acc"] for line in lines if "eval_step_acc" in line]
    assert result["eval_step_acc"] == max(evaluations)
    assert len(list(tmp_path.glob("checkpoint-*"))) <= 2


def test_a_complete_run_is_not_trained_again_and_another_is_refused(backbone: Path, data: Path, tmp_path: Path) -> None:
    first = _train(backbone, data, tmp_path)
    assert _train(backbone, data, tmp_path, "--resume", "true") == json.loads(json.dumps(first))
    with pytest.raises(ConfigError, match="must not hold a run already"):
        _train(backbone, data, tmp_path)
    with pytest.raises(ConfigError, match="seed: a resumed run keeps its settings"):
        _train(backbone, data, tmp_path, "--resume", "true", "--seed", "5")


def test_training_and_validation_must_not_share_a_query(backbone: Path, data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must not share a query with train_data"):
        _train(backbone, data, tmp_path, "--validation_data", str(data / "train.jsonl"))


def test_an_untrained_outcome_is_not_predicted(backbone: Path, data: Path, tmp_path: Path) -> None:
    _train(backbone, data, tmp_path, "--outcome_weight", "0")
    (prediction,) = StepClassifier.from_pretrained(tmp_path, device="cpu").score(
        list(read_trajectories(data / "one.jsonl"))
    )
    assert prediction.final_label is None
    assert prediction.final_prob is None


def test_lora_trains_saves_an_adapter_with_its_head_and_scores(backbone: Path, data: Path, tmp_path: Path) -> None:
    validation = ("--validation_data", str(data / "validation.jsonl"))
    result = _train(backbone, data, tmp_path, *validation, "--lora_rank", "4", "--num_layers", "2")
    assert (tmp_path / "adapter_model.safetensors").is_file()
    assert not (tmp_path / "model.safetensors").exists()
    runs = list(read_trajectories(data / "validation.jsonl"))
    scores = summary(runs, StepClassifier.from_pretrained(tmp_path, device="cpu").score(runs))
    assert scores["step_acc"] == pytest.approx(result["eval_step_acc"])


def test_bfloat16_checkpointing_and_early_stop_work_together(backbone: Path, data: Path, tmp_path: Path) -> None:
    result = _train(
        *(backbone, data, tmp_path, "--validation_data", str(data / "validation.jsonl"), "--bf16", "true"),
        *("--gradient_checkpointing", "true", "--early_stopping_patience", "1", "--learning_rate", "0"),
        *("--num_train_epochs", "6", "--trainable_layers", "1", "--dtype", "bfloat16"),
    )
    batches_an_epoch = result["updates"] // 2
    assert result["updates"] == 2 * batches_an_epoch  # a second equal evaluation stops it, long before six epochs


def test_cached_lower_layers_give_the_weights_of_an_uncached_run(
    backbone: Path, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    partly = ("--trainable_layers", "1", "--num_train_epochs", "2")
    with caplog.at_level("INFO"):
        _train(backbone, data, tmp_path / "a", *partly)
    assert "caching the output of 2 frozen layers" in caplog.text
    _train(backbone, data, tmp_path / "b", *partly, "--cache_frozen_states", "false")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=2e-5)


def _written(folder: Path, protocol: str) -> Path:
    runs = [dump_trajectory(run) for run in (make_run(500 + i, steps=4) for i in range(6))]
    write_jsonl(folder / "runs.jsonl", ({**run, "protocol": protocol} for run in runs))
    return folder


def test_labels_after_the_first_error_are_unknown_in_first_error_only_data(backbone: Path, tmp_path: Path) -> None:
    full = _train(backbone, _written(tmp_path, "error_propagation"), tmp_path / "a", train="runs.jsonl")
    masked = _train(backbone, _written(tmp_path, "first_error_only"), tmp_path / "b", train="runs.jsonl")
    assert sum(full["labels"]["labelled"].values()) == 24
    assert sum(masked["labels"]["labelled"].values()) < 24


def test_protocols_are_never_mixed_between_training_and_validation(backbone: Path, data: Path, tmp_path: Path) -> None:
    validation = _written(tmp_path, "independent") / "runs.jsonl"
    with pytest.raises(ProtocolError):
        _train(backbone, data, tmp_path / "run", "--validation_data", str(validation))
