"""TRL's `GRPOTrainer` for judges: forced answers, credit for each verdict, one prompt for a whole group.

What is overridden, and why:
    _generate                             remembers which tokens are verdicts
    _tokenize_prompts                     takes the prompts' own ids: recorded text never becomes a control token
    _prepare_inputs                       keeps groups together, so that they share a prompt, instead of shuffling
    _generate_and_score_completions       advantages `[B, T]` of single verdicts, which TRL's loss takes
    _get_train_sampler                    an order by the epoch's number alone, which a resumed run goes on with
    _evaluate                             the start weights are a checkpoint, too: they may be the best
    _load_best_model                      says so where they are
Evaluation and checkpoints: `JudgingTrainer`. Rewards, log-probabilities, the loss of single verdicts: `VerdictCredit`.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from trl import GRPOTrainer
from trl.models import unwrap_model_for_generation
from trl.trainer.utils import RepeatSampler, split_tensor_dict

from prm.models.judge.calibration import UNCALIBRATED
from prm.models.judge.chat import end_of_turn_ids
from prm.models.judge.checkpoint import JudgeInfo
from prm.training.grpo.credit import VerdictCredit, padded
from prm.training.grpo.examples import GrpoExample
from prm.training.grpo.options import RewardOptions
from prm.training.grpo.rollout import Drawing, as_trl_rollout, draw_answers, seeded_generator, stretches
from prm.training.judge.evaluation import HeldOut
from prm.training.judge.judging_trainer import JudgingTrainer
from prm.training.rewards import RewardTerm
from prm.training.shared_options import is_sharded

RolloutFunction = Callable[[list[Any], Any], dict[str, Any]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GrpoTask:
    """What is trained, besides TRL's own arguments.

    Attributes:
        examples: The training runs.
        terms: The rewards with their weights.
        rewards: The options of rewards and advantages.
        info: How the judge is asked; written beside its weights.
        held_out: What `evaluate` judges; None = nothing.
    """

    examples: Sequence[GrpoExample]
    terms: Sequence[RewardTerm]
    rewards: RewardOptions
    info: JudgeInfo
    held_out: HeldOut | None = None


class JudgeGrpoTrainer(JudgingTrainer, VerdictCredit, GRPOTrainer):  # type: ignore[misc,unused-ignore]
    """Trains a judge by GRPO.

    Args:
        task: What is trained.
        rollout: Makes the answers instead of the model, as TRL's `rollout_func`; the batch's examples are in
            `trainer.batch`. For tests, and for answers that come from elsewhere.
        keywords: As of `GRPOTrainer`: model, args, processing_class, peft_config …
    """

    eos_token_ids: list[int]
    _step: int
    _buffered_inputs: Any

    def __init__(self, task: GrpoTask, rollout: RolloutFunction | None = None, **keywords: Any) -> None:
        self.task = task
        self.batch: list[GrpoExample] = []
        self._rollouts = (-1, 0)
        forced = task.rewards.forced_frame
        rows = Dataset.from_list([dict(example.row) for example in task.examples])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*rollout_func.*")
            keywords["args"].reward_weights = [term.weight for term in task.terms]
            super().__init__(
                reward_funcs=[term.function for term in task.terms],
                train_dataset=rows,
                eval_dataset=None if task.held_out is None else rows.select([0]),
                rollout_func=rollout or (self._draw if forced else None),
                **keywords,
            )
        frame = task.examples[0].frame if forced else None
        self._verdict_ids = () if frame is None else frame.verdict_ids
        self._calibration = UNCALIBRATED if frame is None else frame.calibration
        self._knows_ends()
        if forced:
            self.aux_loss_enabled = False

    def _knows_ends(self) -> None:
        """The end of a turn ends an answer, whatever the model's own config calls its end."""
        ends = [int(token) for token in end_of_turn_ids(self.processing_class)[-1:]]
        self.eos_token_ids = list(dict.fromkeys([*self.eos_token_ids, *ends]))
        if not self.use_vllm:
            self.generation_config.eos_token_id = self.eos_token_ids

    # Answers

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self.batch = [self.task.examples[row["example"]] for row in inputs]
        with warnings.catch_warnings():
            # TRL asks for gradient checkpointing by the name that transformers is about to drop.
            warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*")
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if self.task.rewards.forced_frame and "verdict_classes" in inputs[0]:
            self.give_credit(inputs, output)
        self.log_dead_groups(output["advantages"])
        return output

    def _generate(self, prompts: list[Any]) -> Any:
        generated = super()._generate(prompts)
        masks = generated[2]
        self._slots = None if masks is None else padded(masks, 0, self.pad_to_multiple_of).bool()
        return generated

    def _draw(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """TRL's `rollout_func`."""
        groups = list(stretches(self.batch))
        how = Drawing(
            self.temperature,
            self.processing_class.pad_token_id or 0,
            self.task.rewards.resample_dead_groups,
            self.task.rewards.advantages == "run" and len(self.task.terms) == 1,
        )
        with self.judging_model() as model, self.accelerator.autocast():
            draw = draw_answers(model, groups, how, self._generator())
        if how.redraws:
            self._pending_metrics["redrawn_groups"].append(draw.redrawn / len(groups))
        return as_trl_rollout(groups, draw)

    def _generator(self) -> torch.Generator:
        step = self.state.global_step
        self._rollouts = (step, self._rollouts[1] + 1 if self._rollouts[0] == step else 0)
        return seeded_generator(self.args.seed, *self._rollouts, self.accelerator.process_index)

    @contextlib.contextmanager
    def judging_model(self) -> Iterator[Any]:
        """The model without wrappers and with all its weights, in evaluation and without gradients."""
        with self._unwrapped() as model, torch.no_grad():
            training = model.training
            model.eval()
            try:
                yield model
            finally:
                model.train(training)

    @contextlib.contextmanager
    def _unwrapped(self) -> Iterator[Any]:
        if not is_sharded(self.args):
            yield self.accelerator.unwrap_model(self.model_wrapped)
            return
        with (
            unwrap_model_for_generation(self.model_wrapped, self.accelerator) as model,
            self._dist.summon_full_params(self.model_wrapped, recurse=False),
        ):
            yield model

    def _tokenize_prompts(self, prompts: list[Any]) -> tuple[list[list[int]], None, dict[str, Any]]:
        return [list(example.prompt.input_ids) for example in self.batch], None, {}

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        if not self.model.training:
            return super()._prepare_inputs(generation_batch)
        steps = self.args.steps_per_generation
        if self._step == 0:
            # After a resume TRL would count from 0 again, and draw in the middle of what it had drawn.
            self._step = self.state.global_step * self.args.gradient_accumulation_steps
        if self._step % (steps * self.num_iterations) == 0 or self._buffered_inputs is None:
            self._buffered_inputs = split_tensor_dict(self._generate_and_score_completions(generation_batch), steps)
        return self._buffered_inputs[self._step % steps]

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        stock = super()._get_train_sampler(dataset)
        stock.__class__ = _EpochSampler
        return stock

    # Held-out runs, checkpoints

    def _evaluate(self, trial: Any, ignore_keys_for_eval: Any, skip_scheduler: bool = False) -> dict[str, float]:
        metrics: dict[str, float] = super()._evaluate(trial, ignore_keys_for_eval, skip_scheduler)
        # Before the first update transformers evaluates without comparing or saving.
        chooses = self.state.global_step == 0 and self.args.load_best_model_at_end
        if chooses and self._determine_best_metric(metrics, trial):
            self._save_checkpoint(self.model, trial)
            self.control = self.callback_handler.on_save(self.args, self.state, self.control)
        return metrics

    def _load_best_model(self) -> None:
        super()._load_best_model()
        if self.state.best_global_step == 0 and self.is_world_process_zero():
            name, value = self.args.metric_for_best_model, self.state.best_metric
            _log.warning("no evaluation was better than that of the start (%s %.4f): its weights are kept", name, value)


class _EpochSampler(RepeatSampler):  # type: ignore[misc,unused-ignore]
    """TRL's sampler, shuffled anew by the epoch's number instead of by what was drawn before."""

    def set_epoch(self, epoch: int) -> None:
        if self.shuffle:
            self.generator.manual_seed((self.seed or 0) + epoch)
