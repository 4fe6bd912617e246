"""`prm train grpo`: the options are those of TRL or transformers and ours, parsed by HfArgumentParser, not by typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_JUDGE, _CLASSIFIER = "judge", "classifier"


def train_grpo(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option("--config", help="A YAML recipe.")] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="What is trained: judge or classifier; else as the recipe says, else judge."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and end.")] = False,
    show_help: Annotated[bool, typer.Option("--help", "-h", help="Show every option.")] = False,
) -> None:
    """Train a judge, or a step classifier, by GRPO: prm train grpo --config recipe.yaml [--option value …]."""
    from prm.cli.quiet import quieten_transformers

    chosen = _chosen_policy(policy, config)
    if show_help:
        _show_help(chosen)
        return
    quieten_transformers()
    train = _train_classifier if chosen == _CLASSIFIER else _train_judge
    train(config, context.args, dry_run)


def _chosen_policy(policy: str | None, config: Path | None) -> str:
    """The command line's word, else the recipe's, else a judge."""
    from prm.errors import ConfigError

    where = "--policy"
    if policy is None and config is not None:
        from prm.training.recipe import read_recipe

        policy, where = read_recipe(config).get("policy"), f"{config}: policy"
    policy = _JUDGE if policy is None else policy
    if policy not in (_JUDGE, _CLASSIFIER):
        raise ConfigError.at(where, f"must be {_JUDGE} or {_CLASSIFIER}", policy, "change it")
    return policy


def _show_help(policy: str) -> None:
    if policy == _CLASSIFIER:
        from prm.training.classifier_grpo.options import RECIPE as classifier

        typer.echo(classifier.parser().format_help())
    else:
        from prm.training.grpo.options import RECIPE as judge

        typer.echo(judge.parser().format_help())
    typer.echo("  --policy POLICY  judge (default) or classifier; --policy classifier --help shows its options.")
    typer.echo("  --dry-run  Show what would be trained on and how, and end before the model loads.")


def _train_judge(config: Path | None, arguments: list[str], dry_run: bool) -> None:
    from prm.cli.output_dir import output_dir
    from prm.training.grpo.options import parse_grpo_recipe

    options = parse_grpo_recipe(config, arguments)
    if dry_run:
        from prm.training.grpo.dry_run import describe

        typer.echo("\n".join(describe(options)))
        return
    from prm.training.grpo.run import train_grpo as train

    with output_dir(options.training, options.model.model):
        result = train(options)
    if options.training.process_index == 0:
        folder = options.training.output_dir
        typer.echo(f"{folder}: judge ready{_measured(result)}")
        typer.echo(f"next: prm judge --model {folder} --data FILE --out predictions.jsonl")


def _train_classifier(config: Path | None, arguments: list[str], dry_run: bool) -> None:
    from prm.cli.output_dir import output_dir
    from prm.training.classifier_grpo.options import parse_classifier_grpo_recipe

    options = parse_classifier_grpo_recipe(config, arguments)
    if dry_run:
        from prm.training.classifier_grpo.dry_run import describe

        typer.echo("\n".join(describe(options)))
        return
    from prm.training.classifier_grpo.run import train_classifier_grpo as train

    with output_dir(options.training, options.model.model):
        result = train(options)
    if options.training.process_index == 0:
        folder = options.training.output_dir
        typer.echo(f"{folder}: step classifier ready{_measured(result)}")
        typer.echo(f"next: prm score --model {folder} --data FILE --out predictions.jsonl")


def _measured(result: dict[str, object]) -> str:
    start = result.get("start")
    shown = {
        "StepAcc": result.get("eval_step_acc"),
        "FirstErrAcc": result.get("eval_first_err_acc"),
        "StepAcc of the start": start.get("eval_step_acc") if isinstance(start, dict) else None,
        "always +1": result.get("eval_always_positive_step_acc"),
    }
    parts = [f"{name} {100 * value:.1f} %" for name, value in shown.items() if isinstance(value, float)]
    return f" (validation: {', '.join(parts)})" if parts else ""
