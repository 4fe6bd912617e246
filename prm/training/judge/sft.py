"""Supervised fine-tuning of a judge: from options to a run folder with a judge in it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, set_seed
from transformers.trainer_utils import get_last_checkpoint

from prm.data.label_account import LabelAccount
from prm.data.protocol import protocol_of
from prm.models.fetch import resolve_model
from prm.models.judge.answer import compact_form
from prm.models.judge.calibration import Calibration
from prm.models.judge.checkpoint import JudgeInfo
from prm.models.judge.local_judge import JudgeOptions
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.models.reachable import reachable
from prm.training.judge.card import write_judge_card
from prm.training.judge.evaluation import HeldOut
from prm.training.judge.examples import AnswerTargets, JudgeRow, judge_rows, verdict_weights
from prm.training.judge.options import JudgeSftOptions
from prm.training.judge.policy import keep_reference, load_policy, lora_config
from prm.training.judge.preparation import lower_states_of, mean_calibration
from prm.training.judge.prompts import build_prompts, leave_out_long_runs, refuse_long_runs
from prm.training.judge.sft_trainer import JudgeSftTask, JudgeSftTrainer
from prm.training.label_log import log_labels
from prm.training.labelled_runs import read_both
from prm.training.progress import watch
from prm.training.run_folder import begin_run, publish_run, settings_of, sha256_of_files
from prm.training.shared_options import autocast_dtype
from prm.types import Protocol, Trajectory
from prm.version import __version__

_log = logging.getLogger(__name__)


def train_judge(options: JudgeSftOptions) -> dict[str, Any]:
    """Trains a judge and leaves it in the run folder, ready for `LocalJudge.from_pretrained`.

    Every process of a distributed launch calls this. A run that is already complete is not trained again.

    Args:
        options: The resolved options.

    Returns:
        The result as `run.json` holds it: metrics of the best checkpoint, label account, tokens per second.

    Raises:
        ConfigError: Options that do not fit, runs whose steps do not fit the prompt, or a run folder that is taken.
        RecordError: A bad record of the data.
        ProtocolError: Labels of several protocols.
    """
    training_runs, validation_runs = read_both(options.data)
    done = begin_run(options.training, settings_of(options.training, options.data, options.model))
    return _Run(options, training_runs, validation_runs).train() if done is None else done


class _Run:
    """One run: what its parts share."""

    def __init__(
        self, options: JudgeSftOptions, training_runs: Sequence[Trajectory], validation_runs: Sequence[Trajectory]
    ) -> None:
        self._options = options
        self._folder = Path(options.training.output_dir)
        self._validation_runs = validation_runs
        self._model_path = resolve_model(options.model.model)
        with reachable(self._model_path):
            self._tokenizer = AutoTokenizer.from_pretrained(
                self._model_path, trust_remote_code=options.training.trust_remote_code
            )
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._info = self._judge_info(protocol_of([*training_runs, *validation_runs]))
        self._prompted = build_prompts(training_runs, JudgePromptBuilder(self._tokenizer, self._info.prompt))
        allow = leave_out_long_runs if options.data.skip_long_runs else refuse_long_runs
        allow(self._prompted)
        self._class_weights = verdict_weights(options.training.class_weights, self._prompted.runs)

    def train(self) -> dict[str, Any]:
        rows, account = self._rows()
        _log_rows(account, rows)
        set_seed(self._options.training.seed)
        trainer = self._trainer(rows)
        checkpoint = get_last_checkpoint(str(self._folder)) if self._options.training.resume else None
        outcome = trainer.train(resume_from_checkpoint=checkpoint)
        result = {
            "train_loss": outcome.training_loss,
            "train_tokens_per_second": trainer.trained_tokens / max(outcome.metrics["train_runtime"], 1e-9),
            "updates": outcome.global_step,
            **trainer.evaluate(),
            "processes": trainer.args.world_size,
            "distributed_type": trainer.accelerator.distributed_type.value,
            "runs_left_out": len(self._prompted.too_long),
            "labels": account.as_dict(),
            "class_weights": list(self._class_weights),
        }
        runs = self._prompted.runs
        write_card = partial(write_judge_card, info=self._info, options=self._options, runs=runs, result=result)
        publish_run(trainer, result, write_card, "Judge")
        return result

    def _rows(self) -> tuple[list[JudgeRow], LabelAccount]:
        training: Any = self._options.training
        targets = AnswerTargets(
            self._class_weights,
            training.outcome_weight,
            training.loss_on,
            training.closing_weight,
            training.verdict_noise,
            training.seed,
        )
        return judge_rows(self._prompted, self._info.prompt, self._tokenizer, targets)

    def _judge_info(self, named: Protocol | None) -> JudgeInfo:
        data: Any = self._options.data
        prompt = JudgePromptConfig(
            max_prompt_tokens=data.max_prompt_tokens,
            answer_format=data.answer_format,
            # Up to the first error all protocols agree; what follows it has no labels in `first_error_only` data.
            protocol="independent" if named == "independent" else "error_propagation",
            outcome=data.ask_outcome,
            max_tool_tokens=data.max_tool_tokens,
        )
        about = {
            "stage": "judge",
            "base": self._options.model.model,
            "protocol": named,
            "split_sha256": sha256_of_files(data.train_data),
            "version": __version__,
        }
        return JudgeInfo(prompt, training=about, calibration=Calibration(self._options.training.verdict_temperature))

    def _trainer(self, rows: list[JudgeRow]) -> JudgeSftTrainer:
        training = self._options.training
        model = load_policy(self._model_path, self._options.model, training.trust_remote_code)
        if self._options.model.lora_rank is not None and (Path(self._model_path) / "adapter_config.json").is_file():
            # An adapter stands on weights that can be loaded: those of its base with the earlier adapter in them.
            keep_reference(model, self._folder / "base", training.process_index == 0)
        lower = lower_states_of(model, rows, self._options.model, training, self._tokenizer.pad_token_id or 0)
        choices = self._choices()
        if choices is not None and training.calibrate_verdicts:
            self._info = replace(self._info, calibration=mean_calibration(model, rows, choices, training, lower))
        trainer = JudgeSftTrainer(
            JudgeSftTask(rows, self._info, self._held_out(), choices, lower),
            model=model,
            args=training,
            processing_class=self._tokenizer,
            peft_config=lora_config(model, self._options.model),
        )
        watch(trainer, self._folder)
        return trainer

    def _choices(self) -> tuple[int, ...] | None:
        return compact_form(self._tokenizer).verdict_ids if self._options.training.loss_on == "verdicts" else None

    def _held_out(self) -> HeldOut | None:
        if not self._validation_runs:
            return None
        training = self._options.training
        options = JudgeOptions(
            max_answer_tokens=training.eval_answer_tokens,
            tokens_per_batch=training.eval_tokens_per_batch,
            autocast=autocast_dtype(training),
        )
        return HeldOut(self._validation_runs, options)


def _log_rows(account: LabelAccount, rows: Sequence[JudgeRow]) -> None:
    log_labels(account)
    longest = max(len(row.prompt_ids) + len(row.answer_ids) for row in rows)
    _log.info("%d rows, the longest %d tokens; nothing is cut", len(rows), longest)
