"""LoRA on a step classifier: adapters on the backbone, the head trained in full and saved in the adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peft import LoraConfig, TaskType, get_peft_model, prepare_model_for_kbit_training
from torch import nn

from prm.models.site_head import head_name


def with_lora(
    model: Any, rank: int, alpha: int, dropout: float, target_modules: Sequence[str], top_layers: int | None
) -> Any:
    """The model wrapped by peft.

    Args:
        model: A step classifier.
        rank: LoRA's rank; alpha: its scale; dropout: its dropout.
        target_modules: Names of linear modules to adapt; empty = all of the backbone ("all-linear" would wrap the
            head as well, and a wrapped head cannot be saved in full).
        top_layers: Adapt only so many of the top layers; None = all.
    """
    if getattr(model, "is_loaded_in_4bit", False):
        model = prepare_model_for_kbit_training(model)
    layers = model.config.num_hidden_layers
    config = LoraConfig(
        task_type=TaskType.TOKEN_CLS,
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules=sorted(target_modules) or linear_names(model.base_model),
        modules_to_save=[head_name(model)],
        layers_to_transform=None if top_layers is None else list(range(layers - top_layers, layers)),
    )
    return get_peft_model(model, config)


def linear_names(backbone: nn.Module) -> list[str]:
    """The last parts of the names of the backbone's linear modules, e.g. "q_proj"."""
    kinds = {type(module).__name__ for module in backbone.modules()}
    known = {"Linear", "Conv1D", "Linear4bit", "Linear8bitLt"} & kinds
    return sorted(
        {name.rsplit(".", 1)[-1] for name, module in backbone.named_modules() if type(module).__name__ in known}
    )
