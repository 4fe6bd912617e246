"""The options of `prm train judge`: a flat YAML recipe and the command line, parsed once, checked once.

Every option of TRL's ``SFTConfig`` is one of ours as well. Knows nothing of data or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from trl import SFTConfig

from prm.errors import ConfigError
from prm.models.judge.answer import AnswerFormat
from prm.training.judge.examples import LossOn
from prm.training.recipe import Recipe
from prm.training.shared_options import (
    FrozenStatesArguments,
    LabelledData,
    QuantisedWeightOptions,
    RunArguments,
    is_sharded,
    refuse_waiting_for_validation,
)


@dataclass
class JudgeDataOptions(LabelledData):
    """What is trained on, and how the judge is asked."""

    max_prompt_tokens: int = field(default=4096, metadata={"help": "Tokens of one prompt."})
    skip_long_runs: bool = field(
        default=False, metadata={"help": "Leave out training runs whose steps do not fit max_prompt_tokens."}
    )
    max_tool_tokens: int | None = field(default=None, metadata={"help": "Tokens one tool result may keep."})
    answer_format: str = field(default="compact", metadata={"help": "compact (verdicts) or json (with reasons)."})
    ask_outcome: bool = field(default=True, metadata={"help": "Ask for a verdict on the whole run as well."})

    def __post_init__(self) -> None:
        if self.answer_format not in get_args(AnswerFormat):
            raise ConfigError.at("answer_format", "must be compact or json", self.answer_format, "change it")
        super().__post_init__()


@dataclass
class JudgeModelOptions(QuantisedWeightOptions):
    """Which model, and how much of it is trained."""

    model: str = field(default="smollm2-135m", metadata={"help": "Alias, folder or hub id of a causal model."})
    num_layers: int | None = field(default=None, metadata={"help": "Keep only the first so many layers."})
    trainable_layers: int | None = field(default=None, metadata={"help": "Train only so many top layers; None = all."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trainable_layers is not None and self.trainable_layers < 1:
            raise ConfigError.at("trainable_layers", "must be at least 1", self.trainable_layers, "raise or drop it")


_OF_CHOICES = {
    "verdict_temperature": 1.0,
    "calibrate_verdicts": False,
    "closing_weight": 0.0,
    "verdict_noise": 0.0,
}
"""Options that need `loss_on: verdicts`, and their values where they do nothing."""


@dataclass
class JudgeSftArguments(FrozenStatesArguments, RunArguments, SFTConfig):  # type: ignore[misc,unused-ignore]
    """TRL's SFTConfig with what a judge needs, and defaults that suit it."""

    output_dir: str = field(default="runs/judge", metadata={"help": "Folder of the run."})
    loss_on: str = field(
        default="answer",
        metadata={"help": "answer (all of it), or verdicts (compact answers only: which of the three)."},
    )
    verdict_temperature: float = field(
        default=1.0,
        metadata={
            "help": "What the logits of the three verdicts are divided by, in training and in every later use (loss_on "
            "verdicts only). A base model prefers one of three words by many nats; 10 begins near equal chances."
        },
    )
    calibrate_verdicts: bool = field(
        default=False,
        metadata={
            "help": "Subtract from the three verdicts' logits, in training and in every later use, their means over 16 "
            "training prompts at the start (loss_on verdicts only)."
        },
    )
    closing_weight: float = field(
        default=0.0,
        metadata={
            "help": "Weight of each step's verdict where the prompt closes the step, as well (loss_on verdicts only): "
            "what a step was is learnt there, and the answer has to find it."
        },
    )
    verdict_noise: float = field(
        default=0.0,
        metadata={
            "help": "Chance that a verdict is shown to those after it as one drawn at random (loss_on verdicts only). "
            "Labels of a run resemble each other: a judge that sees the true ones before its own learns to copy them."
        },
    )
    class_weights: str | None = field(
        default=None,
        metadata={"help": "inverse_sqrt, balanced, or three numbers for -1,0,+1 such as 1,2,1; None = equal."},
    )
    outcome_weight: float = field(default=1.0, metadata={"help": "Weight of the outcome's verdict; 0 = untrained."})
    eval_tokens_per_batch: int = field(default=8192, metadata={"help": "Padded tokens judged at once in evaluation."})
    eval_answer_tokens: int = field(default=1024, metadata={"help": "Tokens of one json answer in evaluation."})
    max_length: int | None = field(default=None, metadata={"help": "Must stay empty: max_prompt_tokens is the budget."})
    learning_rate: float = field(default=2e-4, metadata={"help": "Peak learning rate."})
    per_device_train_batch_size: int = field(default=1, metadata={"help": "Runs of one forward pass."})
    gradient_accumulation_steps: int = field(default=8, metadata={"help": "Forward passes of one update."})
    bf16: bool | None = field(default=False, metadata={"help": "Compute in bfloat16 (autocast)."})
    gradient_checkpointing: bool | None = field(default=None, metadata={"help": "Less memory, more computing."})
    remove_unused_columns: bool | None = field(default=False, metadata={"help": "The loss reads the columns."})
    greater_is_better: bool | None = field(default=True, metadata={"help": "Whether more of that metric is better."})

    def __post_init__(self) -> None:
        if self.loss_on not in get_args(LossOn):
            raise ConfigError.at("loss_on", f"must be one of {', '.join(get_args(LossOn))}", self.loss_on, "change it")
        if self.max_length is not None:
            todo = "leave it out; max_prompt_tokens is the budget"
            raise ConfigError.at("max_length", "would cut the verdicts off long runs", self.max_length, todo)
        for name in ("packing", "padding_free", "assistant_only_loss"):
            if getattr(self, name):
                raise ConfigError.at(name, "is not for rows with verdict weights", True, "leave it out")
        if self.loss_type not in ("nll", "chunked_nll") or self.label_smoothing_factor:
            raise ConfigError.at("loss_type", "must be nll, without label smoothing", self.loss_type, "leave it out")
        self._check_choice()
        if self.outcome_weight < 0:
            raise ConfigError.at("outcome_weight", "must be at least 0", self.outcome_weight, "raise it")
        super().__post_init__()

    def _check_choice(self) -> None:
        value = self.verdict_temperature
        if not 0 < value < float("inf"):
            raise ConfigError.at("verdict_temperature", "must be above 0", value, "change it")
        if self.closing_weight < 0:
            raise ConfigError.at("closing_weight", "must be at least 0", self.closing_weight, "raise it")
        if not 0 <= self.verdict_noise <= 1:
            raise ConfigError.at("verdict_noise", "must be a chance, 0 to 1", self.verdict_noise, "change it")
        for name, unused in _OF_CHOICES.items():
            if getattr(self, name) != unused and self.loss_on != "verdicts":
                todo = "set loss_on: verdicts, or leave it out"
                raise ConfigError.at(name, "needs a choice among three verdicts", getattr(self, name), todo)


@dataclass(frozen=True)
class JudgeSftOptions:
    """Everything that one run of `prm train judge` needs."""

    data: JudgeDataOptions
    model: JudgeModelOptions
    training: JudgeSftArguments


RECIPE = Recipe("judge", "prm train judge", (JudgeDataOptions, JudgeModelOptions, JudgeSftArguments))


def parse_judge_recipe(recipe: Path | None, overrides: Sequence[str]) -> JudgeSftOptions:
    """Reads a flat YAML recipe (``stage: judge``), appends the user's own options, and parses both once.

    Args:
        recipe: The YAML file, or None.
        overrides: Options as on a command line; they win.

    Raises:
        ConfigError: An unknown key, a wrong type, a missing key, or values that do not go together.
    """
    options = JudgeSftOptions(*RECIPE.parse(recipe, overrides))
    _check_together(options)
    return options


def _check_together(options: JudgeSftOptions) -> None:
    training = options.training
    if options.data.answer_format == "json":
        for name, plain in (("loss_on", "answer"), ("class_weights", None)):
            if getattr(training, name) != plain:
                raise ConfigError.at(name, "needs compact answers", getattr(training, name), "leave it out")
    if training.outcome_weight > 0 and not options.data.ask_outcome:
        training.outcome_weight = 0.0
    if options.data.validation_data:
        _check_whole_weights(training)
    else:
        refuse_waiting_for_validation(training)


def _check_whole_weights(training: JudgeSftArguments) -> None:
    if is_sharded(training):
        rule = "is judged with whole weights in each process (no FSDP, no ZeRO-3)"
        raise ConfigError.at("validation_data", rule, "sharded weights", "use DDP, or judge afterwards")
