"""`prm train grpo --policy classifier` on a tiny backbone: it learns, resumes, and says what it did."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.errors import ConfigError, ModelError, ProtocolError
from prm.evaluation.step_metrics import summary
from prm.models.step_classifier import StepClassifier
from prm.training.arguments import parse_recipe
from prm.training.classifier_grpo import run as grpo_run
from prm.training.classifier_grpo.dry_run import describe
from prm.training.classifier_grpo.options import parse_classifier_grpo_recipe
from prm.training.supervised import train_supervised
from tests.tiny import make_run
from tests.training.classifier_grpo.toys import arguments, history, train

SGD = ("--optim", "sgd", "--max_grad_norm", "0", "--learning_rate", "0.5", "--lr_scheduler_type", "constant")


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def _assert_same_weights(first: Path, second: Path, atol: float) -> None:
    ours, theirs = _weights(first), _weights(second)
    assert ours.keys() == theirs.keys()
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], atol=atol, rtol=0)


@pytest.mark.parametrize("how", [("--gradient", "exact"), ("--advantages", "run"), ("--advantages", "step")])
def test_a_policy_learns_to_tell_good_from_bad(how: tuple[str, ...], start: Path, data: Path, tmp_path: Path) -> None:
    """From a start that says +1 everywhere; the entropy bonus keeps the other labels within reach."""
    longer = ("--max_steps", "80", "--eval_steps", "20", "--save_steps", "20", "--learning_rate", "5e-3")
    result = train(start, data, tmp_path, *longer, *how, "--entropy_weight", "0.3")
    assert result["start"]["eval_share_pos"] == 1.0
    assert result["start"]["eval_step_acc"] == result["eval_always_positive_step_acc"]
    assert result["eval_step_acc"] > result["eval_always_positive_step_acc"] + 0.25
    assert result["eval_macro_recall"] > 0.8


def test_the_run_folder_is_a_classifier_with_the_metrics_that_were_reported(
    start: Path, data: Path, tmp_path: Path
) -> None:
    result = train(start, data, tmp_path, "--beta", "0.1", "--first_error_weight", "0.5", "--entropy_weight", "0.01")
    runs = list(read_trajectories(data / "validation.jsonl"))
    classifier = StepClassifier.from_pretrained(tmp_path, device="cpu")
    assert summary(runs, classifier.score(runs))["step_acc"] == pytest.approx(result["eval_step_acc"])
    assert classifier.info.encoding == StepClassifier.from_pretrained(start, device="cpu").info.encoding
    assert (tmp_path / "curves.png").is_file()
    card = (tmp_path / "README.md").read_text()
    for text in ("its start", "always +1", "0.5 × first error found", str(start), classifier.info.split_sha256 or ""):
        assert text in card


def test_start_and_label_shares_are_logged_from_step_0(start: Path, data: Path, tmp_path: Path) -> None:
    result = train(start, data, tmp_path, "--beta", "0.1")
    entries = history(tmp_path)
    held_out = {entry["step"]: entry for entry in entries if "eval_step_acc" in entry}
    assert sorted(held_out) == [0, 2, 4]
    runs = list(read_trajectories(data / "validation.jsonl"))
    before = summary(runs, StepClassifier.from_pretrained(start, device="cpu").score(runs))
    for name in ("step_acc", "first_err_acc", "macro_recall", "share_neg", "share_zero", "share_pos"):
        assert held_out[0][f"eval_{name}"] == pytest.approx(before[name])
        assert result["start"][f"eval_{name}"] == pytest.approx(before[name])
    assert all("eval_always_positive_step_acc" in entry for entry in held_out.values())
    drawn = {entry["step"]: entry for entry in entries if "sampled/step_acc" in entry}
    assert sorted(drawn) == [1, 2, 3, 4]
    for entry in drawn.values():
        assert sum(entry[f"sampled/share_{word}"] for word in ("neg", "zero", "pos")) == pytest.approx(1.0)
        assert 0 <= entry["dead_groups"] <= 1
    assert drawn[1]["kl"] == pytest.approx(0.0, abs=1e-5)  # the first update's policy is the start
    assert drawn[4]["kl"] > 0


@pytest.mark.parametrize("reuse", [(), ("--num_iterations", "2")], ids=["fresh", "reused"])
def test_a_resumed_run_ends_with_the_weights_of_an_undisturbed_one(
    reuse: tuple[str, ...], start: Path, data: Path, tmp_path: Path
) -> None:
    options = (*reuse, "--max_steps", "8", "--beta", "0.05", "--load_best_model_at_end", "false")
    options += ("--save_total_limit", "100", "--resume", "true")
    whole = train(start, data, tmp_path / "a", *options)
    broken = tmp_path / "b"
    broken.mkdir()
    shutil.copytree(tmp_path / "a" / "checkpoint-4", broken / "checkpoint-4")
    shutil.copy(tmp_path / "a" / "history.jsonl", broken)
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    del run["result"]
    (broken / "run.json").write_text(json.dumps(run))
    resumed = train(start, data, broken, *options)
    _assert_same_weights(tmp_path / "a", broken, atol=1e-7)
    assert resumed["start"] == whole["start"]
    assert [e.get("sampled/step_acc") for e in history(broken)] == [
        e.get("sampled/step_acc") for e in history(tmp_path / "a")
    ]
    assert train(start, data, broken, *options) == json.loads(json.dumps(resumed))
    with pytest.raises(ConfigError, match="must not hold a run already"):
        train(start, data, broken, *reuse)


@pytest.mark.parametrize("gradient", ["sampled", "exact"])
def test_one_batch_equals_accumulated_batches(gradient: str, start: Path, data: Path, tmp_path: Path) -> None:
    """Plain SGD without clipping, so that a wrong scale of the loss shows in the weights."""
    how = (*SGD, "--gradient", gradient, "--first_error_weight", "1", "--num_train_epochs", "1", "--max_steps", "-1")
    how += ("--save_strategy", "no", "--load_best_model_at_end", "false", "--beta", "0.1")
    nine = ("--train_data", str(data / "nine.jsonl"))
    whole = train(start, data, tmp_path / "a", *how, *nine, "--tokens_per_batch", "100000")
    parts = train(
        *(start, data, tmp_path / "b", *how, *nine, "--tokens_per_batch", "1"), "--gradient_accumulation_steps", "20"
    )
    assert whole["updates"] == parts["updates"]
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=2e-6)
    moved = (_weights(tmp_path / "a")["score.weight"] - _weights(start)["score.weight"]).abs().max()
    assert moved > 1e-4


def test_reused_labels_are_clipped_and_counted(start: Path, data: Path, tmp_path: Path) -> None:
    reuse = ("--num_iterations", "4", "--save_steps", "4", "--eval_steps", "4", "--learning_rate", "2e-2")
    train(start, data, tmp_path, *reuse)
    clipped = [entry["clipped"] for entry in history(tmp_path) if "clipped" in entry]
    assert clipped[0] == 0.0  # the policy that draws
    assert max(clipped[1:]) > 0.0


def test_a_frozen_backbone_is_read_once_and_its_weights_stay(start: Path, data: Path, tmp_path: Path) -> None:
    frozen = ("--trainable_layers", "0")
    train(start, data, tmp_path / "a", *frozen)
    train(start, data, tmp_path / "b", *frozen, "--cache_frozen_states", "false")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=1e-5)
    before, after = _weights(start), _weights(tmp_path / "a")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"score.weight", "score.bias"}


def test_a_fitted_head_goes_on_from_states_that_are_kept_on_disk(backbone: Path, data: Path, tmp_path: Path) -> None:
    begun, states = tmp_path / "start", tmp_path / "states"
    options = ["--model", str(backbone), "--train_data", str(data / "nine.jsonl"), "--output_dir", str(begun)]
    fitted = ("--trainable_layers", "0", "--head", "mixed", "--head_reads", "site:1", "--head_l2", "0.1")
    train_supervised(parse_recipe(None, [*options, *fitted, "--use_cpu", "true", "--save_strategy", "no"]))
    frozen = ("--trainable_layers", "0")
    train(begun, data, tmp_path / "a", *frozen)
    train(begun, data, tmp_path / "b", *frozen, "--states_cache", str(states))
    assert list(states.glob("*.safetensors"))
    again = train(begun, data, tmp_path / "c", *frozen, "--states_cache", str(states))
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=1e-5)
    _assert_same_weights(tmp_path / "b", tmp_path / "c", atol=0)
    runs = list(read_trajectories(data / "validation.jsonl"))
    scores = summary(runs, StepClassifier.from_pretrained(tmp_path / "c", device="cpu").score(runs))
    assert scores["step_acc"] == pytest.approx(again["eval_step_acc"])


def test_states_are_kept_for_a_frozen_backbone_only(start: Path, data: Path, tmp_path: Path) -> None:
    cache = ("--states_cache", str(tmp_path / "states"))
    with pytest.raises(ConfigError, match="states_cache: keeps what a frozen backbone gives"):
        train(start, data, tmp_path / "a", "--trainable_layers", "1", *cache)
    with pytest.raises(ConfigError, match="states_cache: needs a start whose backbone was frozen"):
        train(start, data, tmp_path / "b", "--trainable_layers", "0", *cache)


def test_cached_lower_layers_give_the_weights_of_an_uncached_run(start: Path, data: Path, tmp_path: Path) -> None:
    partly = ("--trainable_layers", "1")
    train(start, data, tmp_path / "a", *partly)
    train(start, data, tmp_path / "b", *partly, "--cache_frozen_states", "false")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=2e-5)


def test_a_new_adapter_is_trained_on_a_full_start(start: Path, data: Path, tmp_path: Path) -> None:
    result = train(start, data, tmp_path, "--lora_rank", "4")
    runs = list(read_trajectories(data / "validation.jsonl"))
    scores = summary(runs, StepClassifier.from_pretrained(tmp_path, device="cpu").score(runs))
    assert scores["step_acc"] == pytest.approx(result["eval_step_acc"])


def test_an_adapter_goes_on_as_the_same_adapter(backbone: Path, data: Path, tmp_path: Path) -> None:
    begun = tmp_path / "start"
    options = ["--model", str(backbone), "--train_data", str(data / "nine.jsonl"), "--output_dir", str(begun)]
    train_supervised(parse_recipe(None, [*options, "--device", "cpu", "--num_train_epochs", "1", "--lora_rank", "2"]))
    result = train(begun, data, tmp_path / "run")
    before, after = (load_file(f / "adapter_model.safetensors") for f in (begun, tmp_path / "run"))
    assert before.keys() == after.keys()
    assert all(not torch.equal(before[name], after[name]) for name in before if "lora_B" in name or "score" in name)
    runs = list(read_trajectories(data / "validation.jsonl"))
    scores = summary(runs, StepClassifier.from_pretrained(tmp_path / "run", device="cpu").score(runs))
    assert scores["step_acc"] == pytest.approx(result["eval_step_acc"])
    with pytest.raises(ConfigError, match="lora_rank: must be left out where the start is an adapter"):
        train(begun, data, tmp_path / "other", "--lora_rank", "4")


def test_a_plain_backbone_and_another_protocol_are_no_start(
    backbone: Path, start: Path, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="must be a step classifier trained by prm"):
        train(backbone, data, tmp_path / "a")
    records = [dump_trajectory(make_run(500 + i)) for i in range(3)]
    write_jsonl(tmp_path / "runs.jsonl", ({**record, "protocol": "independent"} for record in records))
    files = ("--train_data", str(tmp_path / "runs.jsonl"), "--validation_data", str(tmp_path / "runs2.jsonl"))
    others = [dump_trajectory(make_run(600 + i)) for i in range(3)]
    write_jsonl(tmp_path / "runs2.jsonl", ({**record, "protocol": "independent"} for record in others))
    with pytest.raises(ProtocolError, match="must be that of the start's training labels"):
        train(start, data, tmp_path / "b", *files)


def test_training_and_validation_must_not_share_a_query(start: Path, data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must not share a query with train_data"):
        train(start, data, tmp_path, "--validation_data", str(data / "train.jsonl"))


def test_a_dry_run_names_rows_labels_and_the_trivial_line(start: Path, data: Path, tmp_path: Path) -> None:
    options = parse_classifier_grpo_recipe(None, arguments(start, data, tmp_path / "run"))
    text = "\n".join(describe(options))
    for part in ("60 runs", "always +1 is right at", "16 labellings of each row", "4 in all"):
        assert part in text
    assert not (tmp_path / "run").exists()


def test_the_command_line_chooses_the_policy(
    start: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(grpo_run, "train_classifier_grpo", lambda options: seen.append(options) or {})
    words = ["train", "grpo", "--policy", "classifier", *arguments(start, data, tmp_path / "run")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "step classifier ready" in result.output
    recipe = tmp_path / "r.yaml"
    lines = (f"model: {start}", f"train_data: [{data / 'train.jsonl'}]", "stage: grpo", "policy: classifier")
    recipe.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert CliRunner().invoke(app, ["train", "grpo", "--config", str(recipe), "--use_cpu", "true"]).exit_code == 0
    assert [options.data.policy for options in seen] == ["classifier", "classifier"]
    other = CliRunner().invoke(app, ["train", "grpo", "--policy", "critic"])
    assert isinstance(other.exception, ConfigError)
    assert "policy: must be judge or classifier, got" in str(other.exception)
    assert "--num_iterations" in CliRunner().invoke(app, ["train", "grpo", "--policy", "classifier", "--help"]).output
