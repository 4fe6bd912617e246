"""The model that is measured: a base model cut and frozen as in the quickstart recipe, with an untrained head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

from prm.data.encode import Encoder, EncodingConfig
from prm.models.backbone import LoadOptions, cut_layers, freeze_below, load_token_classifier
from prm.models.checkpoint import CheckpointInfo
from prm.models.fetch import resolve_model
from prm.models.site_head import CLASSES
from prm.models.step_classifier import StepClassifier
from prm.version import __version__


@dataclass(frozen=True)
class Subject:
    """Which model is measured, and how it reads a run.

    Attributes:
        name: Alias, folder or hub id.
        num_layers: First layers kept.
        trainable_layers: Top layers trained.
        max_tokens: Tokens of one row.
    """

    name: str
    num_layers: int = 18
    trainable_layers: int = 6
    max_tokens: int = 1536

    @cached_property
    def path(self) -> str:
        """Where its weights are."""
        return resolve_model(self.name)

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer, with a pad token (the stock collator wants one)."""
        tokenizer = AutoTokenizer.from_pretrained(self.path)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    @cached_property
    def encoder(self) -> Encoder:
        """Its encoder."""
        return Encoder(self.tokenizer, EncodingConfig(max_tokens=self.max_tokens))

    def site_model(self) -> Any:
        """The model as `prm train supervised` makes it."""
        model = load_token_classifier(self.path, self.num_layers, LoadOptions())
        model.config.use_cache = False
        freeze_below(model, self.trainable_layers)
        return model

    def stock_model(self) -> Any:
        """The same model as transformers makes it: logits of every token."""
        config = AutoConfig.from_pretrained(self.path)
        cut_layers(config, self.num_layers)
        config.num_labels = CLASSES
        config.use_cache = False
        model = AutoModelForTokenClassification.from_pretrained(
            self.path, config=config, dtype=LoadOptions().dtype, use_safetensors=True
        )
        freeze_below(model, self.trainable_layers)
        return model

    def classifier(self) -> StepClassifier:
        """An untrained step classifier in float32 on the CPU, of steps and outcome."""
        info = CheckpointInfo(self.encoder.config, "error_propagation", True, None, __version__)
        return StepClassifier(self.site_model(), self.tokenizer, info)
