"""All of a GRPO run that can be known before a model loads: data, prompts, rewards; wrong settings end here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from transformers import AutoTokenizer

from prm.data.protocol import protocol_of
from prm.errors import ConfigError
from prm.models.fetch import resolve_model
from prm.models.judge.answer import AnswerFormat, compact_form
from prm.models.judge.calibration import UNCALIBRATED
from prm.models.judge.checkpoint import JudgeInfo, read_judge_info
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.models.reachable import reachable
from prm.training.grpo.examples import GrpoExample, build_examples, slot_worth
from prm.training.grpo.options import GrpoDataOptions, GrpoOptions
from prm.training.grpo.terms import reward_terms
from prm.training.judge.evaluation import drawn_runs
from prm.training.judge.prompts import build_prompts, leave_out_long_runs, refuse_long_runs
from prm.training.labelled_runs import read_both
from prm.training.rewards import RewardTerm
from prm.training.run_folder import sha256_of_files
from prm.types import Trajectory
from prm.version import __version__


@dataclass(frozen=True)
class Prepared:
    """All that can be known before a model loads.

    Attributes:
        model_path: The folder of the model.
        tokenizer: Its tokenizer.
        info: How the judge is asked.
        examples: The training runs.
        held_out: The validation runs; empty = none.
        terms: The rewards.
        runs_left_out: Training runs that do not fit the prompt.
    """

    model_path: str
    tokenizer: Any
    info: JudgeInfo
    examples: list[GrpoExample]
    held_out: list[Trajectory]
    terms: list[RewardTerm]
    runs_left_out: int = 0


def prepare(options: GrpoOptions) -> Prepared:
    """Reads the data, asks the model's folder how it is asked, and builds all prompts.

    Raises:
        ConfigError: Options that do not fit. RecordError: A bad record. ProtocolError: Labels of several protocols.
    """
    data = options.data
    runs, held_out = read_both(data)
    _refuse_too_few(runs, options)
    path = resolve_model(options.model.model)
    info = judge_info(path, data, [*runs, *held_out])
    if options.rewards.forced_frame and info.prompt.answer_format != "compact":
        raise ConfigError.at("forced_frame", "needs compact answers", info.prompt.answer_format, "set it to false")
    if not options.rewards.forced_frame and info.calibration != UNCALIBRATED:
        todo = "set it to true, or begin with a judge that is not calibrated"
        raise ConfigError.at("forced_frame", "is needed where the start's verdicts are calibrated", False, todo)
    if options.rewards.outcome_reward_weight and not info.prompt.outcome:
        weight = options.rewards.outcome_reward_weight
        raise ConfigError.at("outcome_reward_weight", "needs ask_outcome", weight, "set ask_outcome: true")
    with reachable(path):
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=options.training.trust_remote_code)
    prompted = build_prompts(runs, JudgePromptBuilder(tokenizer, info.prompt))
    allow = leave_out_long_runs if data.skip_long_runs else refuse_long_runs
    allow(prompted)
    _refuse_too_few(prompted.runs, options)
    worth = slot_worth(options.rewards, prompted.runs)
    form = compact_form(tokenizer, info.calibration) if options.rewards.forced_frame else None
    examples = build_examples(prompted, info.prompt.outcome, form, worth)
    terms = reward_terms(options.rewards, prompted.runs)
    chosen = drawn_runs(held_out, data.validation_runs, options.training.seed)
    return Prepared(path, tokenizer, info, examples, chosen, terms, len(prompted.too_long))


def judge_info(path: str, data: GrpoDataOptions, runs: Sequence[Trajectory]) -> JudgeInfo:
    """How the judge is asked: as it was before, or by default, but for what the options say."""
    stored = read_judge_info(path) or JudgeInfo(JudgePromptConfig())
    said: dict[str, Any] = {
        "max_prompt_tokens": data.max_prompt_tokens,
        "max_tool_tokens": data.max_tool_tokens,
        "answer_format": cast("AnswerFormat | None", data.answer_format),
        "outcome": data.ask_outcome,
    }
    protocol = protocol_of(runs)
    if protocol in ("error_propagation", "independent"):
        said["protocol"] = protocol
    changed = {name: value for name, value in said.items() if value is not None}
    about = {
        "stage": "grpo",
        "base": path,
        "protocol": protocol,
        "split_sha256": sha256_of_files(data.train_data),
        "version": __version__,
    }
    return replace(stored, prompt=replace(stored.prompt, **changed), training=about)


def _refuse_too_few(runs: Sequence[Trajectory], options: GrpoOptions) -> None:
    training = options.training
    prompts = training.generation_batch_size // training.num_generations
    if len(runs) < prompts:
        rule = f"must hold the {prompts} runs that answers are drawn for at a time"
        todo = "lower per_device_train_batch_size or gradient_accumulation_steps"
        raise ConfigError.at("train_data", rule, len(runs), todo)
