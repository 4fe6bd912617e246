"""Recipes: parsed once, wrong keys and types refused in one line, the command line wins."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest
from transformers import TrainingArguments

from prm.errors import ConfigError, MissingFileError
from prm.training.arguments import DataOptions, ModelOptions, StepTrainingArguments, parse_recipe
from prm.training.recipe import stage_of

_PACKAGE = Path(__file__).resolve().parents[2] / "prm"


def _recipe(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(f"train_data: [a.jsonl]\n{text}")
    return path


def test_the_recipe_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    recipe = _recipe(
        tmp_path, "num_layers: 18\nlearning_rate: 4.0e-4\nbf16: true\nvalidation_data: [b.jsonl, c.jsonl]\n"
    )
    options = parse_recipe(recipe, ["--learning_rate", "1e-5", "--max-tool-tokens", "160"])
    assert options.model.num_layers == 18
    assert options.training.learning_rate == 1e-5
    assert options.training.bf16 is True
    assert options.data.max_tool_tokens == 160
    assert options.data.validation_data == ["b.jsonl", "c.jsonl"]


def test_null_means_none_even_where_the_default_is_not(tmp_path: Path) -> None:
    options = parse_recipe(_recipe(tmp_path, "save_total_limit: null\nnum_layers: null\n"), [])
    assert options.training.save_total_limit is None
    assert options.model.num_layers is None


def test_options_of_transformers_are_options(tmp_path: Path) -> None:
    options = parse_recipe(_recipe(tmp_path, "warmup_steps: 7\nlr_scheduler_type: cosine\n"), ["--weight_decay=0.1"])
    assert (options.training.warmup_steps, options.training.weight_decay) == (7, 0.1)


def test_without_validation_data_nothing_waits_for_an_evaluation(tmp_path: Path) -> None:
    training = parse_recipe(_recipe(tmp_path, ""), []).training
    assert training.eval_strategy == "no"
    assert not training.load_best_model_at_end


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learning_rat: 1\n", "every key must be an option"),
        ("num_layers: many\n", "num_layers"),
        ("learning_rate: [1, 2]\n", "every key must be an option, got '2'"),
        ("head: round\n", "head: must be one of linear, mixed, got 'round'"),
        ("max_tokens: 10\n", "max_tokens: must be at least 256, got 10"),
        ("tokens_per_batch: 0\n", "tokens_per_batch: must be at least 1"),
        ("load_in_4bit: true\n", "load_in_4bit: needs LoRA"),
        ("early_stopping_patience: 2\n", "early_stopping_patience: needs validation_data"),
        ("device: tpu\n", "device: must be cpu or cuda"),
        ("lora_rank: {a: 1}\n", "a recipe is flat"),
        ("x: [1\n", r"recipe\.yaml:\d+: must be YAML"),
        (
            "max_tokens: 512\nmax_tokens: 1024\n",
            "must be YAML, got \"the key 'max_tokens' stands twice\"",
        ),
        ("unknown_null: null\n", "every key must be an option"),
    ],
)
def test_a_wrong_recipe_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_recipe(_recipe(tmp_path, text), [])
    assert "\n" not in str(caught.value)


def test_the_word_no_in_a_recipe_is_that_word(tmp_path: Path) -> None:
    training = parse_recipe(_recipe(tmp_path, "save_strategy: no\nresume: yes\n"), []).training
    assert training.save_strategy == "no"
    assert training.resume is True


@pytest.mark.parametrize("named", ["", "stage: supervised\n"])
def test_a_recipe_may_name_its_stage(tmp_path: Path, named: str) -> None:
    recipe = _recipe(tmp_path, f"{named}num_layers: 3\n")
    assert stage_of(recipe) == "supervised"
    assert parse_recipe(recipe, []).model.num_layers == 3


@pytest.mark.parametrize("stage", ["judge", "grpo"])
def test_a_recipe_of_another_stage_is_refused(tmp_path: Path, stage: str) -> None:
    message = f"stage: must be supervised, got '{stage}'; run `prm train {stage}`"
    with pytest.raises(ConfigError, match=message) as caught:
        parse_recipe(_recipe(tmp_path, f"stage: {stage}\n"), [])
    assert "\n" not in str(caught.value)


def test_a_recipe_for_the_cpu_is_trained_there(tmp_path: Path) -> None:
    training = parse_recipe(_recipe(tmp_path, "device: cpu\n"), []).training
    assert training.use_cpu
    assert training.device.type == "cpu"


def test_missing_keys_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="train_data"):
        parse_recipe(None, [])
    with pytest.raises(MissingFileError, match="the recipe must exist"):
        parse_recipe(tmp_path / "nothing.yaml", [])


def test_every_field_of_ours_is_read_somewhere() -> None:
    read = {
        node.attr
        for path in _PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    inherited = {field.name for field in fields(TrainingArguments)}
    own = {f.name for c in (DataOptions, ModelOptions) for f in fields(c)}
    own |= {field.name for field in fields(StepTrainingArguments)} - inherited
    assert own - read == set()
