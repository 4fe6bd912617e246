"""The options of `prm train supervised`: a flat YAML recipe and the command line, parsed once, checked once.

Every option of ``transformers.TrainingArguments`` is one of ours as well. Knows nothing of data or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import TrainingArguments

from prm.data.budget import MIN_BUDGET_TOKENS
from prm.errors import ConfigError
from prm.training.recipe import Recipe
from prm.training.shared_options import (
    FrozenStatesArguments,
    LabelledData,
    QuantisedWeightOptions,
    RunArguments,
    refuse_waiting_for_validation,
)

_HEADS = ("linear", "mixed")


@dataclass
class DataOptions(LabelledData):
    """What is trained on, and how a run is read."""

    max_tokens: int = field(default=1536, metadata={"help": "Tokens of one row."})
    max_tool_tokens: int | None = field(default=None, metadata={"help": "Tokens one tool result may keep."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_tokens < MIN_BUDGET_TOKENS:
            raise ConfigError.at("max_tokens", f"must be at least {MIN_BUDGET_TOKENS}", self.max_tokens, "raise it")


@dataclass
class ModelOptions(QuantisedWeightOptions):
    """Which backbone, how much of it is trained, and its head."""

    model: str = field(default="smollm2-135m", metadata={"help": "Alias, folder or hub id of a causal model."})
    num_layers: int | None = field(default=None, metadata={"help": "Keep only the first so many layers."})
    trainable_layers: int | None = field(
        default=None, metadata={"help": "Train only so many top layers (0 = the head alone); None = all."}
    )
    head: str = field(default="linear", metadata={"help": "linear (plain Hugging Face) or mixed (several layers)."})
    head_reads: list[str] = field(
        default_factory=list,
        metadata={"help": "What the mixed head reads, e.g. site:18+text:12; of several the inner folds choose."},
    )
    head_extras: bool = field(default=True, metadata={"help": "The mixed head also reads position and has-call."})
    head_dropout: float = field(default=0.0, metadata={"help": "Dropout before the head (a fitted head has none)."})
    head_l2: list[float] = field(
        default_factory=list,
        metadata={"help": "Fit a frozen backbone's head by L-BFGS under this penalty; of several inner folds choose."},
    )
    head_folds: int = field(default=5, metadata={"help": "Inner folds, by query, that choose among settings."})
    states_cache: str | None = field(
        default=None, metadata={"help": "Folder that keeps a frozen backbone's states for the next run."}
    )
    device: str | None = field(default=None, metadata={"help": "cpu or cuda; None = the GPU where there is one."})
    trust_remote_code: bool = field(default=False, metadata={"help": "Run code of the model's repository."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.head not in _HEADS:
            raise ConfigError.at("head", f"must be one of {', '.join(_HEADS)}", self.head, "change it")
        if (self.head == "mixed") != bool(self.head_reads):
            raise ConfigError.at("head_reads", "goes with head: mixed", self.head_reads, "set both or neither")
        if self.head == "mixed" and self.num_layers is not None:
            raise ConfigError.at("num_layers", "is decided by head_reads", self.num_layers, "leave it out")
        if self.head == "mixed" and self.lora_rank is not None:
            raise ConfigError.at("head", "is linear where LoRA is trained", self.head, "drop one of them")
        self._check_fitted_head()
        if self.device not in (None, "cpu", "cuda"):
            raise ConfigError.at("device", "must be cpu or cuda", self.device, "change it")

    def _check_fitted_head(self) -> None:
        if self.head_l2 and (self.trainable_layers != 0 or self.head != "mixed"):
            todo = "set head: mixed and trainable_layers: 0"
            raise ConfigError.at("head_l2", "fits the mixed head of a frozen backbone", self.head_l2, todo)
        if len(self.head_reads) > 1 and not self.head_l2:
            raise ConfigError.at("head_reads", "of several only a fitted head chooses", self.head_reads, "set head_l2")
        if any(not 0 <= penalty < float("inf") for penalty in self.head_l2):
            raise ConfigError.at("head_l2", "must be at least 0", self.head_l2, "change it")


@dataclass
class StepTrainingArguments(FrozenStatesArguments, RunArguments, TrainingArguments):  # type: ignore[misc,unused-ignore]
    """TrainingArguments with what a step classifier needs, and defaults that suit it."""

    output_dir: str = field(default="runs/step-classifier", metadata={"help": "Folder of the run."})
    tokens_per_batch: int = field(default=4096, metadata={"help": "Padded tokens of one batch on one device."})
    class_weights: str | None = field(
        default=None, metadata={"help": "balanced, or three numbers for -1,0,+1 such as 1,2,1; None = equal."}
    )
    outcome_weight: float = field(default=1.0, metadata={"help": "Weight of the outcome site's loss; 0 = untrained."})
    learning_rate: float = field(default=2e-4, metadata={"help": "Peak learning rate."})

    def __post_init__(self) -> None:
        if self.tokens_per_batch < 1:
            raise ConfigError.at("tokens_per_batch", "must be at least 1", self.tokens_per_batch, "raise it")
        super().__post_init__()


@dataclass(frozen=True)
class SupervisedOptions:
    """Everything that one run of `prm train supervised` needs."""

    data: DataOptions
    model: ModelOptions
    training: StepTrainingArguments


RECIPE = Recipe("supervised", "prm train supervised", (DataOptions, ModelOptions, StepTrainingArguments))


def parser() -> Any:
    """The argument parser of all options (also prints their help)."""
    return RECIPE.parser()


def parse_recipe(recipe: Path | None, overrides: Sequence[str]) -> SupervisedOptions:
    """Reads a flat YAML recipe (``stage: supervised`` or no stage), appends the user's own options, and parses both.

    Args:
        recipe: The YAML file, or None.
        overrides: Options as on a command line; they win.

    Raises:
        ConfigError: An unknown key, a wrong type, a missing key, another stage's recipe, or values that do not go
            together.
    """
    parsed = RECIPE.parse(recipe, overrides)
    if parsed[1].device == "cpu" and not parsed[2].use_cpu:
        # The Trainer's own word for it; it must be there when its arguments choose their device.
        parsed = RECIPE.parse(recipe, [*overrides, "--use_cpu=true"])
    options = SupervisedOptions(*parsed)
    options.training.remove_unused_columns = False
    if not options.data.validation_data:
        refuse_waiting_for_validation(options.training)
    return options
