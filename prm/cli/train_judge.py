"""`prm train judge`: supervised fine-tuning of a generative judge; its options are TRL's and ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train_judge(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option("--config", help="A YAML recipe.")] = None,
    show_help: Annotated[bool, typer.Option("--help", "-h", help="Show every option.")] = False,
) -> None:
    """Fine-tune a judge on labelled runs: prm train judge --config recipe.yaml [--option value …]."""
    from prm.cli.output_dir import output_dir
    from prm.cli.quiet import quieten_transformers
    from prm.training.judge.options import RECIPE, parse_judge_recipe

    if show_help:
        typer.echo(RECIPE.parser().format_help())
        return
    quieten_transformers()
    options = parse_judge_recipe(config, context.args)
    from prm.training.judge.sft import train_judge as train

    with output_dir(options.training, options.model.model):
        result = train(options)
    if options.training.process_index == 0:
        typer.echo(_summary(options.training.output_dir, result))


def _summary(folder: str, result: dict[str, object]) -> str:
    shown = {
        "StepAcc": result.get("eval_step_acc"),
        "always +1": result.get("eval_always_positive_step_acc"),
        "FirstErrAcc": result.get("eval_first_err_acc"),
    }
    parts = [f"{name} {100 * value:.1f} %" for name, value in shown.items() if isinstance(value, float)]
    tail = f" (validation: {', '.join(parts)})" if parts else ""
    return f"{folder}: judge ready{tail}\nnext: prm judge --model {folder} --data FILE --out predictions.jsonl"
