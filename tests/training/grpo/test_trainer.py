"""The trainer: as TRL's where the same is asked, exact credit, resume, and learning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from prm.models.judge.calibration import Calibration
from prm.models.judge.local_judge import JudgeOptions
from prm.training.grpo.options import RewardOptions
from prm.training.grpo.trainer import GrpoTask
from prm.training.judge.evaluation import HeldOut
from prm.training.rewards import RewardTerm, step_accuracy_reward
from prm.types import StepLabel
from tests.tiny import byte_level_tokenizer, make_run
from tests.training.grpo.toys import (
    Log,
    StopAfter,
    arguments,
    fixed_answers,
    scattered,
    scores,
    tiny_judge,
    toy_example,
    toy_trainer,
    weights_of,
)

EXAMPLES = [toy_example(n, labels) for n, labels in enumerate(([1, -1], [0, 1, 1], [-1], [1, 0, -1, 1]))]

PLAIN_DESCENT = {"optim": "sgd", "learning_rate": 0.05}
"""Adam would blow the rounding of a gradient near 0 up to a whole update."""


class NaiveTrainer(GRPOTrainer):  # type: ignore[misc,unused-ignore]
    """TRL's trainer, told what a verdict's log-probability is in the plainest way: row by row, nothing shared."""

    verdict_ids: tuple[int, int, int]

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Any, attention_mask: Any, logits_to_keep: int, *a: Any, **k: Any
    ) -> Any:
        rows = []
        ids = torch.tensor(self.verdict_ids)
        for row, mask in zip(input_ids, attention_mask, strict=True):
            logits = model(input_ids=row[mask.bool()][None]).logits[0, :, list(self.verdict_ids)]
            full = torch.zeros(len(row), 3).index_put((mask.bool().nonzero()[:, 0],), logits)
            chosen = (row[-logits_to_keep:, None] == ids).int().argmax(-1)
            three = full[-logits_to_keep - 1 : -1].log_softmax(-1)
            rows.append(three.gather(-1, chosen[:, None])[:, 0])
        values = torch.stack(rows)
        return values, torch.zeros_like(values), None


def _naive(args: Any, kind: type, model: Any) -> Any:
    """A stock trainer on the same rows and answers."""
    keys = ("per_device_train_batch_size", "num_generations", "max_steps", "learning_rate", "seed", "output_dir")
    keys += ("gradient_accumulation_steps", "num_iterations", "loss_type", "scale_rewards", "optim")
    config = GRPOConfig(
        **{key: getattr(args, key) for key in keys},
        bf16=False, use_cpu=True, report_to="none", save_strategy="no", max_grad_norm=0.0, logging_steps=1,
        lr_scheduler_type="constant", gradient_checkpointing=False, disable_tqdm=True, remove_unused_columns=False,
    )  # fmt: skip
    trainer = kind(
        model=model,
        reward_funcs=step_accuracy_reward,
        args=config,
        train_dataset=Dataset.from_list([dict(example.row) for example in EXAMPLES]),
        processing_class=byte_level_tokenizer(),
        rollout_func=lambda prompts, owner: _stock_rollout(prompts, owner),
    )
    trainer.verdict_ids = EXAMPLES[0].frame.verdict_ids  # type: ignore[union-attr]
    return trainer


def _stock_rollout(prompts: list[Any], owner: Any) -> dict[str, Any]:
    texts = {example.prompt.text: example for example in EXAMPLES}
    owner.batch = [texts[prompt[0]["content"]] for prompt in prompts]
    found = fixed_answers(scattered)(prompts, owner)
    return {name: found[name] for name in ("prompt_ids", "completion_ids", "logprobs", "env_mask")}


def _losses(trainer: Any) -> list[float]:
    log = Log()
    trainer.add_callback(log)
    trainer.train()
    return log.values("loss")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"gradient_accumulation_steps": 2, "per_device_train_batch_size": 4},
        {"loss_type": "grpo", "per_device_train_batch_size": 4, "gradient_accumulation_steps": 2},
        {"num_iterations": 2, "max_steps": 4},
        {"scale_rewards": "none"},
    ],
    ids=lambda changes: "-".join(changes) or "plain",
)
@pytest.mark.parametrize("shared_prefix", ["auto", "off"])
def test_fixed_answers_train_as_in_the_stock_trainer(tmp_path: Path, changes: Any, shared_prefix: str) -> None:
    # In the first epoch the order is TRL's as well.
    args = arguments(tmp_path, **{"max_steps": 2, **PLAIN_DESCENT, **changes})
    options = RewardOptions(advantages="run", shared_prefix=shared_prefix)
    own = toy_trainer(args, EXAMPLES, options, tiny_judge(), rollout=fixed_answers(scattered))
    stock = _naive(args, NaiveTrainer, tiny_judge())
    before = weights_of(own)
    # TRL shuffles answers over micro-batches, so with several of them only the updates are the same.
    first, second = _losses(own), _losses(stock)
    assert first == pytest.approx(second, abs=1e-5)
    after, expected = weights_of(own), weights_of(stock)
    assert any(not torch.equal(before[name], after[name]) for name in before)
    for name, value in after.items():
        torch.testing.assert_close(value, expected[name], atol=2e-5, rtol=0)


def test_free_answers_train_as_in_the_stock_trainer(tmp_path: Path) -> None:
    args = arguments(tmp_path, max_steps=2, **PLAIN_DESCENT)
    options = RewardOptions(advantages="run", forced_frame=False)
    own = toy_trainer(args, EXAMPLES, options, tiny_judge(), rollout=fixed_answers(scattered))
    stock = _naive(args, GRPOTrainer, tiny_judge())
    assert _losses(own) == pytest.approx(_losses(stock), abs=1e-6)
    for name, value in weights_of(own).items():
        torch.testing.assert_close(value, weights_of(stock)[name], atol=1e-6, rtol=0)


def _generated(trainer: Any, examples: Any) -> dict[str, Any]:
    """What TRL's generation step returns for one group of each example."""
    rows = [dict(example.row) for example in examples for _ in range(trainer.num_generations)]
    trainer.model.train()
    output: dict[str, Any] = trainer._generate_and_score_completions(rows)
    return output


def test_each_verdict_gets_the_advantage_of_its_own_step(tmp_path: Path) -> None:
    # Labels +1, −1. Answers (class ids) of the group: 2 0 | 2 1 | 1 1 | 2 1.
    answers = [[2, 0], [2, 1], [1, 1], [2, 1]]
    example = toy_example(0, [1, -1])
    args = arguments(tmp_path, per_device_train_batch_size=4, scale_rewards="none")
    trainer = toy_trainer(args, [example], rollout=fixed_answers(lambda row, slot: answers[row][slot]))
    output = _generated(trainer, [example])
    places = example.frame.verdict_positions()  # type: ignore[union-attr]
    # Step 1: right, right, wrong, right around 3/4; step 2: right, wrong, wrong, wrong around 1/4.
    expected = torch.tensor([[0.25, 0.75], [0.25, -0.25], [-0.75, -0.25], [0.25, -0.25]])
    torch.testing.assert_close(output["advantages"][:, places], expected)
    assert output["advantages"].sum() == expected.sum()
    assert output["num_items_in_batch"] == 8


def test_exact_advantages_take_the_policys_own_chances(tmp_path: Path) -> None:
    # The fixed answers say they come from (0.2, 0.3, 0.5): expected reward 0.5 for +1, 0.2 for −1.
    example = toy_example(0, [1, -1])
    args = arguments(tmp_path, per_device_train_batch_size=4, scale_rewards="none")
    options = RewardOptions(advantages="exact")
    output = _generated(toy_trainer(args, [example], options, rollout=fixed_answers(lambda row, slot: 2)), [example])
    places = example.frame.verdict_positions()  # type: ignore[union-attr]
    torch.testing.assert_close(output["advantages"][:, places], torch.tensor([[0.5, -0.2]] * 4))


def test_unknown_steps_and_an_unrewarded_outcome_carry_no_loss(tmp_path: Path) -> None:
    example = toy_example(0, [1, None, -1], final=1)
    trainer = toy_trainer(arguments(tmp_path, per_device_train_batch_size=4), [example])
    output = _generated(trainer, [example])
    places = example.frame.verdict_positions()  # type: ignore[union-attr]
    own = output["tool_mask"][:, places]
    assert own.tolist() == [[1, 0, 1, 0]] * 4
    assert output["tool_mask"].sum() == 8


def test_rewards_of_the_whole_answer_are_added_to_each_verdict(tmp_path: Path) -> None:
    def first_is_best(completions: Any, **columns: Any) -> list[float | None]:
        return [1.0, 0.0, 0.0, None]

    example = toy_example(0, [1, -1])
    args = arguments(tmp_path, per_device_train_batch_size=4, scale_rewards="none")
    trainer = toy_trainer(args, [example], rollout=fixed_answers(lambda row, slot: 0))
    terms = [RewardTerm(step_accuracy_reward, 1.0, True), RewardTerm(first_is_best, 2.0)]
    trainer.task = GrpoTask([example], terms, trainer.task.rewards, trainer.task.info)
    trainer.reward_funcs, trainer.reward_func_names = [t.function for t in terms], ["a", "b"]
    trainer.reward_weights, trainer.reward_processing_classes = torch.tensor([1.0, 2.0]), [None, None]
    output = _generated(trainer, [example])
    places = example.frame.verdict_positions()  # type: ignore[union-attr]
    # Same verdicts everywhere: only the second reward differs, 2·(1 − 1/3) and 2·(0 − 1/3); None adds nothing.
    expected = torch.tensor([4 / 3, -2 / 3, -2 / 3, 0.0])[:, None].expand(4, 2)
    torch.testing.assert_close(output["advantages"][:, places], expected)


@pytest.mark.parametrize("advantages", ["run", "verdict"])
def test_a_reward_of_whole_answers_alone_is_credited_to_the_labelled_steps(tmp_path: Path, advantages: str) -> None:
    # Labels −1, 0, outcome +1: the first two answers (class ids) find the first error.
    answers = [[0, 2, 0], [0, 1, 0], [1, 0, 0], [2, 2, 0]]
    example = replace(toy_example(0, [-1, 0], final=1, worth=0.0), whole_answer=True)
    args = arguments(tmp_path, per_device_train_batch_size=4, max_steps=1)
    options = RewardOptions(advantages=advantages, step_weight=0.0, first_error_weight=1.0)
    trainer = toy_trainer(args, [example], options, rollout=fixed_answers(lambda row, slot: answers[row][slot]))
    output = _generated(trainer, [example])
    places = example.frame.verdict_positions()  # type: ignore[union-attr]
    assert output["tool_mask"][:, places].tolist() == [[1, 1, 0]] * 4
    found = output["advantages"] if advantages == "run" else output["advantages"][:, places]
    # Right, right, wrong, wrong: ±0.5, over their deviation (with Bessel's correction as TRL does it: √(1/3)).
    size = 0.5 / ((1 / 3) ** 0.5 + 1e-4) if advantages == "run" else 0.5 / (0.5 + 1e-4)
    expected = torch.tensor([size, size, -size, -size])
    if advantages == "verdict":
        expected = expected[:, None] * torch.tensor([1.0, 1.0, 0.0])
    torch.testing.assert_close(found, expected)
    trainer.train()
    assert trainer.state.global_step == 1


def test_dead_groups_are_logged_and_teach_nothing(tmp_path: Path) -> None:
    trainer = toy_trainer(arguments(tmp_path), EXAMPLES, rollout=fixed_answers(lambda row, slot: 1))
    log, before = Log(), weights_of(trainer)
    trainer.add_callback(log)
    trainer.train()
    assert log.values("dead_groups") == [1.0, 1.0, 1.0]
    assert all(torch.equal(before[name], value) for name, value in weights_of(trainer).items())


def test_a_reward_of_none_for_all_teaches_nothing_and_is_no_nan(tmp_path: Path) -> None:
    unknown = [toy_example(0, [None]), toy_example(1, [None])]
    options = RewardOptions(advantages="run", forced_frame=False)
    trainer = toy_trainer(arguments(tmp_path), unknown, options, rollout=fixed_answers(scattered))
    trainer.train()
    assert all(bool(value.isfinite().all()) for value in weights_of(trainer).values())


def test_one_prompt_is_enough(tmp_path: Path) -> None:
    args = arguments(tmp_path, per_device_train_batch_size=4, max_steps=2)
    trainer = toy_trainer(args, [toy_example(0, [1, -1, 0])])
    trainer.train()
    assert trainer.state.global_step == 2


@pytest.mark.parametrize("of_frame", [Calibration(), Calibration(6.0, (1.0, -3.0, 0.0))])
def test_what_is_drawn_is_what_the_loss_scores(tmp_path: Path, of_frame: Calibration) -> None:
    """At the first update the policy is the one that drew, so log-probabilities and entropies agree."""
    examples = [replace(example, frame=replace(example.frame, calibration=of_frame)) for example in EXAMPLES]  # type: ignore[type-var, unused-ignore]
    trainer = toy_trainer(arguments(tmp_path, temperature=0.8), examples)
    output = _generated(trainer, examples)
    trainer._slots = (output["completion_mask"] * output["tool_mask"]).bool()
    ids = torch.cat([output["prompt_ids"], output["completion_ids"]], 1)
    mask = torch.cat([output["prompt_mask"], output["completion_mask"]], 1)
    scored, _, _ = trainer._get_per_token_logps_and_entropies(
        trainer.model, ids, mask, output["completion_ids"].shape[1]
    )
    torch.testing.assert_close(scored, output["sampling_per_token_logps"], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("stop", [3, 5])
def test_a_resumed_run_ends_as_an_uninterrupted_one(tmp_path: Path, stop: int) -> None:
    """Four prompts, two an update: updates 3 and 5 lie in the second and third epoch."""

    def run(folder: Path, *callbacks: Any, resume: str | None = None) -> tuple[Any, Log]:
        args = arguments(folder, max_steps=7, save_strategy="steps", save_steps=1, save_total_limit=None)
        trainer, log = toy_trainer(args, EXAMPLES), Log()
        for callback in (log, *callbacks):
            trainer.add_callback(callback)
        trainer.train(resume_from_checkpoint=resume)
        return trainer, log

    whole, expected = run(tmp_path / "whole")
    run(tmp_path / "cut", StopAfter(stop))
    resumed, found = run(tmp_path / "cut", resume=str(tmp_path / "cut" / f"checkpoint-{stop}"))
    name = "rewards/step_accuracy_reward/mean"
    assert found.values(name) == expected.values(name)[stop:]
    for key, value in weights_of(whole).items():
        assert torch.equal(value, weights_of(resumed)[key]), key


@pytest.mark.parametrize("advantages", ["run", "verdict", "exact"])
def test_it_learns_what_the_prompts_say(tmp_path: Path, advantages: str) -> None:
    """The labels stand in the prompts; verdicts drawn at random are right one time in three."""
    labels: tuple[StepLabel, ...] = (-1, 1, 0, -1, 1, 0)
    examples = [toy_example(number, [label] * 2) for number, label in enumerate(labels)]
    args = arguments(tmp_path, num_generations=8, per_device_train_batch_size=48, max_steps=15, learning_rate=3e-3)
    trainer, log = toy_trainer(args, examples, RewardOptions(advantages=advantages)), Log()
    trainer.add_callback(log)
    trainer.train()
    values = log.values("sampled/step_acc")
    assert values[0] < 0.5
    assert sum(values[-3:]) / 3 > 0.9


def test_cross_entropy_alone_teaches_where_all_answers_earn_the_same(tmp_path: Path) -> None:
    examples = [toy_example(0, [0]), toy_example(0, [0])]
    args = arguments(tmp_path, max_steps=15, learning_rate=5e-3)
    options = RewardOptions(cross_entropy_weight=1.0)
    trainer, log = toy_trainer(args, examples, options, rollout=fixed_answers(lambda row, slot: 2)), Log()
    trainer.add_callback(log)
    trainer.train()
    losses = log.values("cross_entropy")
    assert losses[0] == pytest.approx(1.1, abs=0.3)
    assert losses[-1] < 0.1


def test_cross_entropy_does_not_depend_on_accumulation(tmp_path: Path) -> None:
    options = RewardOptions(cross_entropy_weight=0.5)
    after = []
    for batch, accumulation in ((8, 1), (4, 2)):
        size = {"per_device_train_batch_size": batch, "gradient_accumulation_steps": accumulation}
        args = arguments(tmp_path, **size, **PLAIN_DESCENT)
        trainer = toy_trainer(args, EXAMPLES, options, tiny_judge(), rollout=fixed_answers(scattered))
        trainer.train()
        after.append(weights_of(trainer))
    for name, value in after[0].items():
        torch.testing.assert_close(value, after[1][name], atol=2e-5, rtol=0)


def test_resampling_draws_dead_groups_again_and_logs_them(tmp_path: Path) -> None:
    options = RewardOptions(resample_dead_groups=3)
    args = arguments(tmp_path, num_generations=2, per_device_train_batch_size=8, max_steps=4)
    examples = [toy_example(n, [0]) for n in range(4)]
    dead = {}
    for name, chosen in (("none", RewardOptions()), ("some", options)):
        trainer, log = toy_trainer(args, examples, chosen), Log()
        trainer.add_callback(log)
        trainer.train()
        dead[name] = sum(log.values("dead_groups"))
    assert log.values("redrawn_groups")
    assert dead["some"] < dead["none"]


def test_held_out_runs_are_measured_and_logged(tmp_path: Path) -> None:
    runs = [make_run(n, steps=1 + n % 2) for n in range(3)]
    args = arguments(tmp_path, max_steps=2, eval_strategy="steps", eval_steps=1, eval_on_start=True)
    held_out = HeldOut(runs, JudgeOptions())
    trainer, log = toy_trainer(args, EXAMPLES, held_out=held_out), Log()
    trainer.add_callback(log)
    trainer.train()
    assert [entry["step"] for entry in log.entries if "eval_step_acc" in entry] == [0, 1, 2]
    entry = next(entry for entry in log.entries if "eval_step_acc" in entry)
    assert 0 <= entry["eval_step_acc"] <= 1
    assert entry["eval_unread"] == 0
    positive = [label == 1 for run in runs for label in run.step_labels.values()]
    assert entry["eval_always_positive_step_acc"] == pytest.approx(sum(positive) / len(positive))
    assert "sampled/step_acc" not in entry


_CHOOSES = {
    "eval_strategy": "steps",
    "eval_steps": 1,
    "eval_on_start": True,
    "save_strategy": "steps",
    "save_steps": 1,
    "load_best_model_at_end": True,
}


def _checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("checkpoint-*"))


def test_the_start_weights_are_kept_where_no_evaluation_is_better(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """StepAcc 0.5 before the first update, then 0.5 (no better) and 0.4."""
    args = arguments(tmp_path, max_steps=2, **_CHOOSES)
    trainer = toy_trainer(args, EXAMPLES, rollout=fixed_answers(scattered), held_out=scores(0.5, 0.5, 0.4))
    start = weights_of(trainer)
    trainer.train()
    assert trainer.state.best_global_step == 0
    assert trainer.state.best_model_checkpoint == str(tmp_path / "checkpoint-0")
    assert all(torch.equal(start[name], value) for name, value in weights_of(trainer).items())
    assert "no evaluation was better than that of the start (step_acc 0.5000): its weights are kept" in caplog.text


def test_a_better_evaluation_wins_over_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    args = arguments(tmp_path, max_steps=3, **_CHOOSES)
    trainer = toy_trainer(args, EXAMPLES, rollout=fixed_answers(scattered), held_out=scores(0.5, 0.4, 0.6, 0.3))
    start = weights_of(trainer)
    trainer.train()
    assert trainer.state.best_global_step == 2
    assert _checkpoints(tmp_path) == ["checkpoint-2"]
    assert any(not torch.equal(start[name], value) for name, value in weights_of(trainer).items())
    assert "of the start" not in caplog.text


def test_without_a_choice_the_start_is_no_checkpoint(tmp_path: Path) -> None:
    args = arguments(tmp_path, max_steps=1, **{**_CHOOSES, "load_best_model_at_end": False})
    toy_trainer(args, EXAMPLES, rollout=fixed_answers(scattered), held_out=scores(0.5, 0.4)).train()
    assert _checkpoints(tmp_path) == ["checkpoint-1"]


def test_every_update_logs_what_is_to_be_watched(tmp_path: Path) -> None:
    trainer, log = toy_trainer(arguments(tmp_path, max_steps=1), EXAMPLES), Log()
    trainer.add_callback(log)
    trainer.train()
    entry = log.entries[0]
    for name in ("share_neg", "share_zero", "share_pos", "step_acc", "unread", "always_positive"):
        assert f"sampled/{name}" in entry
    assert {"dead_groups", "completions/clipped_ratio", "frac_reward_zero_std"} <= set(entry)
    assert entry["completions/clipped_ratio"] == 0
    assert sum(entry[f"sampled/share_{word}"] for word in ("neg", "zero", "pos")) == pytest.approx(1)
