"""Shows training on the terminal and writes `history.jsonl`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from transformers import EarlyStoppingCallback, PrinterCallback, ProgressCallback, TrainerCallback

from prm.models.memory import trim_heap

_SHOWN = {"eval_step_acc": "StepAcc", "eval_first_err_acc": "FirstErrAcc", "eval_loss": "loss"}


def watch(trainer: Any, folder: Path, *further: TrainerCallback) -> None:
    """Puts our callbacks in place of transformers' own: progress, the heap, early stopping where it is asked for."""
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    for callback in (TrainingProgress(folder), *further, HeapTrim()):
        trainer.add_callback(callback)
    if trainer.args.early_stopping_patience is not None:
        trainer.add_callback(EarlyStoppingCallback(trainer.args.early_stopping_patience))


class TrainingProgress(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """A progress bar, one line an evaluation, and one line a log entry in `history.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self._history = folder / "history.jsonl"
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Starts the bar."""
        if state.is_world_process_zero:
            # What a run has logged before it begins comes from its checkpoint, which may be that of the start.
            resumed = state.global_step > 0 or bool(state.log_history)
            self._forget_after(state.global_step if resumed else -1)
            self._bar.start()
            self._task = self._bar.add_task("training", total=state.max_steps, completed=state.global_step, note="")

    def _forget_after(self, step: int) -> None:
        """A resumed run writes again what came after its checkpoint."""
        if self._history.exists():
            lines = self._history.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = [line for line in lines if line.endswith("\n") and json.loads(line).get("step", 0) <= step]
            self._history.write_text("".join(kept), encoding="utf-8")

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Moves the bar."""
        if self._task is not None:
            self._bar.update(self._task, completed=state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Notes the loss, prints an evaluation, writes the entry down."""
        if self._task is None or not logs:
            return
        with self._history.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"step": state.global_step, "epoch": state.epoch, **logs}) + "\n")
        if "loss" in logs:
            self._bar.update(self._task, note=f"loss {logs['loss']:.3f}")
        if "eval_step_acc" in logs:
            shown = "  ".join(f"{text} {_shown(name, logs[name])}" for name, text in _SHOWN.items() if name in logs)
            self._bar.console.print(f"step {state.global_step}: validation {shown}")

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Stops the bar."""
        if self._task is not None:
            self._bar.stop()
            self._task = None


class HeapTrim(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """On a CPU: gives freed memory back now and then, since batches of ever new shapes tear holes into the heap."""

    _EVERY_STEPS = 20

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Trims every so many updates."""
        if args.device.type == "cpu" and state.global_step % self._EVERY_STEPS == 0:
            trim_heap()

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Trims after an evaluation."""
        if args.device.type == "cpu":
            trim_heap()


def _shown(name: str, value: float) -> str:
    return f"{value:.3f}" if name == "eval_loss" else f"{100 * value:.1f}"
