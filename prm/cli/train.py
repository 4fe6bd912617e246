"""`prm train …`: the options are those of transformers and ours, parsed by HfArgumentParser, not by typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prm.cli.train_grpo import train_grpo
from prm.cli.train_judge import train_judge

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def register(app: typer.Typer) -> None:
    """Add ``prm train``."""
    train = typer.Typer(help="Train a judge.", no_args_is_help=True)
    train.command("supervised", context_settings=_PASS_ON)(train_supervised)
    train.command("judge", context_settings=_PASS_ON)(train_judge)
    train.command("grpo", context_settings=_PASS_ON)(train_grpo)
    app.add_typer(train, name="train")


def train_supervised(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option("--config", help="A YAML recipe.")] = None,
    show_help: Annotated[bool, typer.Option("--help", "-h", help="Show every option.")] = False,
) -> None:
    """Fine-tune a step classifier: prm train supervised --config recipe.yaml [--option value …]."""
    from prm.cli.output_dir import output_dir
    from prm.cli.quiet import quieten_transformers
    from prm.training.arguments import parse_recipe, parser

    if show_help:
        typer.echo(parser().format_help())
        return
    quieten_transformers()
    options = parse_recipe(config, context.args)
    from prm.training.supervised import train_supervised as train

    with output_dir(options.training, options.model.model):
        result = train(options)
    if options.training.process_index == 0:
        typer.echo(_summary(options.training.output_dir, result))


def _summary(folder: str, result: dict[str, object]) -> str:
    shown = {"StepAcc": result.get("eval_step_acc"), "FirstErrAcc": result.get("eval_first_err_acc")}
    parts = [f"{name} {100 * value:.1f} %" for name, value in shown.items() if isinstance(value, float)]
    tail = f" (validation: {', '.join(parts)})" if parts else ""
    return (
        f"{folder}: step classifier ready{tail}\nnext: prm score --model {folder} --data FILE --out predictions.jsonl"
    )
