"""The verb `prm evaluate`: measures judges against labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from prm.types import Prediction, Trajectory

_SEVERAL = ("--gold", "--predictions", "--baseline", "--ensemble", "--independent", "--logs")
"""Options that take several values after one name."""

_FILES, _FOLDERS = ("metrics.json", "report.html"), ("plots", "tables")
"""What is written into --out."""


class EnsembleRule(str, Enum):
    """How an ensemble decides; see `prm.evaluation.ensemble`."""

    VOTE = "vote"
    MEAN_PROBABILITY = "mean_probability"


def spread_values(arguments: list[str]) -> list[str]:
    """``--gold a b`` → ``--gold a --gold b``, which is how click wants it; ``--gold=a b`` likewise."""
    spread: list[str] = []
    current, taken = None, 0
    for argument in arguments:
        if argument.startswith("-"):
            name, equals, _ = argument.partition("=")
            current, taken = (name, 1 if equals else 0) if name in _SEVERAL else (None, 0)
            spread.append(argument)
            continue
        if current is not None and taken > 0:
            spread.append(current)
        spread.append(argument)
        taken += 1
    return spread


class ManyValues(TyperCommand):
    """A command whose options in `_SEVERAL` may be followed by more than one value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As a command does, each value behind its option's name."""
        return super().parse_args(ctx, spread_values(args))


def register(app: typer.Typer) -> None:
    """Add this module's verb to the root command."""
    app.command("evaluate", cls=ManyValues)(evaluate)


def evaluate(
    gold: Annotated[list[Path], typer.Option("--gold", help="Files (or folders) with the labels.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for metrics.json and the report.")],
    predictions: Annotated[
        list[str] | None,
        typer.Option("--predictions", metavar="NAME=PATH", help="A judge's JSONL file or folder."),
    ] = None,
    predictions_dir: Annotated[
        Path | None,
        typer.Option("--predictions-dir", help="Folder in which every subfolder or file is a judge."),
    ] = None,
    ensemble: Annotated[
        list[str] | None,
        typer.Option("--ensemble", metavar="NAME=A,B,…", help="A further judge made of others; NAME=* takes all."),
    ] = None,
    ensemble_by: Annotated[
        EnsembleRule, typer.Option("--ensemble-by", help="How the members of every ensemble decide.")
    ] = EnsembleRule.VOTE,
    independent: Annotated[
        list[str] | None,
        typer.Option(
            "--independent",
            metavar="JUDGE=PATH",
            help="The same judge's predictions under the protocol `independent`, compared on Best-of-N.",
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", metavar="NAME", help="majority, position_prior or bag_of_words."),
    ] = None,
    baseline_train: Annotated[
        Path | None,
        typer.Option("--baseline-train", help="Fit majority, position_prior and others on FILE, not leave-query-out."),
    ] = None,
    bag_of_words: Annotated[
        bool, typer.Option("--bag-of-words", help="Add the bag-of-words classifier (needs messages).")
    ] = False,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamplings of the queries; 0 = no intervals.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the resampling and of the folds.")] = 0,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html, plots/ and tables/ as well.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print metrics.json instead of the table.")] = False,
) -> None:
    """Measure judges against labels: step, first-error and outcome accuracy, Best-of-N, baselines, and a report."""
    from prm.cli.files import check_folder, file_errors
    from prm.cli.progress import stages
    from prm.cli.terminal import show_json
    from prm.data.jsonl import write_json
    from prm.evaluation.intervals import check_resampling
    from prm.evaluation.metrics_file import evaluate as measure
    from prm.evaluation.sources import judge_paths, load_gold

    names = _requested(baseline or [], baseline_train, bag_of_words)
    check_resampling(bootstrap, seed)
    with file_errors(), stages() as stage:
        paths = judge_paths(predictions or (), predictions_dir)
        again = judge_paths(independent, None, "--independent") if independent else {}
        check_folder("--out", out, folders=_FOLDERS if report else (), files=_FILES if report else _FILES[:1])
        stage("reading the labels")
        truth = load_gold(gold)
        judges = _load(paths, stage)
        ensembles = _add_ensembles(truth, judges, ensemble or [], ensemble_by)
        stage("fitting baselines")
        baselines = _baselines(truth, names, baseline_train)
        alone = _load(again, stage)
        stage(f"measuring {len(judges)} judges")
        metrics = measure(
            truth,
            judges,
            baselines=baselines,
            independent=alone,
            ensembles=ensembles,
            bootstrap=bootstrap,
            seed=seed,
        )
        write_json(out / _FILES[0], metrics)
        written = [out / _FILES[0]]
        if report:
            from prm.report.write import write_report

            stage("writing the report")
            written += write_report(out, metrics, truth, judges)[:1]
    if as_json:
        show_json(metrics)
    else:
        _print_tables(metrics, written)


def _load(paths: dict[str, Path], stage: Callable[[str], None]) -> dict[str, Sequence[Prediction]]:
    from prm.evaluation.sources import load_predictions

    judges: dict[str, Sequence[Prediction]] = {}
    for number, (name, path) in enumerate(paths.items(), start=1):
        stage(f"reading judge {number} of {len(paths)}")
        judges[name] = load_predictions(path)
    return judges


def _add_ensembles(
    gold: list[Trajectory], judges: dict[str, Sequence[Prediction]], texts: list[str], rule: EnsembleRule
) -> dict[str, dict[str, Any]]:
    """Adds each ensemble to the judges → what it is made of."""
    from prm.evaluation.ensemble import mean_ensemble, parse_ensembles, vote_ensemble

    combine = {EnsembleRule.VOTE: vote_ensemble, EnsembleRule.MEAN_PROBABILITY: mean_ensemble}[rule]
    ensembles = parse_ensembles(texts, judges)
    judges |= {name: combine(gold, {m: judges[m] for m in members}) for name, members in ensembles.items()}
    return {name: {"members": list(members), "rule": rule.value} for name, members in ensembles.items()}


def _requested(names: list[str], train: Path | None, bag_of_words: bool) -> list[str]:
    """A training file asks for the two cheap baselines as well."""
    cheap = [] if train is None else ["majority", "position_prior"]
    return [*names, *cheap, *(["bag_of_words"] if bag_of_words else [])]


def _baselines(gold: list[Trajectory], names: list[str], train: Path | None) -> dict[str, list[Prediction]]:
    from prm.evaluation.baselines import fitted_baselines
    from prm.evaluation.sources import load_gold

    if not names:
        return {}
    fitted_on = None if train is None else load_gold([train])
    return fitted_baselines(gold, names, fitted_on, "" if train is None else train.name)


def _print_tables(metrics: dict[str, Any], written: list[Path]) -> None:
    from prm.cli.terminal import show
    from prm.evaluation.table import tables

    show(tables(metrics), [f"wrote {path}" for path in written])
