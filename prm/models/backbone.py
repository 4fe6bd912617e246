"""Loads a causal backbone as a step classifier: its first k layers, a head in float32, lower layers frozen."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForTokenClassification

from prm.errors import ConfigError, ModelError
from prm.models.layers import layers_of
from prm.models.reachable import reachable
from prm.models.site_head import CLASSES, head_name, with_sites
from prm.types import LABELS

LABEL_NAMES = {i: f"{label:+d}" if label > 0 else str(label) for i, label in enumerate(LABELS)}
"""``id2label`` of every checkpoint: {0: "-1", 1: "0", 2: "+1"}."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How weights are loaded.

    Attributes:
        dtype: torch type of the backbone; the head is float32 always.
        attn_implementation: As in transformers ("sdpa", "eager", "flash_attention_2" …); None = its choice.
        trust_remote_code: Whether code of the model's repository may run.
        load_in_4bit: Quantise the backbone to NF4 (QLoRA; needs bitsandbytes and a GPU).
    """

    dtype: torch.dtype = torch.float32
    attn_implementation: str | None = None
    trust_remote_code: bool = False
    load_in_4bit: bool = False

    def keywords(self) -> dict[str, Any]:
        """The arguments of ``from_pretrained``."""
        keywords: dict[str, Any] = {"dtype": self.dtype, "trust_remote_code": self.trust_remote_code}
        if self.attn_implementation is not None:
            keywords["attn_implementation"] = self.attn_implementation
        if self.load_in_4bit:
            keywords["quantization_config"] = _four_bit(self.dtype)
        return keywords


def _four_bit(dtype: torch.dtype) -> Any:
    try:
        import bitsandbytes  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ImportError:
        raise ConfigError.at(
            "load_in_4bit", "needs bitsandbytes", "not installed", 'pip install "agent-prm[qlora]"'
        ) from None
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )


def load_token_classifier(model: str, num_layers: int | None, options: LoadOptions, dropout: float = 0.0) -> Any:
    """The backbone with a new three-class head that reads sites.

    Args:
        model: A folder or hub id.
        num_layers: Keep only the first so many layers; None keeps all.
        options: See `LoadOptions`.
        dropout: Dropout before the head.

    Raises:
        ConfigError: More layers are asked for than there are.
        ModelError: The architecture has no token-classification class, or it sees the future.
    """
    with reachable(model):
        config = AutoConfig.from_pretrained(model, trust_remote_code=options.trust_remote_code)
    config = getattr(config, "get_text_config", lambda: config)()
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(f"{model}: the backbone must be decoder-only, got {config.model_type}; choose a causal model")
    if num_layers is not None:
        cut_layers(config, num_layers)
    config.num_labels = CLASSES
    config.id2label = dict(LABEL_NAMES)
    config.label2id = {name: i for i, name in LABEL_NAMES.items()}
    # A head for other labels in the checkpoint is replaced by a new one; a step classifier's own head is kept.
    loaded = load_with_sites(model, config, options, ignore_mismatched_sizes=True)
    refuse_bidirectional(loaded, model)
    if isinstance(getattr(loaded, "dropout", None), nn.Dropout):
        loaded.dropout.p = dropout
        loaded.config.classifier_dropout = dropout
    return loaded


def load_with_sites(model: str, config: Any, options: LoadOptions, **keywords: Any) -> Any:
    """Loads a checkpoint under `config` as a class that reads sites; `keywords` are those of ``from_pretrained``."""
    try:
        plain = AutoModelForTokenClassification._model_mapping[type(config)]
    except KeyError:
        raise ModelError(
            f"{model}: transformers must have a token classifier for it, got model_type {config.model_type!r}; "
            "choose another backbone"
        ) from None
    reader = plain if hasattr(plain, "site_features") else with_sites(plain)
    with reachable(model):
        loaded = reader.from_pretrained(model, config=config, use_safetensors=True, **options.keywords(), **keywords)
    # A head that the checkpoint holds is read in float32; a new one would come in the backbone's type.
    loaded.get_submodule(head_name(loaded)).float()
    return loaded


def cut_layers(config: Any, num_layers: int) -> None:
    """Cuts a config to its first layers, per-layer lists included (else saving and sliding windows fail)."""
    total = config.num_hidden_layers
    if not 1 <= num_layers <= total:
        raise ConfigError.at("num_layers", f"must be between 1 and the model's {total}", num_layers, "change it")
    for name, value in list(config.to_dict().items()):
        if isinstance(value, list) and len(value) == total and name.startswith("layer"):
            setattr(config, name, value[:num_layers])
    config.num_hidden_layers = num_layers


def freeze_below(model: Any, trainable_layers: int) -> None:
    """Freezes all but the top layers, what follows them, and the head.

    Args:
        model: A step classifier.
        trainable_layers: How many of the top layers are trained; 0 trains the head alone.
    """
    layers = layers_of(model.base_model, model.config.num_hidden_layers)
    if not 0 <= trainable_layers <= len(layers):
        raise ConfigError.at("trainable_layers", f"must be between 0 and {len(layers)}", trainable_layers, "change it")
    model.base_model.requires_grad_(False)
    if trainable_layers == 0:
        return
    for layer in layers[len(layers) - trainable_layers :]:
        layer.requires_grad_(True)
    for name, module in model.base_model.named_children():
        if "norm" in name or name == "ln_f":
            module.requires_grad_(True)


def refuse_bidirectional(model: Any, name: str) -> None:
    """Checks by one small forward that no position sees the future.

    Raises:
        ModelError: Changing the last token changes an earlier state.
    """
    device = next(model.parameters()).device
    ids = torch.arange(1, 9, device=device).remainder(model.config.vocab_size)[None]
    changed = ids.clone()
    changed[0, -1] = (ids[0, -1] + 1) % model.config.vocab_size
    training = model.training
    model.eval()
    with torch.no_grad():
        first, second = (model.base_model(input_ids=x).last_hidden_state[0, :-1].float() for x in (ids, changed))
    model.train(training)
    if not torch.allclose(first, second, rtol=1e-3, atol=1e-5):
        raise ModelError(f"{name}: the backbone must be causal, got one that sees the future; choose a causal model")
