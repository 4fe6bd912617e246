"""GRPO of a step classifier: from options to a run folder with a model in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transformers import set_seed
from transformers.trainer_utils import get_last_checkpoint

from prm.data.encode import Row
from prm.data.protocol import protocol_of
from prm.errors import ProtocolError
from prm.models.checkpoint import CheckpointInfo
from prm.models.fetch import resolve_model
from prm.models.step_classifier import StepClassifier
from prm.training.classifier_grpo.card import write_policy_card
from prm.training.classifier_grpo.options import ClassifierGrpoOptions
from prm.training.classifier_grpo.policy import (
    frozen_lower_states,
    frozen_states,
    info_of,
    load_start,
    passes_of,
    start_log_probs,
    trainable,
)
from prm.training.classifier_grpo.trainer import ClassifierGrpoTrainer, GrpoTask
from prm.training.frozen_layers import Passes
from prm.training.grpo.progress import Curves
from prm.training.labelled_runs import read_both
from prm.training.progress import watch
from prm.training.run_folder import begin_run, publish_run, settings_of, sha256_of_files
from prm.training.step_trainer import ValidationSet
from prm.training.targets import TargetOptions, TrainingRow, class_weights, training_rows
from prm.types import Trajectory
from prm.version import __version__


def train_classifier_grpo(options: ClassifierGrpoOptions) -> dict[str, Any]:
    """Trains a step classifier by GRPO and leaves it in the run folder, ready for `StepClassifier.from_pretrained`.

    Every process of a distributed launch calls this. A run that is already complete is not trained again.

    Args:
        options: The resolved options.

    Returns:
        The result as `run.json` holds it: metrics of the checkpoint that is kept, and under `start` those of the start.

    Raises:
        ConfigError: Options that do not fit, or a run folder that is taken.
        RecordError: A bad record of the data.
        ProtocolError: Labels of another protocol than the start's, or of several.
        ModelError: The start is no step classifier of prm.
    """
    data, held_out = read_both(options.data)
    done = begin_run(options.training, settings_of(options.training, options.data, options.model, options.rewards))
    return _Run(options, data, held_out).train() if done is None else done


class _Run:
    """One run: what its parts share."""

    def __init__(
        self, options: ClassifierGrpoOptions, data: Sequence[Trajectory], held_out: Sequence[Trajectory]
    ) -> None:
        self._options = options
        self._folder = Path(options.training.output_dir)
        self._data = data
        self._held_out = held_out
        self._path = resolve_model(options.model.model)
        self._start = load_start(self._path, options)
        refuse_other_protocol(self._start.info, [*data, *held_out])
        self._passes: Passes = passes_of(self._start, options)
        self._weights = class_weights(options.training.class_weights, data)
        sha256 = sha256_of_files(options.data.train_data)
        self._info = info_of(self._start.info, options.model, sha256, __version__)

    def train(self) -> dict[str, Any]:
        targets = TargetOptions(self._weights, self._options.training.outcome_weight)
        rows, account = training_rows(self._data, self._start.encoder, targets)
        set_seed(self._options.training.seed)
        trainer = self._trainer(rows)
        result = {
            **self._descend(trainer),
            **(dict(trainer.evaluate()) if trainer.eval_dataset is not None else {}),
            "start": _at_start(trainer.state.log_history),
            "processes": trainer.args.world_size,
            "labels": account.as_dict(),
            "class_weights": list(self._weights),
        }
        write_card = partial(write_policy_card, info=self._info, options=self._options, runs=self._data, result=result)
        publish_run(trainer, result, write_card, "Step classifier")
        return result

    def _trainer(self, rows: list[TrainingRow]) -> ClassifierGrpoTrainer:
        training, encoded = self._options.training, [row.row for row in rows]
        model = trainable(self._start, self._path, self._options.model)
        model.config.prm = self._info.as_config()
        model.config.use_cache = False
        rewards = self._options.rewards
        reference = start_log_probs(model, encoded, self._passes) if rewards.beta else None
        states, lower = self._computed_once(model, encoded)
        trainer = ClassifierGrpoTrainer(
            GrpoTask(rewards, reference),
            model=model,
            args=training,
            rows=rows,
            states=states,
            lower=lower,
            validation=self._validation(model),
            pad_token_id=self._passes.pad_token_id,
            processing_class=self._start.tokenizer,
        )
        watch(trainer, self._folder, Curves(self._folder))
        return trainer

    def _computed_once(self, model: Any, rows: Sequence[Row]) -> tuple[Any, Any]:
        states = frozen_states(self._start, model, rows, self._options, self._passes)
        return states, frozen_lower_states(model, rows, self._options, self._passes)

    def _validation(self, model: Any) -> ValidationSet | None:
        if not self._held_out:
            return None
        encode = self._start.encoder.encode
        rows = [(number, row) for number, run in enumerate(self._held_out) for row in encode(run)]
        states, lower = self._computed_once(model, [row for _, row in rows])
        return ValidationSet(self._held_out, rows, StepClassifier.finisher(self._info, "whole"), states, lower)

    def _descend(self, trainer: ClassifierGrpoTrainer) -> dict[str, Any]:
        checkpoint = get_last_checkpoint(str(self._folder)) if trainer.args.resume else None
        if checkpoint is not None:
            # The start was evaluated before it was written.
            trainer.args.eval_on_start = False
        outcome = trainer.train(resume_from_checkpoint=checkpoint)
        return {
            "train_loss": outcome.training_loss,
            "train_tokens_per_second": trainer.trained_tokens / max(outcome.metrics["train_runtime"], 1e-9),
            "updates": outcome.global_step,
        }


def refuse_other_protocol(start: CheckpointInfo, runs: Sequence[Trajectory]) -> None:
    """The data's labels must follow the protocol that the start was trained on; where either names none, any will do.

    Raises:
        ProtocolError: They do not, or there are several.
    """
    protocol = protocol_of(runs)
    if protocol is not None and start.protocol is not None and protocol != start.protocol:
        rule = f"must be that of the start's training labels ({start.protocol})"
        raise ProtocolError.at("train_data: protocol", rule, protocol, "train another start on labels of this protocol")


def _at_start(history: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The held-out metrics before the first update; None where nothing was held out, or the start not evaluated."""
    for entry in history:
        if entry.get("step") == 0 and "eval_step_acc" in entry:
            return {name: value for name, value in entry.items() if name.startswith("eval_")}
    return None
