"""`prm judge`: predictions of a generative judge for a file of trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from prm.models.judge.local_judge import LocalJudge
    from prm.models.judge.prompt import JudgePromptConfig

_SHOWN_REASONS = 3


def register(app: typer.Typer) -> None:
    """Add ``prm judge``."""
    app.command("judge")(judge)


def judge(
    model: Annotated[str, typer.Option("--model", help="Folder, hub id or base model's name of a causal model.")],
    data: Annotated[list[str], typer.Option("--data", help="Trajectory files; may be repeated.")],
    out: Annotated[Path, typer.Option("--out", help="Predictions file to write.")],
    reader: Annotated[str | None, typer.Option(help="A reader's name or module:function; detected otherwise.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Answers to each run; of several the vote counts.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="0 = greedy; 1 where there are several samples.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Fixes sampled answers.")] = 0,
    answer_format: Annotated[
        str | None, typer.Option(help="compact or json; as the judge was trained, else compact.")
    ] = None,
    protocol: Annotated[str | None, typer.Option(help="error_propagation or independent; as trained.")] = None,
    max_prompt_tokens: Annotated[int | None, typer.Option(help="Tokens of a prompt; as trained, else 4096.")] = None,
    max_tool_tokens: Annotated[int | None, typer.Option(help="Tokens that a tool result may keep; as trained.")] = None,
    decoding: Annotated[
        str, typer.Option(help="forced (verdicts in a fixed frame, compact only) or free (the whole answer).")
    ] = "forced",
    max_answer_tokens: Annotated[int, typer.Option(min=1, help="Tokens of a free answer.")] = 1024,
    tokens_per_batch: Annotated[int, typer.Option(min=1, help="Padded tokens judged at once.")] = 8192,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    bf16: Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16 over float32 weights.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda …; the GPU where there is one.")] = None,
    attn_implementation: Annotated[str | None, typer.Option(help="As in transformers.")] = None,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code of the model's repository.")] = False,
) -> None:
    """Let a language model label every step of every trajectory. Killed runs go on where they were."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.quiet import quieten_transformers
    from prm.data.readers.registry import iterate_all, refuse_missing
    from prm.models.journal import JournalPlan, predict_file
    from prm.models.judge.local_judge import CHUNK, JudgeOptions, LocalJudge
    from prm.models.processes import start_processes

    quieten_transformers()
    refuse_missing(data)
    check_file("--out", out, [Path(path) for path in data if Path(path).is_file()])
    _refuse_device(device)
    processes = start_processes(device)
    import torch

    warmth = (1.0 if samples > 1 else 0.0) if temperature is None else temperature
    arithmetic = torch.bfloat16 if bf16 else None
    options = JudgeOptions(samples, warmth, seed, cast(Any, decoding), max_answer_tokens, tokens_per_batch, arithmetic)
    wanted = {
        "answer_format": answer_format,
        "protocol": protocol,
        "max_prompt_tokens": max_prompt_tokens,
        "max_tool_tokens": max_tool_tokens,
    }
    judge = LocalJudge.from_pretrained(
        model,
        prompt=_prompt_config(model, {name: value for name, value in wanted.items() if value is not None}),
        options=options,
        device=processes.device,
        dtype=dtype,
        attn_implementation=attn_implementation,
        trust_remote_code=trust_remote_code,
    )
    main = processes.shard.rank == 0
    plan = JournalPlan(out, _fingerprint(model, data, judge, dtype), CHUNK, writes=main)
    with file_errors(), _progress(main) as advance:
        predict_file(
            iterate_all(data, reader),
            lambda chunk: judge.judge_shard(chunk, processes.shard, processes.gather),
            plan,
            advance,
        )
    if main:
        _report(out, data)


def _refuse_device(device: str | None) -> None:
    """Refuses a device that torch does not know, or that is not here."""
    import torch

    from prm.errors import ConfigError

    if device is None:
        return
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        todo = "name one such as cpu, cuda or cuda:0, or leave it out"
        raise ConfigError.at("--device", "must be a device of this machine", device, todo) from None


def _prompt_config(model: str, wanted: dict[str, Any]) -> JudgePromptConfig | None:
    """The stored way of asking with what the user wants otherwise; None = all as stored."""
    from dataclasses import replace

    from prm.models.fetch import resolve_model
    from prm.models.judge.checkpoint import read_judge_info
    from prm.models.judge.prompt import JudgePromptConfig

    if not wanted:
        return None
    stored = read_judge_info(resolve_model(model))
    return replace(stored.prompt if stored else JudgePromptConfig(), **wanted)


def _fingerprint(model: str, data: list[str], judge: LocalJudge, dtype: str) -> dict[str, Any]:
    from dataclasses import asdict

    from prm.models.fetch import resolve_model

    stamps = [(path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns) for path in data if Path(path).exists()]
    folder = Path(resolve_model(model))
    weights = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in folder.glob("*.safetensors"))
    return {
        "data": [data, stamps],
        "model": [model, weights, asdict(judge.info)],
        "options": {name: str(value) for name, value in asdict(judge.options).items()},
        "dtype": dtype,
    }


def _report(out: Path, data: list[str]) -> None:
    """Says how many runs were judged, and why not all were."""
    from collections import Counter

    from prm.data.records import read_predictions

    status: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for prediction in read_predictions(out):
        status[prediction.status] += 1
        if prediction.reason is not None:
            reasons[prediction.reason] += 1
    counts = ", ".join(f"{status[name]} {name}" for name in ("ok", "partial", "failed"))
    typer.echo(f"{out}: {sum(status.values())} predictions ({counts})")
    for reason, count in reasons.most_common(_SHOWN_REASONS):
        typer.echo(f"  {count} x {reason}")
    if len(reasons) > _SHOWN_REASONS:
        typer.echo(f"  and {len(reasons) - _SHOWN_REASONS} other reasons; see the records' `reason`")
    typer.echo(f"next: prm evaluate --gold {' '.join(data)} --predictions judge={out} --out evaluation")


def _progress(shown: bool) -> Any:
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from prm.errors import PrmError

    @contextmanager
    def bar() -> Any:
        columns = (TextColumn("judging"), BarColumn(), TextColumn("{task.completed} runs"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), disable=not shown) as progress:
            task = progress.add_task("judging", total=None)
            try:
                yield lambda count: progress.advance(task, count)
            except PrmError:
                # An error is one line, without the bar above it.
                progress.live.transient = True
                progress.live.stop()
                progress.disable = True
                raise

    return bar()
