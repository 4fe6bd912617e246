"""The judge that is to be trained: loaded, cut, frozen below, or with LoRA adapters; and its reference for KL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peft import LoraConfig, TaskType
from peft.tuners.tuners_utils import BaseTunerLayer

from prm.models.backbone import LoadOptions, freeze_below
from prm.models.judge.checkpoint import load_judge_model
from prm.models.lora import linear_names
from prm.models.step_classifier import DTYPES
from prm.training.judge.options import JudgeModelOptions


def load_policy(path: str, choice: JudgeModelOptions, trust_remote_code: bool) -> Any:
    """The causal model to train; an adapter that it came with is merged into its weights.

    Args:
        path: Folder or hub id.
        choice: How it is loaded and what of it is trained.
        trust_remote_code: As in transformers.
    """
    load = LoadOptions(DTYPES[choice.dtype], choice.attn_implementation, trust_remote_code, choice.load_in_4bit)
    model = load_judge_model(path, load, choice.num_layers)
    merge_adapters(model)
    if choice.trainable_layers is not None and choice.lora_rank is None:
        freeze_below(model, choice.trainable_layers)
    return model


def merge_adapters(model: Any) -> None:
    """Replaces each layer that has adapters by a plain one with the same output."""
    adapted = [(name, module) for name, module in model.named_modules() if isinstance(module, BaseTunerLayer)]
    for name, module in adapted:
        module.merge(safe_merge=True)  # type: ignore[operator, unused-ignore]
        parent, _, attribute = name.rpartition(".")
        setattr(model.get_submodule(parent), attribute, module.get_base_layer())
    if adapted:
        model.requires_grad_(True)
        if hasattr(model, "peft_config"):
            del model.peft_config
        model._hf_peft_config_loaded = False


def lora_config(model: Any, choice: JudgeModelOptions) -> LoraConfig | None:
    """What TRL wraps the model by; None where all weights are trained."""
    if choice.lora_rank is None:
        return None
    layers = model.config.num_hidden_layers
    top = choice.trainable_layers
    return LoraConfig(
        task_type=TaskType.CAUSAL_LM,
        r=choice.lora_rank,
        lora_alpha=choice.lora_alpha,
        lora_dropout=choice.lora_dropout,
        target_modules=sorted(choice.lora_target_modules) or linear_names(model.base_model),
        layers_to_transform=None if top is None else list(range(layers - top, layers)),
    )


def keep_reference(model: Any, folder: Path, writes: bool) -> None:
    """Saves the start weights, and makes the model name them as its origin.

    TRL loads the reference of KL from there. The folder or hub id that a model was loaded from may hold more layers,
    or weights without a merged adapter.

    Args:
        model: The model before training.
        folder: Where to.
        writes: Whether this process writes.
    """
    if writes and not (folder / "config.json").is_file():
        model.save_pretrained(folder)
    model.config._name_or_path = str(folder)
    model.name_or_path = str(folder)
