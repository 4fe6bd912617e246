"""Real training tokens a second: `StepTrainer`'s token-budget batches against the stock `Trainer`'s padded ones.

Model, weights' type, frozen layers, autocast, rows, optimiser and epochs are the same; the stock side trains on random
batches of 1, 4 and 8 rows, and its best size counts. Tokens are those of the rows, padding is not counted. On our side
the output of the frozen layers is computed once and kept, and that time counts.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean, median
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import (
    DataCollatorForTokenClassification,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from benchmarks.measure import alternate, peak_megabytes, ratio, reset_peak_memory, summary
from benchmarks.models import Subject
from benchmarks.report import Report, shown
from benchmarks.runs import evenly_spaced, quantiles, row_lengths
from prm.data.encode import IGNORED, Row
from prm.models.lower_states import frozen_layers, lower_states
from prm.training.arguments import StepTrainingArguments
from prm.training.step_trainer import StepTrainer
from prm.training.targets import TargetOptions, TrainingRow, training_rows
from prm.types import Trajectory

STOCK_BATCH_SIZES = (1, 4, 8)
TOKENS_PER_BATCH = 2600
"""As in the quickstart recipe."""

EPOCHS = 3
"""As many as a small labelled set is usually trained for."""

_COMMON: dict[str, Any] = {
    "num_train_epochs": EPOCHS,
    "bf16": True,
    "learning_rate": 4e-4,
    "weight_decay": 0.01,
    "save_strategy": "no",
    "eval_strategy": "no",
    "logging_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
}


def bench_training(name: str, runs: Sequence[Trajectory], subject: Subject, tokens: int, repeats: int) -> Report:
    """Measures both sides on about `tokens` tokens of the runs' rows, evenly spaced by length.

    One untimed round comes first.
    """
    every, _ = training_rows(runs, subject.encoder, TargetOptions())
    rows = sample_rows(every, tokens)
    sides = _Sides(subject, rows)
    measured: dict[str, Callable[[int], float]] = {"prm": sides.ours}
    measured |= {f"stock {size}": partial(sides.stock, size) for size in STOCK_BATCH_SIZES}
    alternate(measured, 1)
    sides.peaks.clear()
    seconds = alternate(measured, repeats)
    sizes = {
        "model": subject.name,
        "num_layers": subject.num_layers,
        "trainable_layers": subject.trainable_layers,
        "max_tokens": subject.max_tokens,
        "tokens_per_batch": TOKENS_PER_BATCH,
        "epochs": EPOCHS,
        "repeats": repeats,
        "threads": torch.get_num_threads(),
        "set": quantiles(_lengths(every)),
        "sample": quantiles(_lengths(rows)),
    }
    return _report(name, seconds, sides.peaks, sizes)


def sample_rows(rows: Sequence[TrainingRow], tokens: int) -> list[TrainingRow]:
    """Rows of about `tokens` tokens in all, at least one, with the lengths of the whole."""
    by_length = sorted(rows, key=lambda row: len(row.row.input_ids))
    return evenly_spaced(by_length, max(1, round(tokens / mean(_lengths(rows)))))


def _lengths(rows: Sequence[TrainingRow]) -> list[int]:
    return row_lengths([row.row for row in rows])


def _report(name: str, seconds: dict[str, list[float]], peaks: dict[str, list[float]], sizes: dict[str, Any]) -> Report:
    best = min((side for side in seconds if side != "prm"), key=lambda side: median(seconds[side]))
    tokens = EPOCHS * sizes["sample"]["tokens"]
    rates = {side: summary([tokens / value for value in values]) for side, values in seconds.items()}
    gain = ratio(seconds[best], seconds["prm"])
    memory = {side: max(values) for side, values in peaks.items()}
    figures = {"ratio": gain, "best_stock": best, "tokens_per_second": rates, "peak_megabytes": memory}
    line = (
        f"{shown(gain)} the training tokens/s of the stock Trainer: {rates['prm']['median']:.0f} against "
        f"{rates[best]['median']:.0f} at its best batch size ({best.split()[1]}); "
        f"p90/p50 length {sizes['set']['p90_over_p50']}"
    )
    if memory:
        line += f"; peak memory {memory['prm']:.0f} against {memory[best]:.0f} MB"
    return Report("train", name, line, figures, sizes)


class _Sides:
    """The two models and their rows; each call trains `EPOCHS` epochs and returns the seconds of its loop.

    Attributes:
        peaks: Side → peak resident memory of each call, in 10⁶ bytes; both models are in memory all the time.
    """

    def __init__(self, subject: Subject, rows: Sequence[TrainingRow]) -> None:
        self.peaks: dict[str, list[float]] = {}
        self._tokenizer = subject.tokenizer
        self._rows = rows
        self._stock_rows = _StockRows([row.row for row in rows])
        self._site_model = subject.site_model()
        self._stock_model = subject.stock_model()

    def ours(self, repeat: int) -> float:
        """`StepTrainer`, the frozen layers' output kept from the first epoch on."""
        rows = [row.row for row in self._rows]
        pad = self._tokenizer.pad_token_id or 0
        start = time.perf_counter()
        skipped = frozen_layers(self._site_model)
        lower = (
            lower_states(self._site_model, rows, skipped, TOKENS_PER_BATCH, pad, torch.bfloat16) if skipped else None
        )
        preparation = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder:
            arguments = StepTrainingArguments(
                output_dir=folder,
                tokens_per_batch=TOKENS_PER_BATCH,
                load_best_model_at_end=False,
                remove_unused_columns=False,
                seed=repeat,
                **_COMMON,
            )
            trainer = StepTrainer(
                model=self._site_model,
                args=arguments,
                rows=self._rows,
                validation=None,
                pad_token_id=pad,
                lower=lower,
            )
            return preparation + self._loop_seconds("prm", trainer)

    def stock(self, batch_size: int, repeat: int) -> float:
        """`transformers.Trainer` on random batches of `batch_size` rows."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                output_dir=folder,
                per_device_train_batch_size=batch_size,
                use_cpu=not torch.accelerator.is_available(),
                seed=repeat,
                **_COMMON,
            )
            trainer = Trainer(
                model=self._stock_model,
                args=arguments,
                train_dataset=self._stock_rows,
                data_collator=DataCollatorForTokenClassification(self._tokenizer, label_pad_token_id=IGNORED),
            )
            return self._loop_seconds(f"stock {batch_size}", trainer)

    def _loop_seconds(self, side: str, trainer: Trainer) -> float:
        clock = _LoopClock()
        trainer.add_callback(clock)
        trainer.remove_callback(PrinterCallback)
        gc.collect()
        reset_peak_memory()
        trainer.train()
        peak = peak_megabytes()
        if peak is not None:
            self.peaks.setdefault(side, []).append(peak)
        # Takes the autocast wrapper off again: the next trainer puts its own around the forward.
        trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
        return clock.seconds


class _LoopClock(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Seconds from the first batch to the last update, without set-up."""

    seconds = 0.0

    def on_train_begin(self, *args: Any, **kwargs: Any) -> None:
        """Starts it."""
        self._start = time.perf_counter()

    def on_train_end(self, *args: Any, **kwargs: Any) -> None:
        """Stops it."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.seconds = time.perf_counter() - self._start


class _StockRows(Dataset[dict[str, list[int]]]):
    """Rows as token classification has them: a label at each token, `IGNORED` but at the sites."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [{"input_ids": row.input_ids.tolist(), "labels": token_labels(row)} for row in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> dict[str, list[int]]:
        return self._rows[number]


def token_labels(row: Row) -> list[int]:
    """The class of every token, `[T]`: a site's class at its position, `IGNORED` elsewhere."""
    labels = [IGNORED] * len(row.input_ids)
    for site in row.sites:
        labels[site.position] = site.class_id
    return labels
