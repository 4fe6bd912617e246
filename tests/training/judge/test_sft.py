"""SFT of a judge on a tiny backbone: the loss is where it should be, nothing is cut, and what is saved is what was trained."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.errors import ConfigError, InputError
from prm.evaluation.step_metrics import summary
from prm.models.judge.answer import compact_form
from prm.models.judge.calibration import Calibration
from prm.models.judge.local_judge import LocalJudge
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.training.judge import sft as judge_sft
from prm.training.judge.examples import AnswerTargets, judge_rows
from prm.training.judge.options import parse_judge_recipe
from prm.training.judge.prompts import build_prompts
from prm.training.judge.sft import train_judge
from prm.training.judge.sft_trainer import answer_cross_entropy
from prm.types import Trajectory
from tests.tiny import make_run
from tests.training.judge.judge_runs import save_judge_backbone

BUDGET = 2000


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_judge_backbone(tmp_path_factory.mktemp("judge"))


def _write(path: Path, runs: Sequence[Trajectory]) -> Path:
    write_jsonl(path, (dump_trajectory(run) for run in runs))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    _write(folder / "train.jsonl", [make_run(i, steps=1 + i % 3) for i in range(6)])
    _write(folder / "validation.jsonl", [make_run(i, steps=1 + i % 3) for i in range(100, 104)])
    _write(folder / "long.jsonl", [make_run(700, steps=14, words=1)])
    return folder


def _train(judge: Path, data: Path, out: Path, *options: str) -> dict[str, Any]:
    arguments = [
        *("--model", str(judge), "--train_data", str(data), "--output_dir", str(out), "--use_cpu", "true"),
        *("--max_prompt_tokens", str(BUDGET), "--num_train_epochs", "1", "--learning_rate", "5e-3"),
        *("--gradient_accumulation_steps", "2"),
    ]
    return train_judge(parse_judge_recipe(None, [*arguments, *options]))


_CONSTANT = ("--lr_scheduler_type", "constant", "--optim", "sgd", "--max_grad_norm", "0")


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def _assert_same_weights(first: Path, second: Path, atol: float) -> None:
    ours, theirs = _weights(first), _weights(second)
    assert ours.keys() == theirs.keys()
    for name in ours:
        torch.testing.assert_close(ours[name], theirs[name], atol=atol, rtol=0)


def test_the_weighted_loss_by_hand() -> None:
    # Two tokens of two classes with p(label) = ½ and ¼, weights 3 and 1, four trained tokens in the global batch.
    logits = torch.tensor([[[0.0, 0.0], [0.0, torch.log(torch.tensor(3.0))]]])
    labels = torch.tensor([[0, 0]])
    weights = torch.tensor([[3.0, 1.0]])
    expected = (3 * torch.log(torch.tensor(2.0)) + torch.log(torch.tensor(4.0))) / 4
    torch.testing.assert_close(answer_cross_entropy(logits, labels, weights, 4), expected)
    masked = answer_cross_entropy(logits, torch.tensor([[0, -100]]), weights, 4)
    torch.testing.assert_close(masked, 3 * torch.log(torch.tensor(2.0)) / 4)


def _plain_losses(
    judge: Path, runs: Sequence[Trajectory], temperature: float = 1.0, **targets: Any
) -> tuple[torch.Tensor, int]:
    """(Σ w · −log p, trained tokens) of the untrained model, each run alone, from the logits of every token.

    Verdicts alone are a choice among three: p is over these.
    """
    tokenizer = AutoTokenizer.from_pretrained(judge)
    model = AutoModelForCausalLM.from_pretrained(judge)
    config = JudgePromptConfig(max_prompt_tokens=BUDGET)
    prompted = build_prompts(runs, JudgePromptBuilder(tokenizer, config))
    rows, _ = judge_rows(prompted, config, tokenizer, AnswerTargets(**targets))
    total = torch.zeros(())
    others = torch.ones(model.config.vocab_size, dtype=torch.bool)
    others[list(compact_form(tokenizer).verdict_ids)] = False
    for row in rows:
        with torch.no_grad():
            logits = model(torch.tensor([[*row.prompt_ids, *row.answer_ids]])).logits[0]
        if targets["loss_on"] == "verdicts":
            logits[:, others] = -torch.inf
            logits = logits / temperature
        after = logits[len(row.prompt_ids) - 1 : -1].log_softmax(-1).clamp(min=-1e4)
        taken = after.gather(1, torch.tensor(row.answer_ids)[:, None])[:, 0]
        total = total - (taken * torch.tensor(row.weights)).sum()
    return total, sum(row.trained for row in rows)


@pytest.mark.parametrize(("loss_on", "temperature"), [("answer", 1.0), ("verdicts", 1.0), ("verdicts", 10.0)])
def test_the_loss_is_that_of_the_answers_alone_however_long_the_prompt(
    judge: Path, data: Path, tmp_path: Path, loss_on: Any, temperature: float
) -> None:
    """TRL would cut at 1,024 tokens from the right: then nothing of the longest run's answer would be left."""
    runs = [make_run(1, steps=1), make_run(700, steps=14, words=1)]
    tokenizer = AutoTokenizer.from_pretrained(judge)
    prompt = JudgePromptBuilder(tokenizer, JudgePromptConfig(max_prompt_tokens=BUDGET)).build(runs[1])
    assert len(prompt.input_ids) > 1024
    total, trained = _plain_losses(
        judge, runs, temperature, loss_on=loss_on, class_weights=(2.0, 1.0, 0.5), outcome_weight=0.7
    )
    result = _train(
        *(judge, _write(tmp_path / "runs.jsonl", runs), tmp_path / "out", "--per_device_train_batch_size", "2"),
        *("--gradient_accumulation_steps", "1", "--learning_rate", "0", "--loss_on", loss_on),
        *("--class_weights", "2,1,0.5", "--outcome_weight", "0.7", "--verdict_temperature", str(temperature)),
    )
    assert result["updates"] == 1
    assert LocalJudge.from_pretrained(tmp_path / "out", device="cpu").info.calibration == Calibration(temperature)
    assert result["train_loss"] == pytest.approx(float(total) / trained, rel=1e-4)


def test_one_batch_of_two_equals_two_accumulated_batches_of_one(judge: Path, tmp_path: Path) -> None:
    runs = _write(tmp_path / "runs.jsonl", [make_run(1, steps=1), make_run(2, steps=9)])
    sgd = (*_CONSTANT, "--learning_rate", "0.5")
    _train(judge, runs, tmp_path / "a", *sgd, "--per_device_train_batch_size", "2", "--gradient_accumulation_steps=1")
    _train(judge, runs, tmp_path / "b", *sgd, "--per_device_train_batch_size", "1", "--gradient_accumulation_steps=2")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=1e-5)
    before = _weights(judge)
    assert max(float((value - before[name]).abs().max()) for name, value in _weights(tmp_path / "a").items()) > 1e-3


@pytest.mark.parametrize("loss_on", ["answer", "verdicts"])
def test_cached_lower_layers_give_the_weights_of_an_uncached_run(
    judge: Path, data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, loss_on: str
) -> None:
    partly = ("--trainable_layers", "1", "--num_train_epochs", "2", "--loss_on", loss_on)
    sizes = ("--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "1")
    with caplog.at_level("INFO"):
        _train(judge, data / "train.jsonl", tmp_path / "a", *partly, *sizes)
    assert "caching the output of 1 frozen layers" in caplog.text
    _train(judge, data / "train.jsonl", tmp_path / "b", *partly, *sizes, "--cache_frozen_states", "false")
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=2e-5)


@pytest.mark.parametrize("cached", ["true", "false"])
def test_a_calibrated_judge_begins_at_equal_mean_logits(judge: Path, data: Path, tmp_path: Path, cached: str) -> None:
    partly = ("--trainable_layers", "1", "--num_train_epochs", "2", "--loss_on", "verdicts", "--learning_rate", "0")
    how = ("--calibrate_verdicts", "true", "--verdict_temperature", "3", "--cache_frozen_states", cached)
    _train(judge, data / "train.jsonl", tmp_path / "out", *partly, *how)
    trained = LocalJudge.from_pretrained(tmp_path / "out", device="cpu")
    calibration = trained.info.calibration
    assert calibration.temperature == 3
    prompted = build_prompts([make_run(i, steps=1 + i % 3) for i in range(6)], trained._builder)
    rows, _ = judge_rows(prompted, trained.info.prompt, trained.tokenizer, AnswerTargets(loss_on="verdicts"))
    ids = list(compact_form(trained.tokenizer).verdict_ids)
    with torch.no_grad():
        found = [trained.model(torch.tensor([row.input_ids])).logits[0, row.answer_positions][:, ids] for row in rows]
    torch.testing.assert_close(calibration.of(torch.cat(found)).mean(0), torch.zeros(3), atol=1e-4, rtol=0)


def test_a_tiny_judge_learns_to_tell_good_from_bad(judge: Path, tmp_path: Path) -> None:
    small = save_judge_backbone(tmp_path / "small", layers=1)
    training = _write(tmp_path / "train.jsonl", [make_run(i, steps=1, words=16) for i in range(60)])
    held_out = [make_run(i, steps=1, words=16) for i in range(100, 140)]
    _train(
        *(small, training, tmp_path / "out", "--num_train_epochs", "8", "--learning_rate", "2e-2"),
        *("--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "1", "--loss_on", "verdicts"),
        *("--save_strategy", "no"),
    )
    scores = summary(held_out, list(LocalJudge.from_pretrained(tmp_path / "out", device="cpu").judge(held_out)))
    always = sum(label == 1 for run in held_out for label in run.step_labels.values()) / len(held_out)
    assert scores["step_acc"] > always + 0.2  # type: ignore[operator]


def test_the_run_folder_holds_judge_card_config_versions_and_history(judge: Path, data: Path, tmp_path: Path) -> None:
    result = _train(
        *(judge, data / "train.jsonl", tmp_path, "--validation_data", str(data / "validation.jsonl")),
        *("--seed", "7", "--logging_steps", "1", "--class_weights", "inverse_sqrt"),
    )
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["settings"]["seed"] == 7
    assert run["settings"]["max_prompt_tokens"] == BUDGET
    assert run["result"]["labels"]["dropped"] == {"-1": 0, "0": 0, "1": 0}
    stored = json.loads((tmp_path / "prm_judge.json").read_text())
    assert stored["prompt"]["max_prompt_tokens"] == BUDGET
    card = (tmp_path / "README.md").read_text()
    for text in ("error_propagation", "always +1", run["prm"], stored["training"]["split_sha256"]):
        assert text in card
    history = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert any("loss" in line for line in history)
    assert [line["eval_always_positive_step_acc"] for line in history if "eval_step_acc" in line]
    assert {"eval_step_acc", "eval_first_err_acc", "eval_share_pos"} <= result.keys()
    assert not list(tmp_path.glob(".*partial*"))


@pytest.mark.parametrize("kind", ["full", "lora"])
def test_a_saved_judge_says_what_the_trained_one_said(judge: Path, data: Path, tmp_path: Path, kind: str) -> None:
    extra = ("--lora_rank", "4", "--trainable_layers", "1") if kind == "lora" else ()
    result = _train(
        *(judge, data / "train.jsonl", tmp_path, "--validation_data", str(data / "validation.jsonl"), "--num_layers"),
        *("1" if kind == "lora" else "2", "--learning_rate", "3e-2", *extra),
    )
    assert (tmp_path / "adapter_model.safetensors").exists() == (kind == "lora")
    assert (tmp_path / "model.safetensors").exists() == (kind == "full")
    runs = [make_run(i, steps=1 + i % 3) for i in range(100, 104)]
    loaded = LocalJudge.from_pretrained(tmp_path, device="cpu")
    assert loaded.model.config.num_hidden_layers == (1 if kind == "lora" else 2)
    predictions = list(loaded.judge(runs))
    scores = summary(runs, predictions)
    for name in ("step_acc", "first_err_acc", "share_neg", "share_pos", "final_acc"):
        assert scores[name] == pytest.approx(result.get(f"eval_{name}"))
    untrained = LocalJudge.from_pretrained(judge, prompt=loaded.info.prompt, device="cpu").judge(runs)
    assert [p.step_probs for p in untrained] != [p.step_probs for p in predictions]


def test_an_adapter_on_a_judge_with_an_adapter_stands_on_both(judge: Path, data: Path, tmp_path: Path) -> None:
    lora = ("--lora_rank", "2", "--learning_rate", "3e-2")
    _train(judge, data / "train.jsonl", tmp_path / "first", *lora)
    _train(tmp_path / "first", data / "train.jsonl", tmp_path / "second", *lora, "--learning_rate", "0")
    runs = [make_run(i, steps=3) for i in range(200, 203)]
    first, second = (
        list(LocalJudge.from_pretrained(tmp_path / name, device="cpu").judge(runs)) for name in ("first", "second")
    )
    for one, other in zip(first, second, strict=True):
        for index, vector in one.step_probs.items():
            assert other.step_probs[index] == pytest.approx(vector, abs=1e-4)


def test_frozen_layers_stay_as_they_were(judge: Path, data: Path, tmp_path: Path) -> None:
    _train(judge, data / "train.jsonl", tmp_path, "--trainable_layers", "1")
    before, after = _weights(judge), _weights(tmp_path)
    moved = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert moved
    assert not [name for name in moved if "layers.0." in name or "embed_tokens" in name]
    assert any("layers.1." in name for name in moved)


def test_a_resumed_run_ends_with_the_weights_of_an_undisturbed_one(judge: Path, data: Path, tmp_path: Path) -> None:
    options = ("--save_strategy", "steps", "--save_steps", "2", "--save_total_limit", "100", "--resume", "true")
    whole = _train(judge, data / "train.jsonl", tmp_path / "a", *options, "--num_train_epochs", "2")
    assert whole["updates"] == 6
    # What a crash after the fifth update leaves: the checkpoint of the fourth, and no model.
    broken = tmp_path / "b"
    broken.mkdir()
    shutil.copytree(tmp_path / "a" / "checkpoint-4", broken / "checkpoint-4")
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    del run["result"]
    (broken / "run.json").write_text(json.dumps(run))
    _train(judge, data / "train.jsonl", broken, *options, "--num_train_epochs", "2")
    _assert_same_weights(tmp_path / "a", broken, atol=1e-6)
    assert _train(judge, data / "train.jsonl", broken, *options, "--num_train_epochs", "2")["updates"] == 6
    with pytest.raises(ConfigError, match="must not hold a run already"):
        _train(judge, data / "train.jsonl", broken)


def test_a_json_judge_and_bfloat16_train(judge: Path, data: Path, tmp_path: Path) -> None:
    options = ("--answer_format", "json", "--max_prompt_tokens", "4000", "--bf16", "true", "--max_steps", "1")
    result = _train(judge, data / "train.jsonl", tmp_path, *options)
    assert result["updates"] == 1
    assert json.loads((tmp_path / "prm_judge.json").read_text())["prompt"]["answer_format"] == "json"


def test_training_and_validation_must_not_share_a_query(judge: Path, data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must not share a query with train_data"):
        _train(judge, data / "train.jsonl", tmp_path, "--validation_data", str(data / "train.jsonl"))


def test_runs_that_do_not_fit_are_counted_and_stop_the_training_before_a_model_loads(
    judge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_sft, "load_policy", lambda *a: pytest.fail("the model was loaded"))
    runs = [make_run(1, steps=200), make_run(2, steps=2), make_run(3, steps=201)]
    with pytest.raises(ConfigError, match=r"got 2 of 3 runs that do not .*skip_long_runs: true") as caught:
        _train(judge, _write(tmp_path / "long.jsonl", runs), tmp_path / "a")
    assert "\n" not in str(caught.value)


def test_runs_that_do_not_fit_can_be_left_out_and_are_counted(judge: Path, tmp_path: Path) -> None:
    """What is left is trained on as if the long run had never been there, its labels in no class weight."""
    short, long = [make_run(i, steps=2) for i in range(2)], make_run(9, steps=200)
    weighted = ("--class_weights", "balanced", "--max_steps", "1")
    skipping = _train(
        *(judge, _write(tmp_path / "a.jsonl", [*short, long]), tmp_path / "a", *weighted),
        *("--skip_long_runs", "true"),
    )
    plain = _train(judge, _write(tmp_path / "b.jsonl", short), tmp_path / "b", *weighted)
    assert (skipping["runs_left_out"], plain["runs_left_out"]) == (1, 0)
    assert skipping["class_weights"] == plain["class_weights"]
    assert skipping["labels"] == plain["labels"]
    _assert_same_weights(tmp_path / "a", tmp_path / "b", atol=0)


def test_a_run_without_a_label_stops_the_training(judge: Path, tmp_path: Path) -> None:
    run = make_run(1, steps=1)
    bare = Trajectory(run.identity, run.messages, dict.fromkeys(run.step_labels, None))
    with pytest.raises(InputError, match="must have a label"):
        _train(judge, _write(tmp_path / "bare.jsonl", [bare]), tmp_path / "b")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--max_length", "1024"), "max_length: would cut"),
        (("--packing", "true"), "packing: is not for"),
        (("--loss_on", "prompt"), "loss_on: must be one of"),
        (("--answer_format", "json", "--loss_on", "verdicts"), "loss_on: needs compact answers"),
        (("--closing_weight", "1"), "closing_weight: needs a choice among three verdicts"),
        (("--closing_weight", "-1", "--loss_on", "verdicts"), "closing_weight: must be at least 0"),
        (("--verdict_noise", "0.5"), "verdict_noise: needs a choice among three verdicts"),
        (("--closing_weight", "nan", "--loss_on", "verdicts"), "closing_weight: must be a finite number"),
        (("--outcome_weight", "inf"), "outcome_weight: must be a finite number"),
        (("--verdict_noise", "2", "--loss_on", "verdicts"), "verdict_noise: must be a chance"),
        (("--calibrate_verdicts", "true"), "calibrate_verdicts: needs a choice among three verdicts"),
        (("--verdict_temperature", "10"), "verdict_temperature: needs a choice among three verdicts"),
        (("--loss_on", "verdicts", "--verdict_temperature", "0"), "verdict_temperature: must be above 0"),
        (("--answer_format", "json", "--class_weights", "balanced"), "class_weights: needs compact answers"),
        (("--answer_format", "xml"), "answer_format: must be compact or json"),
        (("--early_stopping_patience", "2"), "needs validation_data"),
        (("--trainable_layers", "0"), "trainable_layers: must be at least 1"),
        (("--outcome_weight", "-1"), "outcome_weight: must be at least 0"),
        (("--nonsense", "1"), "every key must be an option"),
    ],
)
def test_options_that_do_not_go_together_are_one_line(wrong: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        parse_judge_recipe(None, ["--train_data", "runs.jsonl", *wrong])
    assert "\n" not in str(caught.value)


def test_a_recipe_of_another_stage_is_refused(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stage: judge\ntrain_data: [runs.jsonl]\nclass_weights: inverse_sqrt\nnum_train_epochs: 8\n")
    assert parse_judge_recipe(recipe, []).training.class_weights == "inverse_sqrt"
    recipe.write_text("train_data: [runs.jsonl]\n")
    with pytest.raises(ConfigError, match="prm train supervised"):
        parse_judge_recipe(recipe, [])
