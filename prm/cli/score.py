"""`prm score`: predictions of a step classifier for a file of trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from prm.models.step_classifier import StepClassifier


def register(app: typer.Typer) -> None:
    """Add ``prm score``."""
    app.command("score")(score)


def score(
    model: Annotated[str, typer.Option("--model", help="Folder or hub id of a step classifier.")],
    data: Annotated[list[str], typer.Option("--data", help="Trajectory files; may be repeated.")],
    out: Annotated[Path, typer.Option("--out", help="Predictions file to write.")],
    reader: Annotated[str | None, typer.Option(help="A reader's name or module:function; detected otherwise.")] = None,
    online: Annotated[bool, typer.Option("--online", help="Plan each step's budget from the past alone.")] = False,
    tokens_per_batch: Annotated[int, typer.Option(min=1, help="Padded tokens of a forward pass.")] = 8192,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    bf16: Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16 over float32 weights.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda …; the GPU where there is one.")] = None,
    attn_implementation: Annotated[str | None, typer.Option(help="As in transformers.")] = None,
    states_cache: Annotated[
        Path | None, typer.Option(help="Folder that keeps a frozen backbone's states, shared with training.")
    ] = None,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code of the model's repository.")] = False,
) -> None:
    """Score every step of every trajectory, each trajectory in one forward pass. Killed runs go on where they were."""
    from rich.console import Console

    from prm.cli.quiet import quieten_transformers
    from prm.data.readers.registry import iterate_all, refuse_missing
    from prm.models.processes import start_processes
    from prm.models.score_file import score_file
    from prm.models.step_classifier import ScoreOptions, StepClassifier

    quieten_transformers()
    refuse_missing(data)
    processes = start_processes(device)
    classifier = StepClassifier.from_pretrained(
        model,
        device=processes.device,
        dtype=dtype,
        attn_implementation=attn_implementation,
        trust_remote_code=trust_remote_code,
    )
    import torch

    options = ScoreOptions(tokens_per_batch, online, torch.bfloat16 if bf16 else None, states_cache)
    with _progress(Console(stderr=True), processes.shard.rank == 0) as advance:
        count = score_file(
            classifier,
            iterate_all(data, reader),
            out,
            options,
            fingerprint=_fingerprint(model, data, classifier, options, dtype),
            shard=processes.shard,
            gather=processes.gather,
            on_scored=advance,
        )
    if processes.shard.rank == 0:
        typer.echo(f"{out}: {count} predictions")
        typer.echo(f"next: prm evaluate --gold {' '.join(data)} --predictions judge={out} --out evaluation")


def _fingerprint(model: str, data: list[str], classifier: StepClassifier, options: Any, dtype: str) -> dict[str, Any]:
    from dataclasses import asdict

    folder = Path(model)
    stamps = [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in data if Path(path).exists()]
    weights = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in folder.glob("*.safetensors"))
    settings = {name: str(value) for name, value in asdict(options).items()}
    return {
        "data": stamps,
        "model": [model, weights, asdict(classifier.info)],
        "options": settings,
        "dtype": dtype,
    }


def _progress(console: Any, shown: bool) -> Any:
    from contextlib import contextmanager

    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    @contextmanager
    def bar() -> Any:
        columns = (
            TextColumn("scoring"),
            BarColumn(),
            TextColumn("{task.completed} runs"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console, disable=not shown) as progress:
            task = progress.add_task("scoring", total=None)
            yield lambda count: progress.advance(task, count)

    return bar()
