"""Options of GRPO: wrong settings are refused in one line, before a model loads."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest
from trl import GRPOConfig

from prm.errors import ConfigError, MissingFileError
from prm.training.grpo.options import GrpoArguments, GrpoDataOptions, RewardOptions, parse_grpo_recipe
from prm.training.recipe import stage_of

_PACKAGE = Path(__file__).resolve().parents[3] / "prm"


def _recipe(folder: Path, text: str) -> Path:
    path = folder / "recipe.yaml"
    path.write_text(f"stage: grpo\ntrain_data: [a.jsonl]\n{text}")
    return path


def test_the_recipe_is_read_and_the_command_line_wins(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, "learning_rate: 3.0e-5\nvalidation_data: [b.jsonl]\nadvantages: exact\nbeta: 0.02\n")
    options = parse_grpo_recipe(recipe, ["--learning_rate", "1e-6", "--epsilon_high=0.3"])
    assert options.training.learning_rate == 1e-6
    assert (options.training.beta, options.training.epsilon_high) == (0.02, 0.3)
    assert options.rewards.advantages == "exact"
    assert options.data.validation_data == ["b.jsonl"]
    assert options.training.load_best_model_at_end


def test_without_validation_data_nothing_waits_for_an_evaluation(tmp_path: Path) -> None:
    training = parse_grpo_recipe(_recipe(tmp_path, ""), []).training
    assert (training.eval_strategy, training.eval_on_start, training.load_best_model_at_end) == ("no", False, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("num_generations: 3\nper_device_train_batch_size: 2\n", "num_generations: must divide the 2 answers"),
        ("num_generations: 1\n", "num_generations: a group needs 2 answers"),
        ("use_vllm: true\n", "use_vllm: draws whole answers"),
        ("use_vllm: true\nforced_frame: false\n", "advantages: of single verdicts need forced_frame"),
        ("forced_frame: false\nadvantages: run\ncross_entropy_weight: 0.1\n", "cross_entropy_weight: needs forced"),
        ("advantages: sentence\n", "advantages: must be one of run, verdict, exact, got 'sentence'"),
        ("reward_class_balance: some\n", "reward_class_balance: must be one of none, group, global"),
        ("shared_prefix: always\n", "shared_prefix: must be one of auto, off"),
        ("answer_format: json\n", "answer_format: json has no frame to force"),
        ("answer_format: prose\n", "answer_format: must be compact or json"),
        ("step_weight: 0\n", "step_weight: something must be rewarded"),
        ("reward: [a:b]\nreward_weight: [1, 2]\n", "reward_weight: goes with reward, one each"),
        ("reward_weights: [1.0]\n", "reward_weights: are made from"),
        ("multi_objective_aggregation: normalize_then_sum\n", "multi_objective_aggregation: must be sum_then"),
        ("early_stopping_patience: 2\n", "early_stopping_patience: needs validation_data"),
        ("steps_per_generation: 2\nsave_steps: 3\n", "save_steps: must be a multiple of the 2 updates"),
        ("steps_per_generation: 3\ngradient_accumulation_steps: 2\n", "steps_per_generation: must go with"),
        ("resample_dead_groups: 2\nper_device_train_batch_size: 12\ngradient_accumulation_steps: 2\n", None),
        ("resample_dead_groups: -1\n", "resample_dead_groups: must be at least 0"),
        ("temperature: 0\n", "temperature: must be above 0"),
        ("fsdp: full_shard\n", "forced_frame: needs whole weights"),
        ("lora_rank: 0\n", "lora_rank: must be at least 1"),
        ("validation_runs: 0\n", "validation_runs: must be at least 1"),
        ("epsilo: 1\n", "every key must be an option"),
        ("beta: much\n", "beta"),
    ],
)
def test_a_wrong_recipe_is_refused_in_one_line(tmp_path: Path, text: str, message: str | None) -> None:
    if message is None:
        parse_grpo_recipe(_recipe(tmp_path, text), [])
        return
    with pytest.raises(ConfigError, match=message) as caught:
        parse_grpo_recipe(_recipe(tmp_path, text), [])
    assert "\n" not in str(caught.value)


def test_whole_groups_are_needed_to_draw_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2 processes with 4 answers each, a group of 8 lies on both."""
    text = "resample_dead_groups: 1\nnum_generations: 8\nper_device_train_batch_size: 4\ngeneration_batch_size: 8\n"
    options = parse_grpo_recipe(_recipe(tmp_path, text), [])
    assert options.training.steps_per_generation == 2
    monkeypatch.setattr(GrpoArguments, "world_size", property(lambda self: 2))
    with pytest.raises(ConfigError, match="resample_dead_groups: needs whole groups in each process"):
        parse_grpo_recipe(_recipe(tmp_path, text), [])


def test_a_recipe_of_another_stage_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("train_data: [a.jsonl]\n")
    assert stage_of(path) == "supervised"
    with pytest.raises(ConfigError, match="stage: must be grpo, got 'supervised'"):
        parse_grpo_recipe(path, [])
    with pytest.raises(MissingFileError, match="the recipe must exist"):
        parse_grpo_recipe(tmp_path / "nothing.yaml", [])


def test_every_field_of_ours_is_read_somewhere() -> None:
    read = {
        node.attr
        for path in _PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    inherited = {field.name for field in fields(GRPOConfig)}
    own = {field.name for part in (GrpoDataOptions, RewardOptions) for field in fields(part)}
    own |= {field.name for field in fields(GrpoArguments)} - inherited
    assert own - read == set()


def test_checkpoints_at_a_share_of_the_run_are_fine_where_every_update_draws_anew() -> None:
    options = parse_grpo_recipe(None, ["--train_data", "runs.jsonl", "--save_steps", "0.5"])
    assert options.training.save_steps == 0.5


def test_a_recipe_may_name_its_policy(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stage: grpo\npolicy: judge\ntrain_data: [runs.jsonl]\n")
    assert parse_grpo_recipe(recipe, []).data.policy == "judge"
    with pytest.raises(ConfigError, match="policy: must be judge"):
        parse_grpo_recipe(recipe, ["--policy", "classifier"])
