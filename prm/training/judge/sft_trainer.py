"""TRL's `SFTTrainer` for judges: weighted answers, logits only where there is a loss, metrics over whole runs.

What is overridden, and why:
    get_batch_samples   counts the trained tokens of the whole global batch
    compute_loss        cross-entropy with a weight for each token; no logits of the prompt are computed; verdicts
                        alone are a choice among three, as they are in decoding
Evaluation and checkpoints: `JudgingTrainer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from trl import SFTTrainer

from prm.models.judge.checkpoint import JudgeInfo
from prm.models.lower_states import LowerStates
from prm.models.shared_prefix.calling import core_of, logits_at
from prm.training.judge.evaluation import HeldOut
from prm.training.judge.examples import JudgeRow
from prm.training.judge.judging_trainer import JudgingTrainer
from prm.training.judge.preparation import upper_logits

IGNORED = -100


@dataclass(frozen=True)
class JudgeSftTask:
    """What is trained, besides TRL's own arguments.

    Attributes:
        rows: The training runs.
        info: How the judge is asked; written beside its weights.
        held_out: What `evaluate` judges; None = nothing.
        choices: The tokens that a trained token is chosen from, as forced decoding chooses it; None = any token.
        lower: The output of frozen lower layers for every row; None = they are run each time.
    """

    rows: Sequence[JudgeRow]
    info: JudgeInfo
    held_out: HeldOut | None = None
    choices: tuple[int, ...] | None = None
    lower: LowerStates | None = None


class JudgeSftTrainer(JudgingTrainer, SFTTrainer):  # type: ignore[misc,unused-ignore]
    """Trains a judge on labelled runs.

    Args:
        task: What is trained.
        keywords: As of `SFTTrainer`: model, args, processing_class …
    """

    def __init__(self, task: JudgeSftTask, **keywords: Any) -> None:
        self.task = task
        self.trained_tokens = 0
        arguments = keywords["args"]
        # Several GPUs without a launcher would make the Trainer scatter batches; one GPU is used then.
        arguments._n_gpu = min(arguments.n_gpu, 1)
        arguments.dataset_kwargs = {**(arguments.dataset_kwargs or {}), "skip_prepare_dataset": True}
        rows = Dataset.from_list([{**row.columns(), "number": i} for i, row in enumerate(task.rows)])
        super().__init__(
            train_dataset=rows,
            eval_dataset=None if task.held_out is None else rows.select([0]),
            data_collator=_Collator(keywords["processing_class"].pad_token_id or 0),
            **keywords,
        )
        self.model_accepts_loss_kwargs = True

    def get_batch_samples(
        self, epoch_iterator: Iterator[Any], num_batches: int, device: torch.device
    ) -> tuple[list[Any], Any]:
        """The micro-batches of one update, and the trained tokens of all of them on all processes."""
        batches = [batch for _ in range(num_batches) if (batch := next(epoch_iterator, None)) is not None]
        self.trained_tokens += sum(int(batch.pop("tokens")) for batch in batches)
        trained = torch.tensor(float(sum((batch["labels"] != IGNORED).sum() for batch in batches)), device=device)
        if self.args.world_size > 1:
            trained = self.accelerator.gather(trained[None]).sum()
        return batches, trained

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """`answer_cross_entropy`, times the number of processes since DDP and FSDP average gradients over them."""
        logits, labels = self._logits(model, inputs), inputs["labels"]
        if self.task.choices is not None:
            logits = self.task.info.calibration.of(logits[..., list(self.task.choices)])
            labels = positions_among(labels, self.task.choices)
        total = num_items_in_batch if num_items_in_batch is not None else (labels != IGNORED).sum()
        loss = answer_cross_entropy(logits, labels, inputs["weights"], total) * self.args.world_size
        return (loss, {"logits": logits}) if return_outputs else loss

    def _logits(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        positions, lower = inputs["positions"], self.task.lower
        if lower is None:
            return logits_at(model, positions, input_ids=inputs["input_ids"], use_cache=False)
        states = lower.padded(inputs["numbers"]).to(positions.device, core_of(model).dtype)
        return upper_logits(model, positions, states, lower.layers)


def answer_cross_entropy(
    logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor, total: torch.Tensor | float
) -> torch.Tensor:
    """Cross-entropy of the answers' tokens, normalised over the global batch.

        L = −(1 / total) Σ_t w_t · log softmax(logits_t)[label_t]

    Args:
        logits: `[B, M, V] float`, at the positions before the tokens.
        labels: `[B, M] int64`, the tokens; −100 where there is no loss.
        weights: `[B, M] float32`.
        total: Trained tokens of the global batch.

    Returns:
        A scalar, float32.
    """
    losses = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), labels.flatten(), reduction="none", ignore_index=IGNORED
    )
    summed = (losses * weights.flatten()).sum()
    return summed / torch.clamp(torch.as_tensor(total, dtype=summed.dtype, device=summed.device), min=1.0)


def positions_among(labels: torch.Tensor, choices: Sequence[int]) -> torch.Tensor:
    """Tokens → their positions among the choices; −100 stays.

    Args:
        labels: `[B, M] int64`, each −100 or one of the choices.
        choices: [C] tokens, all different.
    """
    found = labels[..., None] == torch.tensor(list(choices), device=labels.device)
    return torch.where(labels == IGNORED, labels, found.int().argmax(-1))


class _Collator:
    """Rows → one batch, padded on the right: under a causal model what follows a token cannot reach it, so no mask.

    `positions` `[M]` are those before any row's trained tokens; `labels` and `weights` `[B, M]` are those of the tokens
    after them. So the logits of a batch cost M columns, whatever the length of its prompts.
    """

    def __init__(self, pad_token_id: int) -> None:
        self._pad = pad_token_id

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        tokens = sum(len(row["input_ids"]) for row in rows)
        ids, labels, weights = (
            _padded([row[name] for row in rows], fill, kind)
            for name, fill, kind in (
                ("input_ids", self._pad, torch.int64),
                ("labels", IGNORED, torch.int64),
                ("weights", 0.0, torch.float32),
            )
        )
        after = (labels != IGNORED).any(0).nonzero()[:, 0]
        return {
            "input_ids": ids,
            "positions": after - 1,
            "labels": labels[:, after],
            "weights": weights[:, after],
            "tokens": tokens,
            "numbers": [row["number"] for row in rows],
        }


def _padded(rows: Sequence[Sequence[Any]], fill: Any, kind: torch.dtype) -> torch.Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], dtype=kind)
