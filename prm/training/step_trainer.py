"""`transformers.Trainer` for step classifiers: token-budget batches, one normalisation, metrics over whole runs.

What is overridden, and why:
    get_train_dataloader   batches by tokens; every rank gets equally many, no row twice, none left out
    get_batch_samples      counts the labelled sites of the whole global batch
    compute_loss           cross-entropy at the sites, divided by that count
    evaluate               StepAcc and FirstErrAcc over trajectories; keeps sites, never logits of every token
    _save_checkpoint       writes beside and renames (`AtomicCheckpoints`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import Trainer

from prm.data.encode import Row
from prm.evaluation.step_metrics import summary
from prm.models.batching import TokenBatchSampler, pad_rows
from prm.models.lower_states import LowerStates
from prm.models.processes import gathered
from prm.models.scoring import FloatArray, Shard, predictions_of, site_probabilities
from prm.training.atomic_checkpoints import AtomicCheckpoints
from prm.training.losses import site_cross_entropy
from prm.training.shared_options import autocast_dtype
from prm.training.targets import TrainingRow
from prm.types import Prediction, Probabilities, Trajectory


@dataclass(frozen=True)
class ValidationSet:
    """What evaluation during training reads.

    Attributes:
        trajectories: The runs.
        rows: (trajectory number, row) of every row, labelled or not.
        finish: Builds a prediction from the probabilities of a run's sites.
        states: With a frozen backbone, its features of each row, `[rows][S, F]`; else None.
        lower: With frozen lower layers, their output for each row; else None.
    """

    trajectories: Sequence[Trajectory]
    rows: Sequence[tuple[int, Row]]
    finish: Callable[[Trajectory, dict[int | None, Probabilities]], Prediction]
    states: Sequence[torch.Tensor] | None = None
    lower: LowerStates | None = None


class Numbered(Dataset[Any]):
    """Things by number."""

    def __init__(self, things: Sequence[Any]) -> None:
        self._things = things

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, number: int) -> Any:
        return self._things[number]


class _EpochLoader(DataLoader[Any]):
    """A DataLoader that passes the epoch on to its batch sampler."""

    def set_epoch(self, epoch: int) -> None:
        sampler = self.batch_sampler
        # After a resume, the Trainer wraps the sampler to skip what was trained already.
        while sampler is not None and not isinstance(sampler, TokenBatchSampler):
            sampler = getattr(sampler, "batch_sampler", None)
        if isinstance(sampler, TokenBatchSampler):
            sampler.set_epoch(epoch)


class StepTrainer(AtomicCheckpoints, Trainer):  # type: ignore[misc,unused-ignore]
    """Trains a step classifier on rows.

    Args:
        rows: What is trained on.
        validation: What `evaluate` reads, or None.
        pad_token_id: Any token id.
        states: With a frozen backbone, its features of each row, `[rows][S, F]`; else None.
        lower: With frozen lower layers, their output for each row; else None.
        keywords: As of `transformers.Trainer`.
    """

    def __init__(
        self,
        *,
        rows: Sequence[TrainingRow],
        validation: ValidationSet | None,
        pad_token_id: int,
        states: Sequence[torch.Tensor] | None = None,
        lower: LowerStates | None = None,
        **keywords: Any,
    ) -> None:
        # Several GPUs without a launcher would make the Trainer scatter flat site tensors; one GPU is used then.
        keywords["args"]._n_gpu = min(keywords["args"].n_gpu, 1)
        super().__init__(train_dataset=Numbered(rows), eval_dataset=validation, **keywords)
        self.loss_is_scaled_for_ga = True
        self.model_accepts_loss_kwargs = True
        self.trained_tokens = 0
        self._rows = rows
        self._validation = validation
        self._pad = pad_token_id
        self._states = states
        self._lower = lower

    @property
    def _shard(self) -> Shard:
        return Shard(self.args.process_index, self.args.world_size)

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by tokens; see `TokenBatchSampler`."""
        sampler = TokenBatchSampler(
            [len(row.row.input_ids) for row in self._rows],
            self.args.tokens_per_batch,
            self.args.seed if self.args.data_seed is None else self.args.data_seed,
            self._shard.rank,
            self._shard.processes,
        )
        # The collator looks rows up by number.
        numbers = Numbered(range(len(self._rows)))
        return _EpochLoader(
            numbers, batch_sampler=sampler, collate_fn=self._collate, pin_memory=torch.cuda.is_available()
        )

    def _collate(self, numbers: Sequence[int]) -> dict[str, Any]:
        rows = [self._rows[i] for i in numbers]
        inputs: dict[str, Any] = {
            "targets": torch.from_numpy(np.concatenate([np.zeros((0, 3), np.float32), *(row.targets for row in rows)])),
            "labelled": sum(row.labelled for row in rows),
            "tokens": sum(len(row.row.input_ids) for row in rows),
        }
        if self._states is not None:
            width = self._states[0].shape[-1]
            inputs["site_features"] = torch.cat([torch.zeros(0, width), *(self._states[i] for i in numbers)])
            return inputs
        batch = pad_rows([row.row for row in rows], self._pad)
        if self._lower is not None and numbers:
            inputs["lower_states"] = self._lower.padded(numbers)
            inputs["skipped_layers"] = self._lower.layers
        return {**inputs, **{name: getattr(batch, name) for name in batch.__slots__}}

    def get_batch_samples(
        self, epoch_iterator: Iterator[Any], num_batches: int, device: torch.device
    ) -> tuple[list[Any], Any]:
        """The micro-batches of one update, and the labelled sites of all of them on all processes."""
        batches = []
        for _ in range(num_batches):
            batch = next(epoch_iterator, None)
            if batch is not None:
                batches.append(batch)
        labelled = torch.tensor(float(sum(batch["labelled"] for batch in batches)), device=device)
        self.trained_tokens += sum(batch["tokens"] for batch in batches)
        if self.args.world_size > 1:
            labelled = self.accelerator.gather(labelled[None]).sum()
        return batches, labelled

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """`site_cross_entropy`, times the number of processes since DDP and FSDP average gradients over them."""
        features = {name: value for name, value in inputs.items() if name not in ("targets", "labelled", "tokens")}
        outputs = model(**features)
        total = num_items_in_batch if num_items_in_batch is not None else inputs["labelled"]
        loss = site_cross_entropy(outputs.logits, inputs["targets"], total) * self.args.world_size
        return (loss, outputs) if return_outputs else loss

    def create_model_card(self, *arguments: Any, **keywords: Any) -> None:
        """Keeps the card that `prm.training.model_card` wrote; the Trainer's own would replace it on a push."""

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """As the Trainer counts them; 0 where the backbone is not run."""
        return super().floating_point_ops(inputs) if "input_ids" in inputs else 0

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """StepAcc, FirstErrAcc and what else `prm.evaluation.step_metrics.summary` says, and the mean loss.

        Each process scores its share of the batches; results are gathered by row number, so no padded duplicate is
        counted twice.
        """
        validation: Any = eval_dataset if eval_dataset is not None else self._validation
        model = self.model_wrapped
        training = model.training
        model.eval()
        found = self._probabilities(model, validation)
        model.train(training)
        predictions = predictions_of(validation.trajectories, validation.rows, found, validation.finish)
        values = {"loss": _mean_loss(validation.rows, found), **summary(validation.trajectories, predictions)}
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in values.items() if value is not None}
        self.log(metrics)
        self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _probabilities(self, model: Any, validation: ValidationSet) -> dict[int, FloatArray]:
        if validation.states is not None:
            return _head_probabilities(model, validation.states, self.args.device)
        found = site_probabilities(
            model,
            [row for _, row in validation.rows],
            self.args.tokens_per_batch,
            self._pad,
            autocast=autocast_dtype(self.args),
            shard=self._shard,
            lower=validation.lower,
        )
        return found if self.args.world_size == 1 else gathered(found)


@torch.no_grad()
def _head_probabilities(model: Any, states: Sequence[torch.Tensor], device: torch.device) -> dict[int, FloatArray]:
    """The head alone on states computed earlier; every process does all of them, since they cost nothing."""
    logits = model(site_features=torch.cat(list(states)).to(device)).logits
    vectors = logits.double().softmax(-1).cpu().split([len(state) for state in states])
    return {number: part.numpy() for number, part in enumerate(vectors)}


def _mean_loss(rows: Sequence[tuple[int, Row]], found: dict[int, FloatArray]) -> float | None:
    """Mean −log p of the true class over the labelled sites; None without any."""
    losses = [
        -float(np.log(max(vector[site.class_id], 1e-12)))
        for number, (_, row) in enumerate(rows)
        for site, vector in zip(row.sites, found[number], strict=True)
        if site.class_id >= 0
    ]
    return sum(losses) / len(losses) if losses else None
