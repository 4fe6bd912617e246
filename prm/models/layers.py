"""A backbone's stack of layers: found by what it is, and run in part."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import nn

from prm.errors import ModelError


def layers_of(model: nn.Module, count: int) -> nn.ModuleList:
    """The backbone's stack of layers.

    Raises:
        ModelError: No stack of `count` layers is found.
    """
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise ModelError(
        f"{type(model).__name__}: must have a stack of {count} layers, got none; leave all layers trainable"
    )


@contextlib.contextmanager
def layers_only(model: Any, chosen: slice) -> Iterator[None]:
    """While open, the backbone has only the chosen layers."""
    backbone = model.base_model
    layers = layers_of(backbone, model.config.num_hidden_layers)
    name = next(name for name, child in backbone.named_modules() if child is layers)
    owner, _, attribute = name.rpartition(".")
    parent = backbone.get_submodule(owner)
    kept, count = layers[chosen], backbone.config.num_hidden_layers
    setattr(parent, attribute, kept)
    backbone.config.num_hidden_layers = len(kept)
    try:
        yield
    finally:
        setattr(parent, attribute, layers)
        backbone.config.num_hidden_layers = count
