"""A GGUF file as an ordinary checkpoint folder: safetensors weights in bfloat16, config and tokenizer.

The file's 4-bit weights are expanded, not trained back: the result is as good as the quantised model, no
better. bfloat16 halves the folder against float32 (270 MB against 540 MB for 135M parameters), is the type in
which most backbones are published, and its rounding is far below that of 4 bits: SmolLM2-135M reads a text at
3.829 nats a token, against 3.832 with the unrounded weights. Whoever trains on it loads it as float32.
Knows nothing of where the file came from.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prm.errors import DownloadError, ModelError, complaint

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_GGUF_SETTINGS = ("quantization_config", "_model_name_or_path")
"""What the GGUF loader leaves in the config: the packing, and the name of the run that made the file."""

_PROBE = "The capital of France is Paris, and the capital of Germany is Berlin."
_PROBE_LIMIT_NATS = 5.0
"""English text costs a language model 2 to 4 nats a token; weights in a wrong order cost about ln V = 11."""


def require_gguf() -> None:
    """Complains unless the package that reads GGUF files is installed.

    Raises:
        DownloadError: It is not.
    """
    if importlib.util.find_spec("gguf") is None:
        todo = 'run `pip install "agent-prm[quickstart]"`'
        raise DownloadError(complaint("gguf", "package must be installed to unpack the base model", None, todo))


def convert_gguf(gguf_file: Path, folder: Path) -> None:
    """Writes the model and the tokenizer of `gguf_file` into `folder`, loadable by the Auto classes alone.

    Raises:
        DownloadError: The package gguf is not installed.
        ModelError: The expanded model does not predict plain English, so its weights were misread.
    """
    require_gguf()
    tokenizer = _tokenizer_of(gguf_file)
    model = _model_of(gguf_file)
    _refuse_misread_weights(model, tokenizer)
    tokenizer.model_max_length = model.config.max_position_embeddings
    model.save_pretrained(folder, max_shard_size="100GB")
    tokenizer.save_pretrained(folder)


def _tokenizer_of(gguf_file: Path) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(gguf_file.parent, gguf_file=gguf_file.name)
    return tokenizer


def _model_of(gguf_file: Path) -> PreTrainedModel:
    """The model in bfloat16, as a fresh instance: the one that was de-quantised refuses to be saved."""
    import torch
    import transformers

    unpack: dict[str, Any] = {}
    if hasattr(transformers, "GgufConfig"):  # newer releases may leave the weights packed unless told otherwise
        unpack["quantization_config"] = transformers.GgufConfig(dequantize=True)
    quantised = transformers.AutoModelForCausalLM.from_pretrained(
        gguf_file.parent, gguf_file=gguf_file.name, dtype=torch.bfloat16, **unpack
    )
    settings = {key: value for key, value in quantised.config.to_dict().items() if key not in _GGUF_SETTINGS}
    model: Any = type(quantised)(type(quantised.config).from_dict(settings)).to(torch.bfloat16)
    model.load_state_dict(quantised.state_dict())
    model.generation_config = quantised.generation_config
    fresh: PreTrainedModel = model.eval()
    return fresh


def _refuse_misread_weights(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    import torch

    ids = tokenizer(_PROBE, return_tensors="pt").input_ids
    with torch.inference_mode():
        loss = float(model(input_ids=ids, labels=ids).loss)
    if not loss < _PROBE_LIMIT_NATS:
        todo = "try another version of transformers or gguf"
        raise ModelError(complaint(_PROBE, f"model must read it at under {_PROBE_LIMIT_NATS} nats a token", loss, todo))
