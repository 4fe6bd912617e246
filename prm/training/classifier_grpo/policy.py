"""The policy at its start: a supervised checkpoint, what of it is trained, and what can be computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from prm.data.encode import Row
from prm.errors import ConfigError
from prm.models.backbone import freeze_below
from prm.models.checkpoint import CheckpointInfo
from prm.models.lora import with_lora
from prm.models.lower_states import LowerStates
from prm.models.scoring import site_probabilities
from prm.models.states import StatesCache, backbone_identity, cached_site_states, site_states
from prm.models.step_classifier import DTYPES, StepClassifier
from prm.training.classifier_grpo.options import ClassifierGrpoOptions, PolicyModelOptions
from prm.training.frozen_layers import Passes, lower_states_within, may_cache_lower_states
from prm.training.shared_options import autocast_dtype

_LEAST = 1e-12
"""A probability of the start is taken to be at least this."""


def load_start(path: str, options: ClassifierGrpoOptions) -> StepClassifier:
    """The checkpoint that GRPO starts from, on the training's device.

    Raises:
        MissingFileError: There is no such folder. ModelError: Not a step classifier of prm.
    """
    choice = options.model
    return StepClassifier.from_pretrained(
        path,
        device=options.training.device,
        dtype=choice.dtype,
        attn_implementation=choice.attn_implementation,
        trust_remote_code=choice.trust_remote_code,
    )


def trainable(start: StepClassifier, path: str, choice: PolicyModelOptions) -> Any:
    """The start's model with what is to be trained unfrozen; an adapter goes on as the same adapter.

    Raises:
        ConfigError: The start is an adapter and something else is to be trained.
    """
    model = start.model
    if (Path(path) / "adapter_config.json").is_file():
        for name in ("lora_rank", "trainable_layers"):
            if getattr(choice, name) is not None:
                todo = "drop it; the adapter itself is trained"
                raise ConfigError.at(
                    name, "must be left out where the start is an adapter", getattr(choice, name), todo
                )
        model.set_adapter(model.active_adapter)
        return model
    if choice.lora_rank is not None:
        how = (choice.lora_rank, choice.lora_alpha, choice.lora_dropout, choice.lora_target_modules)
        return with_lora(model, *how, choice.trainable_layers)
    if choice.trainable_layers is not None:
        freeze_below(model, choice.trainable_layers)
    return model


def info_of(start: CheckpointInfo, choice: PolicyModelOptions, split_sha256: str, version: str) -> CheckpointInfo:
    """What the trained checkpoint says of itself: read as the start is, trained on other data."""
    frozen = start.frozen_backbone if choice.head_only else None
    return replace(start, split_sha256=split_sha256, version=version, frozen_backbone=frozen)


def passes_of(start: StepClassifier, options: ClassifierGrpoOptions) -> Passes:
    """As training passes them."""
    training = options.training
    return Passes(training.tokens_per_batch, start.pad_token_id, autocast_dtype(training))


def start_log_probs(model: Any, rows: Sequence[Row], passes: Passes) -> list[torch.Tensor]:
    """`[rows][S, 3] float32`: the start's log-probabilities, the reference of the KL divergence.

    Computed once, from the model before training: no second model is kept. Every process computes all of them.
    """
    model.eval()
    found = site_probabilities(model, rows, passes.tokens_per_batch, passes.pad_token_id, autocast=passes.autocast)
    return [torch.from_numpy(found[number]).clamp(min=_LEAST).log().float() for number in range(len(rows))]


def frozen_states(
    start: StepClassifier, model: Any, rows: Sequence[Row], options: ClassifierGrpoOptions, passes: Passes
) -> list[torch.Tensor] | None:
    """The head's inputs, computed once, where nothing below it is trained.

    Raises:
        ConfigError: A cache on disk is asked for, and the start's backbone is not the base model's.
    """
    choice = options.model
    if not (choice.head_only and options.training.cache_frozen_states):
        return None
    how = (passes.tokens_per_batch, passes.pad_token_id, passes.autocast)
    if choice.states_cache is None:
        return site_states(model, rows, *how)
    if start.info.frozen_backbone is None:
        rule = "needs a start whose backbone was frozen (trainable_layers: 0)"
        raise ConfigError.at("states_cache", rule, choice.model, "drop it, or train such a start")
    identity = backbone_identity(start.info.frozen_backbone, DTYPES[choice.dtype], passes.autocast)
    return cached_site_states(model, rows, *how, StatesCache(Path(choice.states_cache), identity))


def frozen_lower_states(
    model: Any, rows: Sequence[Row], options: ClassifierGrpoOptions, passes: Passes
) -> LowerStates | None:
    """The output of the frozen lower layers for every row; None where there are none or they take too much memory."""
    training, choice = options.training, options.model
    if not may_cache_lower_states(model, training, choice.trainable_layers, choice.lora_rank):
        return None
    return lower_states_within(training.cache_gib, model, rows, passes)
