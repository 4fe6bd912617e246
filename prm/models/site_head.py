"""A token-classification model that computes logits only where steps are read.

`with_sites` gives any ``AutoModelForTokenClassification`` model a forward that takes site positions. The class keeps
its name and its weights' names, so a saved checkpoint is an ordinary one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn
from transformers.modeling_outputs import TokenClassifierOutput

from prm.errors import ModelError
from prm.models.layers import layers_only

CLASSES = 3


class SiteForward:
    """Mixed into a token-classification class: forward with `site_rows` and `site_positions` reads only these.

    The head runs in float32 whatever the backbone's type.
    """

    def forward(self, input_ids: Any = None, site_rows: Any = None, site_positions: Any = None, **kwargs: Any) -> Any:
        """Logits at the sites, `[M, 3] float32`; without sites the plain forward, `[B, T, 3]`.

        Args:
            input_ids: `[B, T]`, padded on the right.
            site_rows: `[M]`; site_positions: `[M]`.
            kwargs: `site_features`, `[M, H]`: computed earlier, skips the backbone; what else `prm.models.batching`
                knows of the sites is not read by this head.
        """
        features = kwargs.pop("site_features", None)
        if features is None and site_rows is None:
            return super().forward(input_ids=input_ids, **kwargs)  # type: ignore[misc]
        if features is None:
            features = self.site_features(input_ids, site_rows, site_positions, **kwargs)
        return TokenClassifierOutput(logits=self.site_logits(features))

    def site_features(
        self,
        input_ids: Any,
        site_rows: Any,
        site_positions: Any,
        lower_states: Any = None,
        skipped_layers: int = 0,
        **unread: Any,
    ) -> Any:
        """What the head reads of each site: the last hidden state at its position, `[M, H] float32`.

        With `lower_states`, `[B, T, H]`, the output of the first `skipped_layers` layers, only the rest is run.
        """
        backbone: Any = self.base_model  # type: ignore[attr-defined]
        if lower_states is None:
            hidden = backbone(input_ids=input_ids, use_cache=False).last_hidden_state
        else:
            with layers_only(self, slice(skipped_layers, None)):
                hidden = backbone(inputs_embeds=lower_states, use_cache=False).last_hidden_state
        return hidden[site_rows, site_positions].float()

    @property
    def feature_blocks(self) -> list[tuple[str, int]]:
        """Name and width of what is read."""
        config = self.config  # type: ignore[attr-defined]
        return [(f"normed:{config.num_hidden_layers}", config.hidden_size)]

    def site_logits(self, features: torch.Tensor) -> torch.Tensor:
        """The head on `[M, H]` features: `[M, 3] float32`."""
        with torch.autocast(features.device.type, enabled=False):
            dropout = getattr(self, "dropout", None)
            features = dropout(features) if isinstance(dropout, nn.Module) else features
            logits: torch.Tensor = getattr(self, head_name(self))(features)  # type: ignore[arg-type]
            return logits


def head_name(model: nn.Module) -> str:
    """The attribute name of a token-classification model's head ("score", "classifier" …).

    Raises:
        ModelError: There is no linear layer of three outputs beside the backbone.
    """
    for name, child in model.named_children():
        linear = [module for module in child.modules() if isinstance(module, nn.Linear)]
        wrapped = getattr(child, "original_module", child)
        if name != getattr(model, "base_model_prefix", "") and linear and isinstance(wrapped, nn.Linear):
            return name
    raise ModelError(
        f"{type(model).__name__}: a token classifier must have a linear head, got none; choose another backbone"
    )


@cache
def with_sites(model_class: type[Any]) -> type[Any]:
    """The subclass of a token-classification class that can read sites; it carries the same name."""
    names = {"score", "classifier", "qa_outputs"}
    body = {"__module__": model_class.__module__, "_keep_in_fp32_modules_strict": names}
    return type(model_class.__name__, (SiteForward, model_class), body)
