"""Supervised fine-tuning of a step classifier: from options to a run folder with a model in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, set_seed
from transformers.trainer_utils import get_last_checkpoint

from prm.data.encode import Encoder, EncodingConfig, Row
from prm.data.protocol import protocol_of
from prm.models.backbone import LoadOptions, freeze_below, load_token_classifier
from prm.models.checkpoint import CheckpointInfo
from prm.models.fetch import resolve_model
from prm.models.lora import with_lora
from prm.models.lower_states import LowerStates
from prm.models.mixed_head import StepReader, load_step_reader, parse_reads
from prm.models.reachable import reachable
from prm.models.states import StatesCache, backbone_identity, cached_site_states, site_states
from prm.models.step_classifier import DTYPES, StepClassifier
from prm.training.arguments import SupervisedOptions
from prm.training.frozen_layers import Passes, lower_states_within, may_cache_lower_states
from prm.training.head_fit import candidates_of, choose_candidate, fit_linear_head, install, sites_of
from prm.training.label_log import log_labels
from prm.training.labelled_runs import read_both
from prm.training.model_card import write_model_card
from prm.training.progress import watch
from prm.training.run_folder import begin_run, publish_run, settings_of, sha256_of_files
from prm.training.shared_options import autocast_dtype
from prm.training.step_trainer import StepTrainer, ValidationSet
from prm.training.targets import TargetOptions, TrainingRow, class_weights, training_rows
from prm.types import Trajectory
from prm.version import __version__


def train_supervised(options: SupervisedOptions) -> dict[str, Any]:
    """Trains a step classifier and leaves it in the run folder, ready for `StepClassifier.from_pretrained`.

    Every process of a distributed launch calls this. A run that is already complete is not trained again.

    Args:
        options: The resolved options.

    Returns:
        The result as `run.json` holds it: metrics of the best checkpoint, label account, tokens per second.

    Raises:
        ConfigError: Options that do not fit, or a run folder that is taken.
        RecordError: A bad record of the data.
        ProtocolError: Labels of several protocols.
    """
    training_runs, validation_runs = read_both(options.data)
    done = begin_run(options.training, settings_of(options.training, options.data, options.model))
    return _Run(options, training_runs, validation_runs).train() if done is None else done


class _Run:
    """One run: what its parts share."""

    def __init__(
        self,
        options: SupervisedOptions,
        training_runs: Sequence[Trajectory],
        validation_runs: Sequence[Trajectory],
    ) -> None:
        self._options = options
        self._folder = Path(options.training.output_dir)
        self._training_runs = training_runs
        self._validation_runs = validation_runs
        self._model_path = resolve_model(options.model.model)
        with reachable(self._model_path):
            self._tokenizer = AutoTokenizer.from_pretrained(
                self._model_path, trust_remote_code=options.model.trust_remote_code
            )
        self._encoder = Encoder(self._tokenizer, _encoding(options))
        weights = class_weights(options.training.class_weights, training_runs)
        self._targets = TargetOptions(weights, options.training.outcome_weight, options.training.label_smoothing_factor)
        self._info = self._checkpoint_info()

    def train(self) -> dict[str, Any]:
        rows, account = training_rows(self._training_runs, self._encoder, self._targets)
        log_labels(account)
        set_seed(self._options.training.seed)
        model = self._model()
        fitted = self._fit(model, rows) if self._options.model.head_l2 else {}
        trainer = self._trainer(model, rows)
        result = {
            **(fitted or self._descend(trainer)),
            **_final_metrics(trainer),
            "processes": trainer.args.world_size,
            "distributed_type": trainer.accelerator.distributed_type.value,
            "labels": account.as_dict(),
            "class_weights": list(self._targets.class_weights),
        }
        write_card = partial(
            write_model_card, info=self._info, options=self._options, runs=self._training_runs, result=result
        )
        publish_run(trainer, result, write_card, "Step classifier")
        return result

    def _descend(self, trainer: StepTrainer) -> dict[str, Any]:
        """Gradient descent from the last checkpoint on."""
        checkpoint = get_last_checkpoint(str(self._folder)) if self._options.training.resume else None
        outcome = trainer.train(resume_from_checkpoint=checkpoint)
        return {
            "train_loss": outcome.training_loss,
            "train_tokens_per_second": trainer.trained_tokens / max(outcome.metrics["train_runtime"], 1e-9),
            "updates": outcome.global_step,
        }

    def _fit(self, model: StepReader, rows: list[TrainingRow]) -> dict[str, Any]:
        """The head's optimum on the frozen states; reads and penalty by inner folds."""
        choice = self._options.model
        encoded = [row.row for row in rows]
        training = self._options.training
        states = self._states(model, encoded)
        if states is None:
            states = site_states(model, encoded, training.tokens_per_batch, self._pad, self._autocast)
        sites = sites_of(rows, states, [run.query for run in self._training_runs])
        columns = [model.columns(parse_reads(text)) for text in choice.head_reads]
        candidates = candidates_of(choice.head_reads, columns, choice.head_l2)
        chosen = choose_candidate(sites, candidates, model.widths, choice.head_folds)
        kept = torch.tensor(chosen.columns)
        head = fit_linear_head(sites.features[:, kept], sites.targets, chosen.l2, model.widths[kept])
        model.keep_reads(parse_reads(chosen.reads))
        install(model, head)
        return {"head_reads": chosen.reads, "head_l2": chosen.l2}

    def _model(self) -> Any:
        choice = self._options.model
        load = LoadOptions(
            DTYPES[choice.dtype], choice.attn_implementation, choice.trust_remote_code, choice.load_in_4bit
        )
        if choice.head == "mixed":
            reads = list(dict.fromkeys(read for text in choice.head_reads for read in parse_reads(text)))
            model = load_step_reader(self._model_path, reads, choice.head_extras, choice.head_dropout, load)
        else:
            model = load_token_classifier(self._model_path, choice.num_layers, load, choice.head_dropout)
        model.config.prm = self._info.as_config()
        model.config.use_cache = False
        if choice.lora_rank is not None:
            return with_lora(
                model,
                choice.lora_rank,
                choice.lora_alpha,
                choice.lora_dropout,
                choice.lora_target_modules,
                choice.trainable_layers,
            )
        if choice.trainable_layers is not None:
            freeze_below(model, choice.trainable_layers)
        return model

    def _trainer(self, model: Any, rows: list[TrainingRow]) -> StepTrainer:
        training = self._options.training
        trainer = StepTrainer(
            model=model,
            args=training,
            rows=rows,
            states=self._states(model, [row.row for row in rows]),
            lower=self._lower_states(model, [row.row for row in rows]),
            validation=self._validation(model),
            pad_token_id=self._pad,
            processing_class=self._tokenizer,
        )
        watch(trainer, self._folder)
        return trainer

    @property
    def _pad(self) -> int:
        return self._tokenizer.pad_token_id or 0

    def _validation(self, model: Any) -> ValidationSet | None:
        if not self._validation_runs:
            return None
        rows = [(n, row) for n, run in enumerate(self._validation_runs) for row in self._encoder.encode(run)]
        finish = StepClassifier.finisher(self._info, "whole")
        encoded = [row for _, row in rows]
        states, lower = self._states(model, encoded), self._lower_states(model, encoded)
        return ValidationSet(self._validation_runs, rows, finish, states, lower)

    @property
    def _frozen(self) -> bool:
        return self._options.model.trainable_layers == 0 and self._options.model.lora_rank is None

    def _states(self, model: Any, rows: Sequence[Row]) -> list[torch.Tensor] | None:
        """The backbone's features, computed once, where nothing below the head is trained."""
        training, folder = self._options.training, self._options.model.states_cache
        if not (self._frozen and training.cache_frozen_states):
            return None
        model.to(training.device)
        how = (training.tokens_per_batch, self._pad, self._autocast)
        if folder is None:
            return site_states(model, rows, *how)
        identity = backbone_identity(self._model_path, DTYPES[self._options.model.dtype], self._autocast)
        return cached_site_states(model, rows, *how, StatesCache(Path(folder), identity))

    def _lower_states(self, model: Any, rows: Sequence[Row]) -> LowerStates | None:
        """The output of the frozen lower layers for every row; None where that does not pay."""
        training, choice = self._options.training, self._options.model
        repeated = training.num_train_epochs > 1 and training.max_steps < 0
        if not (repeated and may_cache_lower_states(model, training, choice.trainable_layers, choice.lora_rank)):
            return None
        model.to(training.device)
        passes = Passes(training.tokens_per_batch, self._pad, self._autocast)
        return lower_states_within(training.cache_gib, model, rows, passes)

    @property
    def _autocast(self) -> torch.dtype | None:
        return autocast_dtype(self._options.training)

    def _checkpoint_info(self) -> CheckpointInfo:
        runs = self._training_runs
        outcome = self._options.training.outcome_weight > 0 and any(run.final_label is not None for run in runs)
        return CheckpointInfo(
            encoding=self._encoder.config,
            protocol=protocol_of([*runs, *self._validation_runs]),
            outcome=outcome,
            split_sha256=sha256_of_files(self._options.data.train_data),
            version=__version__,
            frozen_backbone=self._model_path if self._frozen else None,
        )


def _encoding(options: SupervisedOptions) -> EncodingConfig:
    return EncodingConfig(max_tokens=options.data.max_tokens, max_tool_tokens=options.data.max_tool_tokens)


def _final_metrics(trainer: StepTrainer) -> dict[str, Any]:
    """The validation metrics of the weights that are kept."""
    if trainer.eval_dataset is None:
        return {}
    return dict(trainer.evaluate())
