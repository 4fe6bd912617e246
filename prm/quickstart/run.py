"""Runs the main job on the built-in ticket desk, each stage by the function that its verb calls.

The step labels are those of Reach's rules; the ones known by construction stay beside them, under `reach.known`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prm.data.build import BuildOptions, build
from prm.data.jsonl import write_json, write_jsonl
from prm.data.records import dump_trajectory, read_predictions, read_trajectories
from prm.evaluation.baselines import fitted_baselines
from prm.evaluation.metrics_file import evaluate
from prm.models.fetch import resolve_model
from prm.models.memory import release_memory
from prm.models.score_file import score_file
from prm.models.step_classifier import ScoreOptions, StepClassifier
from prm.reach.desk.generate import generate_runs
from prm.reach.labels.known_labels import relabel_by_rules
from prm.report.write import write_report
from prm.training.arguments import parse_recipe
from prm.training.supervised import train_supervised

RECIPE = Path(__file__).parent / "recipe.yaml"
JUDGE = "step classifier"
BAG_OF_WORDS = "bag_of_words"
BASE_MODEL = "smollm2-135m"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QuickstartOptions:
    """How large the quickstart is.

    Attributes:
        runs: Ticket-desk runs to generate.
        seed: Draws the runs and the split.
        overrides: Options of `prm train supervised` that win over the recipe.
    """

    runs: int = 440
    seed: int = 0
    overrides: Sequence[str] = ()


def run_quickstart(out: Path, options: QuickstartOptions) -> dict[str, Any]:
    """Generates, splits by template, trains, scores and evaluates. Run again, it goes on where it was.

    Args:
        out: Folder of everything it writes.
        options: Its size and seed.

    Returns:
        The metrics, as in metrics.json.
    """
    split = out / "data"
    training = parse_recipe(RECIPE, [*_arguments(out, split), *options.overrides])
    _log.info("1/5 data: %d runs of scripted agents on the ticket desk, labelled by rule", options.runs)
    runs = out / "runs.jsonl"
    write_jsonl(runs, map(dump_trajectory, relabel_by_rules(generate_runs(options.runs, options.seed))))
    build([str(runs)], split, BuildOptions(seed=options.seed, holdout_key="template"))
    _log.info("2/5 base model")
    resolve_model(BASE_MODEL)
    _log.info("3/5 training (%s)", RECIPE.name)
    train_supervised(training)
    release_memory()
    _log.info("4/5 scoring runs of templates that were never trained on")
    predictions = _score(out / "model", split / "test.jsonl", out / "predictions.jsonl")
    _log.info("5/5 evaluation, with a bag-of-words classifier beside it")
    return _evaluate(split, predictions, out / "evaluation")


def _arguments(out: Path, split: Path) -> list[str]:
    values = {
        "train_data": split / "train.jsonl",
        "validation_data": split / "validation.jsonl",
        "output_dir": out / "model",
        "resume": True,
    }
    return [text for name, value in values.items() for text in (f"--{name}", str(value))]


def _score(model: Path, data: Path, out: Path) -> Path:
    import torch

    classifier = StepClassifier.from_pretrained(model)
    options = ScoreOptions(tokens_per_batch=4096, autocast=torch.bfloat16)
    score_file(classifier, read_trajectories(data), out, options, fingerprint={"model": str(model)})
    return out


def _evaluate(split: Path, predictions: Path, out: Path) -> dict[str, Any]:
    gold = list(read_trajectories(split / "test.jsonl"))
    train = list(read_trajectories(split / "train.jsonl"))
    judges = {JUDGE: list(read_predictions(predictions))}
    baselines = fitted_baselines(gold, [BAG_OF_WORDS], train, "train.jsonl")
    metrics = evaluate(gold, judges, baselines=baselines)
    write_json(out / "metrics.json", metrics)
    write_report(out, metrics, gold, judges)
    return metrics


def margins(metrics: Mapping[str, Any]) -> dict[str, float]:
    """By how many points of StepAcc the judge beats each baseline."""
    own = metrics["judges"][JUDGE]["overall"]["step_acc"]
    return {name: 100 * (own - block["overall"]["step_acc"]) for name, block in metrics["baselines"].items()}
