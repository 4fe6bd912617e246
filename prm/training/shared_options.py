"""Options that every kind of training has, and what they mean together. A stage's own options build on these."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import torch

from prm.data.protocol import parse_protocol
from prm.errors import ConfigError
from prm.models.step_classifier import parse_dtype


@dataclass
class LabelledData:
    """Which labelled runs are trained on and validated on."""

    train_data: list[str] = field(metadata={"help": "Trajectory files to train on."})
    validation_data: list[str] = field(
        default_factory=list,
        metadata={"help": "Trajectory files that choose the checkpoint; none = the last one."},
    )
    reader: str | None = field(default=None, metadata={"help": "A reader's name or module:function; None = detected."})
    protocol: str | None = field(default=None, metadata={"help": "The labels' protocol where records name none."})

    def __post_init__(self) -> None:
        parse_protocol(self.protocol, "protocol")


@dataclass
class WeightOptions:
    """The type of the weights, and LoRA."""

    dtype: str = field(default="float32", metadata={"help": "Type of the weights: float32, bfloat16, float16."})
    attn_implementation: str | None = field(default=None, metadata={"help": "sdpa, eager, flash_attention_2 …"})
    lora_rank: int | None = field(default=None, metadata={"help": "Train LoRA adapters of this rank instead."})
    lora_alpha: int = field(default=32, metadata={"help": "LoRA's scale."})
    lora_dropout: float = field(default=0.0, metadata={"help": "LoRA's dropout."})
    lora_target_modules: list[str] = field(
        default_factory=list, metadata={"help": "Linear modules to adapt; none = all of the backbone."}
    )

    def __post_init__(self) -> None:
        parse_dtype(self.dtype)
        if self.lora_rank is not None and self.lora_rank < 1:
            raise ConfigError.at("lora_rank", "must be at least 1", self.lora_rank, "raise or drop it")


@dataclass
class QuantisedWeightOptions(WeightOptions):
    """With QLoRA as well."""

    load_in_4bit: bool = field(default=False, metadata={"help": "QLoRA: NF4 backbone (GPU, bitsandbytes)."})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.load_in_4bit and self.lora_rank is None:
            raise ConfigError.at("load_in_4bit", "needs LoRA", None, "set lora_rank")


@dataclass
class RunArguments:
    """What is ours in any training's arguments; stands before transformers' or TRL's among the base classes."""

    early_stopping_patience: int | None = field(
        default=None, metadata={"help": "Stop after so many evaluations without a better one."}
    )
    resume: bool = field(default=False, metadata={"help": "Go on from the run folder's last checkpoint."})
    eval_strategy: str = field(default="epoch", metadata={"help": "no, steps or epoch."})
    save_strategy: str = field(default="epoch", metadata={"help": "no, steps, epoch or best."})
    save_total_limit: int | None = field(default=1, metadata={"help": "Checkpoints kept beside the best."})
    load_best_model_at_end: bool = field(default=True, metadata={"help": "Keep the best checkpoint by validation."})
    metric_for_best_model: str | None = field(default="step_acc", metadata={"help": "A validation metric."})
    logging_steps: float = field(default=10, metadata={"help": "Updates between two log lines."})
    report_to: str | None = field(default="none", metadata={"help": "none, tensorboard, wandb, trackio …"})
    disable_tqdm: bool | None = field(default=True, metadata={"help": "Progress is shown by rich instead."})

    def __post_init__(self) -> None:
        # transformers refuses bf16 on a machine without an accelerator unless it is told that the CPU is meant.
        mine: Any = self
        mine.use_cpu = mine.use_cpu or not torch.accelerator.is_available()
        then: Any = super()
        then.__post_init__()


@dataclass
class FrozenStatesArguments:
    """For trainings that read the same rows in every epoch."""

    cache_frozen_states: bool = field(
        default=True, metadata={"help": "Compute what frozen layers give once and keep it in memory."}
    )
    cache_gib: float = field(default=2.0, metadata={"help": "Memory that the output of frozen lower layers may take."})


def refuse_waiting_for_validation(training: Any) -> None:
    """For a run without validation data.

    Raises:
        ConfigError: Something waits for an evaluation that never comes.
    """
    if training.early_stopping_patience is not None:
        raise ConfigError.at("early_stopping_patience", "needs validation_data", None, "give validation files")
    if training.save_strategy == "best":
        raise ConfigError.at("save_strategy", "best needs validation_data", "best", "give validation files")


def is_sharded(training: Any) -> bool:
    """Whether the weights are spread over processes: FSDP, or DeepSpeed's ZeRO-3."""
    deepspeed = getattr(training, "hf_deepspeed_config", None)
    zero = deepspeed is not None and deepspeed.is_zero3()
    return bool(training.fsdp) or os.environ.get("ACCELERATE_USE_FSDP") == "true" or zero


def autocast_dtype(training: Any) -> torch.dtype | None:
    """The type that training computes in where it differs from the weights'."""
    if training.bf16:
        return torch.bfloat16
    return torch.float16 if training.fp16 else None
