"""A judge's checkpoint: a plain causal model, and ``prm_judge.json`` that says how it is asked.

An adapter folder carries the (possibly cut) config of its base beside the adapter, so that it loads alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForCausalLM

from prm.data.jsonl import write_json
from prm.errors import ConfigError, ModelError
from prm.models.backbone import LoadOptions, cut_layers
from prm.models.judge.calibration import UNCALIBRATED, Calibration, read_calibration
from prm.models.judge.prompt import JudgePromptConfig
from prm.models.judge.rubric import PROMPT_VERSION
from prm.models.reachable import reachable

JUDGE_FILE = "prm_judge.json"
"""The file beside the weights."""


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """How a judge is asked.

    Attributes:
        prompt: Budgets, answer format and protocol of its prompts.
        prompt_version: Version of the prompt's text (`prm.models.judge.rubric`).
        training: What is known of its training, for people; empty where it was not trained by prm.
        calibration: What is done to the logits of a compact answer's three verdicts; see `prm train judge`.
    """

    prompt: JudgePromptConfig
    prompt_version: str = PROMPT_VERSION
    training: Mapping[str, Any] | None = None
    calibration: Calibration = UNCALIBRATED


def write_judge_info(folder: Path, info: JudgeInfo) -> None:
    """Writes ``prm_judge.json`` into the folder."""
    stored: dict[str, Any] = {"prompt": asdict(info.prompt), "prompt_version": info.prompt_version}
    if info.calibration != UNCALIBRATED:
        stored["calibration"] = asdict(info.calibration)
    write_json(folder / JUDGE_FILE, {**stored, "training": dict(info.training)} if info.training else stored)


def read_judge_info(folder: Path | str) -> JudgeInfo | None:
    """What the folder says of its judge; None where it says nothing, as a base model does.

    Raises:
        ModelError: The file is broken, or the prompt's text has changed since the judge was trained.
    """
    path = Path(folder) / JUDGE_FILE
    if not path.is_file():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        info = JudgeInfo(
            JudgePromptConfig(**stored["prompt"]),
            str(stored["prompt_version"]),
            stored.get("training"),
            read_calibration(stored.get("calibration")),
        )
    except (ValueError, TypeError, KeyError, ConfigError) as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{path}: must say how the judge is asked, got an error ({reason}); train it again") from None
    if info.prompt_version != PROMPT_VERSION:
        raise ModelError(
            f"{path}: this version of prm writes prompt version {PROMPT_VERSION!r}, got {info.prompt_version!r}; "
            "use the version of prm that trained the judge"
        )
    return info


def load_judge_model(path: str, options: LoadOptions, num_layers: int | None = None) -> Any:
    """The causal model of a folder or hub id, in evaluation mode; an adapter's layers stand in their base model.

    Args:
        path: Folder (full weights or a LoRA adapter) or hub id.
        options: How weights are loaded.
        num_layers: Keep only the first so many layers; None keeps all.

    Raises:
        DownloadError: Neither a folder nor to be had. ConfigError: More layers are asked for than there are.
        ModelError: The model is no causal language model.
    """
    with reachable(path):
        config = AutoConfig.from_pretrained(path, trust_remote_code=options.trust_remote_code)
    config = getattr(config, "get_text_config", lambda: config)()
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(f"{path}: a judge must be decoder-only, got {config.model_type}; choose a causal model")
    if num_layers is not None:
        cut_layers(config, num_layers)
    if not (Path(path) / "adapter_config.json").is_file():
        return _causal(path, config, options)
    from peft import PeftConfig, PeftModel

    base = _causal(str(PeftConfig.from_pretrained(path).base_model_name_or_path), config, options)
    # The base model with the adapter's layers in it: code that reads a plain causal model reads this one too.
    return PeftModel.from_pretrained(base, path).get_base_model().eval()


def _causal(path: str, config: Any, options: LoadOptions) -> Any:
    with reachable(path):
        model = AutoModelForCausalLM.from_pretrained(path, config=config, use_safetensors=True, **options.keywords())
    return model.eval()
