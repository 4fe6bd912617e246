"""A richer head: reads several layers at several places of a step, raw, standardised, beside a few run features.

Middle layers judge better than the last one, and the last token of a step's own text says something else than the
site after it. Saved and loaded as any Hugging Face model (`model_type: prm_step_classifier`) once prm is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForTokenClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import TokenClassifierOutput

from prm.data.run_features import FEATURES
from prm.errors import ConfigError
from prm.models.backbone import LABEL_NAMES, LoadOptions, cut_layers, refuse_bidirectional
from prm.models.layers import layers_of
from prm.models.reachable import reachable
from prm.models.site_head import CLASSES

PLACES = ("site", "text", "mean")
"""Where a layer is read: at the site, at the last token of the step's own text, or as the mean over the step."""


_FEATURE_WIDTH = len(FEATURES) / 4
"""The run features are few and dense: an L2 penalty weighs them as a read of a quarter of their number."""


class StepReaderConfig(PreTrainedConfig):  # type: ignore[misc,unused-ignore]
    """The backbone's config, cut to what is read, and what is read.

    Attributes:
        backbone: The config of the backbone as a dict with its `model_type`.
        reads: [place, layer] pairs, layers from 1.
        extras: Whether the run features are read (`prm.data.run_features`).
    """

    model_type = "prm_step_classifier"

    def __init__(
        self,
        backbone: dict[str, Any] | None = None,
        reads: Sequence[Sequence[Any]] = (),
        extras: bool = True,
        dropout: float = 0.0,
        **keywords: Any,
    ) -> None:
        self.backbone = backbone or {}
        self.reads = [[str(place), int(layer)] for place, layer in reads]
        self.extras = extras
        self.dropout = dropout
        keywords.setdefault("num_labels", CLASSES)
        super().__init__(**keywords)

    @property
    def num_hidden_layers(self) -> int:
        """Layers of the backbone."""
        return int(self.backbone.get("num_hidden_layers", 0))

    @property
    def vocab_size(self) -> int:
        """Vocabulary of the backbone."""
        return int(self.backbone["vocab_size"])


def parse_reads(text: str) -> list[tuple[str, int]]:
    """The reads that ``site:18+text:12`` names.

    Raises:
        ConfigError: A place that does not exist, or a layer that is no whole number from 1.
    """
    reads = []
    for part in text.split("+"):
        place, _, layer = part.strip().partition(":")
        if place not in PLACES or not layer.isdigit() or int(layer) < 1:
            raise ConfigError.at(
                "head_reads", f"is made of {', '.join(PLACES)} and a layer", part, "write site:18+text:12"
            )
        reads.append((place, int(layer)))
    return reads


class StepReader(PreTrainedModel):  # type: ignore[misc,unused-ignore]
    """Backbone, reads, standardisation, one linear layer in float32."""

    config_class = StepReaderConfig
    base_model_prefix = "backbone"
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    _keep_in_fp32_modules_strict = {"score", "center", "scale"}  # noqa: RUF012 (as transformers declares it)

    def __init__(self, config: StepReaderConfig, backbone: Any = None) -> None:
        super().__init__(config)
        if backbone is None:
            stored = AutoConfig.for_model(**config.backbone)
            stored._attn_implementation = config._attn_implementation
            backbone = AutoModel.from_config(stored)
        self.backbone = backbone
        width = backbone.config.hidden_size
        self._widths = [width] * len(config.reads) + ([len(FEATURES)] if config.extras else [])
        total = sum(self._widths)
        self.center: torch.Tensor
        self.scale: torch.Tensor
        self.register_buffer("center", torch.zeros(total))
        self.register_buffer("scale", torch.ones(total))
        self.dropout = nn.Dropout(config.dropout)
        self.score = nn.Linear(total, CLASSES)
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        if module is getattr(self, "score", None):
            nn.init.zeros_(self.score.weight)
            nn.init.zeros_(self.score.bias)
        if module is self:
            self.center.zero_()
            self.scale.fill_(1.0)

    def standardise(self, features: torch.Tensor) -> None:
        """Sets centre and scale from raw features of the training sites, `[M, F]`.

        Each read is brought to mean 0 and variance 1 / width, so that an L2 penalty weighs reads of any width alike.
        """
        self.center.copy_(features.mean(0))
        self.scale.copy_(features.std(0).clamp_min(1e-4).cpu() * self.widths.sqrt())

    def forward(self, input_ids: Any = None, site_features: Any = None, **places: Any) -> TokenClassifierOutput:
        """Logits at the sites, `[M, 3] float32`.

        Args:
            input_ids: `[B, T]`, padded on the right.
            site_features: `[M, F]`: computed earlier by `site_features`; skips the backbone.
            places: The site tensors of `prm.models.batching.Batch`.
        """
        if site_features is None:
            site_features = self.site_features(input_ids, **places)
        return TokenClassifierOutput(logits=self.site_logits(site_features))

    def site_logits(self, features: torch.Tensor) -> torch.Tensor:
        """The head on raw `[M, F]` features: `[M, 3] float32`."""
        with torch.autocast(features.device.type, enabled=False):
            standard = (features.float() - self.center) / self.scale
            logits: torch.Tensor = self.score(self.dropout(standard))
            return logits

    def site_features(
        self,
        input_ids: Any,
        site_rows: Any,
        site_positions: Any,
        site_starts: Any,
        site_texts: Any,
        site_extras: Any,
    ) -> torch.Tensor:
        """The raw features of each site, `[M, F] float32`: its reads in order, then the run features."""
        states = self._states(input_ids)
        ends = {"site": site_positions, "text": site_texts}
        parts = [
            _mean_states(states[layer], site_rows, site_starts, site_texts)
            if place == "mean"
            else states[layer][site_rows, ends[place]].float()
            for place, layer in self.config.reads
        ]
        return torch.cat([*parts, site_extras] if self.config.extras else parts, dim=-1)

    def _states(self, input_ids: Any) -> dict[int, torch.Tensor]:
        """Layer → its raw output, `[B, T, H]`, before any norm that follows."""
        wanted = {layer for _, layer in self.config.reads}
        states: dict[int, torch.Tensor] = {}

        def keep(layer: int) -> Any:
            def hook(module: Any, inputs: Any, output: Any) -> None:
                states[layer] = output[0] if isinstance(output, tuple) else output

            return hook

        layers = layers_of(self.backbone, self.config.num_hidden_layers)
        hooks = [layers[layer - 1].register_forward_hook(keep(layer)) for layer in sorted(wanted)]
        try:
            self.backbone(input_ids=input_ids, use_cache=False)
        finally:
            for handle in hooks:
                handle.remove()
        return states

    @property
    def feature_blocks(self) -> list[tuple[str, int]]:
        """Name and width of everything that is read, in the order of the features."""
        names = [f"{place}:{layer}" for place, layer in self.config.reads] + ["run features"] * self.config.extras
        return list(zip(names, self._widths, strict=True))

    @property
    def widths(self) -> torch.Tensor:
        """The width of the read that each feature belongs to, `[F]`; that of the run features is `_FEATURE_WIDTH`."""
        reads = torch.full((self._widths[0] * len(self.config.reads),), float(self._widths[0]))
        return torch.cat([reads, torch.full((sum(self._widths) - len(reads),), _FEATURE_WIDTH)])

    def columns(self, reads: Sequence[tuple[str, int]]) -> tuple[int, ...]:
        """Which features belong to `reads` and to the run features."""
        chosen: list[int] = []
        start = 0
        for place, layer in self.config.reads:
            if (place, layer) in reads:
                chosen += range(start, start + self._widths[0])
            start += self._widths[0]
        return (*chosen, *range(start, sum(self._widths)))

    def keep_reads(self, reads: Sequence[tuple[str, int]]) -> None:
        """Drops every read that is not in `reads`, and the layers above the last one that is; the head is new."""
        index = torch.tensor(self.columns(reads))
        self.center, self.scale = self.center[index], self.scale[index]
        self.config.reads = [read for read in self.config.reads if tuple(read) in reads]
        self._widths = [self._widths[0]] * len(self.config.reads) + ([len(FEATURES)] if self.config.extras else [])
        self.score = nn.Linear(len(index), CLASSES)
        self._cut(max(layer for _, layer in reads))

    def _cut(self, count: int) -> None:
        layers = layers_of(self.backbone, self.config.num_hidden_layers)
        del layers[count:]
        cut_layers(self.backbone.config, count)
        self.config.backbone = self.backbone.config.to_dict()


def _mean_states(states: torch.Tensor, rows: Any, starts: Any, ends: Any) -> torch.Tensor:
    """Mean over the tokens `starts` … `ends` of each site's row: `[M, H] float32`."""
    sums = torch.cat([states.new_zeros(states.shape[0], 1, states.shape[2]), states], dim=1).float().cumsum(1)
    mean: torch.Tensor = (sums[rows, ends + 1] - sums[rows, starts]) / (ends + 1 - starts).clamp_min(1)[:, None]
    return mean


def load_step_reader(
    model: str, reads: Sequence[tuple[str, int]], extras: bool, dropout: float, options: LoadOptions
) -> StepReader:
    """A backbone cut to the highest layer that is read, with a new head.

    Raises:
        ConfigError: A layer that the backbone does not have.
    """
    with reachable(model):
        config = AutoConfig.from_pretrained(model, trust_remote_code=options.trust_remote_code)
    config = getattr(config, "get_text_config", lambda: config)()
    cut_layers(config, max(layer for _, layer in reads))
    backbone = AutoModel.from_pretrained(model, config=config, use_safetensors=True, **options.keywords())
    own = StepReaderConfig(
        backbone=backbone.config.to_dict(),
        reads=[list(read) for read in reads],
        extras=extras,
        dropout=dropout,
        id2label=dict(LABEL_NAMES),
        label2id={name: i for i, name in LABEL_NAMES.items()},
        dtype=options.dtype,
    )
    reader = StepReader(own, backbone)
    refuse_bidirectional(reader, model)
    return reader


AutoConfig.register("prm_step_classifier", StepReaderConfig)
AutoModelForTokenClassification.register(StepReaderConfig, StepReader)
