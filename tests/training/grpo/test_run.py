"""`prm train grpo` from files to a judge that can be asked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_trajectories
from prm.errors import ConfigError
from prm.evaluation.step_metrics import summary
from prm.models.judge.calibration import Calibration
from prm.models.judge.checkpoint import write_judge_info
from prm.models.judge.local_judge import LocalJudge
from prm.training.grpo import run as grpo_run
from prm.training.grpo.dry_run import describe
from prm.training.grpo.options import parse_grpo_recipe
from prm.training.grpo.prepared import prepare
from prm.training.grpo.run import train_grpo
from prm.training.judge.policy import merge_adapters
from tests.tiny import make_run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.jsonl (6 runs), validation.jsonl (3)."""
    folder = tmp_path_factory.mktemp("runs")
    for name, numbers in {"train": range(6), "validation": range(100, 103)}.items():
        runs = (make_run(n, steps=1 + n % 2) for n in numbers)
        write_jsonl(folder / f"{name}.jsonl", (dump_trajectory(run) for run in runs))
    return folder


def _arguments(backbone: Path | str, files: Path, out: Path, *more: str) -> list[str]:
    return [
        *("--model", str(backbone), "--train_data", str(files / "train.jsonl")),
        *("--validation_data", str(files / "validation.jsonl"), "--output_dir", str(out)),
        *("--num_generations", "2", "--per_device_train_batch_size", "4", "--max_steps", "2"),
        *("--eval_steps", "1", "--save_steps", "1", "--learning_rate", "1e-3", "--use_cpu", "true"),
        *("--max_prompt_tokens", "1500", *more),
    ]


def _train(*arguments: Any) -> dict[str, Any]:
    return train_grpo(parse_grpo_recipe(None, _arguments(*arguments)))


def _history(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


def test_the_run_folder_is_a_judge_with_the_metrics_that_were_reported(
    backbone: Path, files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    result = _train(backbone, files, out)
    runs = list(read_trajectories(files / "validation.jsonl"))
    judge = LocalJudge.from_pretrained(out, device="cpu")
    assert judge.info.prompt.max_prompt_tokens == 1500
    measured = summary(runs, list(judge.judge(runs)))
    assert measured["step_acc"] == pytest.approx(result["eval_step_acc"])
    assert (out / "curves.png").is_file()
    entries = _history(out)
    assert [entry["step"] for entry in entries if "eval_step_acc" in entry] == [0, 1, 2]
    assert [entry["step"] for entry in entries if "sampled/share_zero" in entry] == [1, 2]
    assert _train(backbone, files, out, "--resume", "true") == json.loads((out / "run.json").read_text())["result"]
    with pytest.raises(ConfigError, match="output_dir: must not hold a run already"):
        train_grpo(parse_grpo_recipe(None, _arguments(backbone, files, out)))


@pytest.mark.parametrize("killed_at", [1, 2])
def test_a_killed_run_goes_on_from_its_checkpoint(
    backbone: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    """Killed while it is evaluated: what it leaves is what a crash would leave, and the end is the same."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    result = _train(backbone, files, whole)

    class Killed(Exception):
        pass

    def dies(trainer: Any, *arguments: Any) -> None:
        if trainer.state.global_step == killed_at:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(grpo_run.JudgeGrpoTrainer, "evaluate", _then(grpo_run.JudgeGrpoTrainer.evaluate, dies))
        with pytest.raises(Killed):
            _train(backbone, files, cut)
    assert not (cut / "config.json").exists()
    resumed = _train(backbone, files, cut, "--resume", "true")
    assert {k: v for k, v in resumed.items() if "eval" in k} == {k: v for k, v in result.items() if "eval" in k}
    assert (whole / "model.safetensors").read_bytes() == (cut / "model.safetensors").read_bytes()
    names = ("step", "sampled/step_acc", "eval_step_acc", "loss")
    seen = [[{k: e.get(k) for k in names} for e in _history(folder)] for folder in (whole, cut)]
    assert seen[0] == seen[1]


def _then(function: Any, before: Any) -> Any:
    def both(trainer: Any, *arguments: Any, **keywords: Any) -> Any:
        before(trainer)
        return function(trainer, *arguments, **keywords)

    return both


def test_the_reference_of_kl_is_the_model_at_the_start_even_where_layers_were_cut(
    backbone: Path, files: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    _train(backbone, files, out, "--beta", "0.1", "--num_layers", "1", "--max_steps", "1")
    kl = [entry["kl"] for entry in _history(out) if "kl" in entry]
    assert kl[0] == pytest.approx(0.0, abs=1e-7)
    assert LocalJudge.from_pretrained(out, device="cpu").model.config.num_hidden_layers == 1


def test_an_adapter_is_trained_saved_and_trained_on(backbone: Path, files: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    result = _train(backbone, files, first, "--lora_rank", "2", "--beta", "0.1")
    assert (first / "adapter_config.json").is_file()
    runs = list(read_trajectories(files / "validation.jsonl"))
    judge = LocalJudge.from_pretrained(first, device="cpu")
    assert summary(runs, list(judge.judge(runs)))["step_acc"] == pytest.approx(result["eval_step_acc"])
    adapted = judge.model
    ids = torch.arange(3, 40)[None]
    expected = adapted(input_ids=ids).logits
    merge_adapters(adapted)
    torch.testing.assert_close(adapted(input_ids=ids).logits, expected, atol=1e-5, rtol=1e-4)
    assert all(weight.requires_grad for weight in adapted.parameters())
    _train(first, files, second, "--beta", "0.1", "--max_steps", "1", "--trainable_layers", "1")
    assert next(entry["kl"] for entry in _history(second) if "kl" in entry) == pytest.approx(0.0, abs=1e-7)
    assert (second / "model.safetensors").is_file()


def test_an_adapter_on_an_adapter_stands_on_weights_that_hold_the_first(
    backbone: Path, files: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    _train(backbone, files, first, "--lora_rank", "2", "--max_steps", "1", "--learning_rate", "0.1")
    result = _train(first, files, second, "--lora_rank", "2", "--max_steps", "1")
    base = json.loads((second / "adapter_config.json").read_text())["base_model_name_or_path"]
    assert base == str(second / "base")
    judge, runs = LocalJudge.from_pretrained(second, device="cpu"), list(read_trajectories(files / "validation.jsonl"))
    assert summary(runs, list(judge.judge(runs)))["step_acc"] == pytest.approx(result["eval_step_acc"])


def test_frozen_layers_stay_as_they_were(backbone: Path, files: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    _train(backbone, files, tmp_path / "run", "--trainable_layers", "1", "--max_steps", "1")
    before, after = (load_file(folder / "model.safetensors") for folder in (backbone, tmp_path / "run"))
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert not any("layers.0." in name or "layers.1." in name or "embed" in name for name in changed)


def test_wrong_settings_are_refused_before_a_model_loads(
    backbone: Path, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpo_run, "load_policy", lambda *a: pytest.fail("the model was loaded"))
    for more, message in (
        (("--per_device_train_batch_size", "20"), "train_data: must hold the 10 runs"),
        (("--reward", "no.such:thing"), "reward: must be importable"),
        (("--outcome_reward_weight", "1", "--ask_outcome", "false"), "outcome_reward_weight: needs ask_outcome"),
        (("--max_prompt_tokens", "300"), r"max_prompt_tokens \(300\).*got 6 of 6 runs that do not"),
        (("--max_prompt_tokens", "300", "--skip_long_runs", "true"), "got 6 of 6 runs that do not"),
        (("--validation_data", str(files / "train.jsonl")), "must not share a query"),
    ):
        with pytest.raises(ConfigError, match=message) as caught:
            _train(backbone, files, tmp_path / "run", *more)
        assert "\n" not in str(caught.value)


def test_a_dry_run_shows_what_would_be_done_and_leaves_nothing(backbone: Path, files: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    text = "\n".join(describe(parse_grpo_recipe(None, _arguments(backbone, files, out))))
    for part in (
        "6 prompts of",
        "2 updates; 2 prompts × 2 answers",
        "3 held-out runs",
        "memory, roughly",
        "1 × step_acc",
    ):
        assert part in text
    assert not out.exists()
    shown = CliRunner().invoke(app, ["train", "grpo", "--dry-run", *_arguments(backbone, files, out)])
    assert shown.exit_code == 0, shown.output
    assert text in shown.output


def test_long_runs_can_be_left_out_of_prompts_and_class_balance(backbone: Path, files: Path, tmp_path: Path) -> None:
    runs = [*read_trajectories(files / "train.jsonl"), make_run(50, steps=300)]
    write_jsonl(tmp_path / "long.jsonl", (dump_trajectory(run) for run in runs))
    more = ("--train_data", str(tmp_path / "long.jsonl"), "--reward_class_balance", "global")
    with pytest.raises(ConfigError, match=r"got 1 of 7 runs that do not .*skip_long_runs: true"):
        prepare(parse_grpo_recipe(None, _arguments(backbone, files, tmp_path, *more)))
    options = parse_grpo_recipe(None, _arguments(backbone, files, tmp_path, *more, "--skip_long_runs", "true"))
    plain = parse_grpo_recipe(None, _arguments(backbone, files, tmp_path, "--reward_class_balance", "global"))
    prepared, expected = prepare(options), prepare(plain)
    assert (prepared.runs_left_out, expected.runs_left_out) == (1, 0)
    assert [example.worth for example in prepared.examples] == [example.worth for example in expected.examples]
    assert [example.row["example"] for example in prepared.examples] == list(range(6))
    assert "runs left out, longer than max_prompt_tokens: 1" in "\n".join(describe(options))


def test_free_answers_are_trained_too(backbone: Path, files: Path, tmp_path: Path) -> None:
    """An untrained model writes nothing that can be read: all groups are dead, and that is logged."""
    more = ("--forced_frame", "false", "--advantages", "run", "--max_completion_length", "6", "--max_steps", "1")
    result = _train(backbone, files, tmp_path / "run", *more)
    assert result["eval_unread"] == 1
    entry = next(entry for entry in _history(tmp_path / "run") if "sampled/unread" in entry)
    assert (entry["sampled/unread"], entry["dead_groups"]) == (1, 1)
    assert entry["completions/clipped_ratio"] > 0


_WARM = Calibration(7.0, (1.0, -2.0, 0.5))


def test_the_judge_that_is_trained_on_says_how_it_is_asked(backbone: Path, files: Path, tmp_path: Path) -> None:
    start = tmp_path / "start"
    shutil.copytree(backbone, start)
    first = prepare(parse_grpo_recipe(None, _arguments(backbone, files, tmp_path, "--ask_outcome", "false")))
    write_judge_info(start, replace(first.info, calibration=_WARM))
    arguments = [a for a in _arguments(start, files, tmp_path) if a not in ("--max_prompt_tokens", "1500")]
    second = prepare(parse_grpo_recipe(None, arguments))
    assert second.info.prompt == first.info.prompt
    assert second.info.calibration == _WARM
    assert {example.frame.calibration for example in second.examples if example.frame} == {_WARM}
    with pytest.raises(ConfigError, match="forced_frame: is needed where the start's verdicts are calibrated"):
        prepare(parse_grpo_recipe(None, [*arguments, "--forced_frame", "false", "--advantages", "run"]))
    assert second.examples[0].frame.slots == first.examples[0].frame.slots  # type: ignore[union-attr]
