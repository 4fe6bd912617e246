"""GRPO of a judge: from options to a run folder with a judge in it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from transformers import set_seed
from transformers.trainer_utils import get_last_checkpoint

from prm.models.judge.local_judge import JudgeOptions
from prm.training.grpo.card import write_grpo_card
from prm.training.grpo.options import GrpoOptions
from prm.training.grpo.prepared import Prepared, prepare
from prm.training.grpo.progress import Curves
from prm.training.grpo.trainer import GrpoTask, JudgeGrpoTrainer
from prm.training.judge.evaluation import HeldOut
from prm.training.judge.policy import keep_reference, load_policy, lora_config
from prm.training.progress import watch
from prm.training.run_folder import begin_run, publish_run, settings_of
from prm.training.shared_options import autocast_dtype, is_sharded

START_FOLDER = "base"
"""Holds the start weights where KL, or an adapter trained on them, needs them."""


def train_grpo(options: GrpoOptions) -> dict[str, Any]:
    """Trains a judge by GRPO and leaves it in the run folder, ready for `LocalJudge.from_pretrained`.

    Every process of a distributed launch calls this. A run that is already complete is not trained again.

    Args:
        options: The resolved options.

    Returns:
        The result as `run.json` holds it: metrics of the checkpoint that is kept, those of the start.

    Raises:
        ConfigError: Options that do not fit, or a run folder that is taken.
        RecordError: A bad record of the data.
        ProtocolError: Labels of several protocols.
    """
    training = options.training
    prepared = prepare(options)
    done = begin_run(training, settings_of(training, options.data, options.model, options.rewards))
    if done is not None:
        return done
    set_seed(training.seed)
    trainer = _trainer(options, prepared)
    result = {**_descend(trainer, Path(training.output_dir)), **_final_metrics(trainer)}
    result |= {"processes": trainer.args.world_size, "updates": trainer.state.global_step}
    result |= {"runs_left_out": prepared.runs_left_out}
    write_card = partial(write_grpo_card, options=options, prepared=prepared, result=result)
    publish_run(trainer, result, write_card, "Judge")
    return result


def _trainer(options: GrpoOptions, prepared: Prepared) -> JudgeGrpoTrainer:
    training, folder = options.training, Path(options.training.output_dir)
    policy = load_policy(prepared.model_path, options.model, training.trust_remote_code)
    lora = lora_config(policy, options.model)
    on_adapter = lora is not None and (Path(prepared.model_path) / "adapter_config.json").is_file()
    if on_adapter or (training.beta != 0.0 and lora is None):
        # KL's reference, or what a new adapter stands on: weights with the earlier adapter in them.
        with training.main_process_first(local=False, desc="start weights"):
            keep_reference(policy, folder / START_FOLDER, training.process_index == 0)
    trainer = JudgeGrpoTrainer(
        GrpoTask(prepared.examples, prepared.terms, options.rewards, prepared.info, _held_out(options, prepared)),
        model=policy,
        args=training,
        processing_class=prepared.tokenizer,
        peft_config=lora,
    )
    watch(trainer, folder, Curves(folder))
    return trainer


def _held_out(options: GrpoOptions, prepared: Prepared) -> HeldOut | None:
    if not prepared.held_out:
        return None
    training = options.training
    judging = JudgeOptions(
        decoding="forced" if options.rewards.forced_frame else "free",
        max_answer_tokens=training.max_completion_length or JudgeOptions().max_answer_tokens,
        seed=training.seed,
        autocast=autocast_dtype(training),
    )
    return HeldOut(prepared.held_out, judging, is_sharded(training))


def _descend(trainer: JudgeGrpoTrainer, folder: Path) -> dict[str, Any]:
    checkpoint = get_last_checkpoint(str(folder)) if trainer.args.resume else None
    if checkpoint is not None:
        # It was evaluated before it was written.
        trainer.args.eval_on_start = False
    outcome = trainer.train(resume_from_checkpoint=checkpoint)
    return {"train_loss": outcome.training_loss, "train_runtime": outcome.metrics["train_runtime"]}


def _final_metrics(trainer: JudgeGrpoTrainer) -> dict[str, Any]:
    """Those of the weights that are kept."""
    return dict(trainer.evaluate()) if trainer.task.held_out is not None else {}
