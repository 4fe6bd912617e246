"""The step classifier: load a checkpoint, score trajectories.

One forward pass reads every step of a trajectory (DESIGN: the discriminative PRM). Does not train and writes no file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from transformers import AutoConfig, AutoTokenizer

import prm.models.mixed_head  # noqa: F401  registers the richer head, which a stored config may name
from prm.data.encode import Encoder, Row
from prm.errors import ConfigError, MissingFileError
from prm.models.backbone import LoadOptions, load_with_sites
from prm.models.checkpoint import CheckpointInfo
from prm.models.reachable import reachable
from prm.models.scoring import FloatArray, Shard, likeliest, predictions_of, site_probabilities
from prm.models.states import StatesCache, backbone_identity, cached_site_states
from prm.types import Prediction, Probabilities, Trajectory

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How trajectories are scored.

    Attributes:
        tokens_per_batch: Padded tokens of a forward pass.
        online: Plan each step's budget from the past alone, as beside a running agent; else from the whole run.
        autocast: Arithmetic type where it differs from the weights'; None = the weights'.
        states_cache: Folder that keeps the states of a frozen backbone, shared with training; None = none.
    """

    tokens_per_batch: int = 8192
    online: bool = False
    autocast: torch.dtype | None = None
    states_cache: Path | None = None


class StepClassifier:
    """A trained step classifier with its tokenizer and its encoding.

    Attributes:
        model: The Hugging Face model, in evaluation mode.
        tokenizer: Its tokenizer.
        info: What the checkpoint says of itself.
    """

    def __init__(self, model: Any, tokenizer: Any, info: CheckpointInfo) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.info = info
        self.encoder = Encoder(tokenizer, info.encoding)
        self.pad_token_id = tokenizer.pad_token_id or 0

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        *,
        device: str | torch.device | None = None,
        dtype: str = "float32",
        attn_implementation: str | None = None,
        trust_remote_code: bool = False,
    ) -> StepClassifier:
        """Loads a folder that `prm train supervised` wrote (full, or a LoRA adapter), or a hub id.

        Args:
            path: Folder or hub id.
            device: "cpu", "cuda" …; None = the GPU where there is one.
            dtype: "float32", "bfloat16" or "float16", of the backbone; the head is float32 always.
            attn_implementation: As in transformers.
            trust_remote_code: As in transformers.

        Raises:
            MissingFileError: The folder does not exist. ModelError: Not a step classifier of prm.
        """
        _refuse_missing_folder(path)
        options = LoadOptions(parse_dtype(dtype), attn_implementation, trust_remote_code)
        with reachable(str(path)):
            config = AutoConfig.from_pretrained(path, trust_remote_code=trust_remote_code)
        info = CheckpointInfo.of_config(config, str(path))
        model = _load(str(path), config, options)
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=trust_remote_code)
        return cls(model.to(device or _best_device()), tokenizer, info)

    def score(self, trajectories: Sequence[Trajectory], options: ScoreOptions | None = None) -> list[Prediction]:
        """One prediction for each trajectory, in order, with a probability vector for every step."""
        return self.score_shard(trajectories, options or ScoreOptions(), Shard())

    def score_shard(
        self, trajectories: Sequence[Trajectory], options: ScoreOptions, shard: Shard, gather: Any = None
    ) -> list[Prediction]:
        """Like `score` with the batches shared among processes; `gather` merges their results into all of them."""
        rows = self.rows_of(trajectories, options)
        if options.states_cache is not None and self.info.frozen_backbone is not None:
            probabilities = self._from_states([row for _, row in rows], options, options.states_cache)
        else:
            probabilities = site_probabilities(
                self.model,
                [row for _, row in rows],
                options.tokens_per_batch,
                self.pad_token_id,
                autocast=options.autocast,
                shard=shard,
            )
            probabilities = probabilities if gather is None else gather(probabilities)
        finish = self.finisher(self.info, "online" if options.online else "whole")
        return predictions_of(trajectories, rows, probabilities, finish)

    @torch.no_grad()
    def _from_states(self, rows: Sequence[Row], options: ScoreOptions, folder: Path) -> dict[int, FloatArray]:
        """The head on cached states; every process does all of them."""
        identity = backbone_identity(str(self.info.frozen_backbone), self.model.dtype, options.autocast)
        cache = StatesCache(folder, identity)
        states = cached_site_states(
            self.model, rows, options.tokens_per_batch, self.pad_token_id, options.autocast, cache
        )
        device = next(self.model.parameters()).device
        logits = [self.model(site_features=state.to(device)).logits for state in states]
        return {i: part.double().softmax(-1).cpu().numpy() for i, part in enumerate(logits)}

    def rows_of(self, trajectories: Sequence[Trajectory], options: ScoreOptions) -> list[tuple[int, Row]]:
        """The (trajectory number, row) pairs that scoring reads."""
        encode = self.encoder.encode_online if options.online else self.encoder.encode
        return [(number, row) for number, trajectory in enumerate(trajectories) for row in encode(trajectory)]

    @staticmethod
    def finisher(
        info: CheckpointInfo, plan: str
    ) -> Callable[[Trajectory, dict[int | None, Probabilities]], Prediction]:
        """The function that turns the probabilities of a run's sites into its prediction (None = the outcome)."""

        def finish(trajectory: Trajectory, found: dict[int | None, Probabilities]) -> Prediction:
            outcome = found.get(None) if info.outcome else None
            steps = dict(sorted(_of_steps(found).items()))
            return Prediction(
                identity=trajectory.identity,
                step_labels={index: likeliest(vector) for index, vector in steps.items()},
                final_label=likeliest(outcome) if outcome else None,
                step_probs=steps,
                final_prob=outcome[2] if outcome else None,
                protocol=cast(Any, info.protocol),
                rendering=info.encoding.as_record(plan),
            )

        return finish


def _of_steps(found: dict[int | None, Probabilities]) -> dict[int, Probabilities]:
    return {index: vector for index, vector in found.items() if index is not None}


def parse_dtype(name: str) -> torch.dtype:
    """The type of weights with this name.

    Raises:
        ConfigError: It is none of `DTYPES`.
    """
    if name not in DTYPES:
        raise ConfigError.at("dtype", f"must be one of {', '.join(DTYPES)}", name, "change it")
    return DTYPES[name]


def _best_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _refuse_missing_folder(path: str | Path) -> None:
    looks_local = isinstance(path, Path) or path.startswith((".", "/", "~")) or path.count("/") > 1
    if looks_local and not Path(path).is_dir():
        raise MissingFileError(f"{path}: the model folder must exist, found nothing; check the path")


def _load(path: str, config: Any, options: LoadOptions) -> Any:
    adapter = Path(path) / "adapter_config.json"
    if not adapter.is_file():
        return load_with_sites(path, config, options)
    from peft import PeftConfig, PeftModel

    base = PeftConfig.from_pretrained(path).base_model_name_or_path
    return PeftModel.from_pretrained(load_with_sites(base, config, options), path)
