"""Cross-validates one recipe by query over a labelled file, several seeds, and leaves out one agent at a time.

    python recipes/agentprocessbench-hotpotqa/run.py hotpotqa.jsonl --out runs/hotpotqa

Every step is scored by a model that never saw its query. Run again, it goes on where it was.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from prm.cli.quiet import quieten_transformers
from prm.data.build import BuildOptions, build
from prm.data.jsonl import write_json, write_jsonl
from prm.data.readers.registry import read_all
from prm.data.records import dump_prediction, read_predictions
from prm.evaluation.baselines import fitted_baselines
from prm.evaluation.metrics_file import evaluate
from prm.evaluation.table import WIDTH, tables
from prm.models.scoring import likeliest
from prm.models.step_classifier import ScoreOptions, StepClassifier
from prm.training.arguments import parse_recipe
from prm.training.supervised import train_supervised
from prm.types import LABELS, Prediction, Trajectory

RECIPE = Path(__file__).parent / "supervised.yaml"


def main() -> None:
    """Reads the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="a trajectory file with step labels")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    quieten_transformers()
    metrics = cross_validate(options.data, options.out, options.recipe, options.seeds, options.folds)
    Console(width=WIDTH, highlight=False).print(tables(metrics))
    for line in metrics["seeds"]["lines"]:
        print(line)


def cross_validate(data: str, out: Path, recipe: Path, seeds: Sequence[int], folds: int) -> dict[str, Any]:
    """Metrics of every seed, of their ensemble, and of leaving one agent out."""
    judges = {}
    for seed in seeds:
        options = BuildOptions(seed=seed, folds=folds, validation_share=0.0)
        judges[f"seed {seed}"] = _predict_splits(data, out / f"seed-{seed}", recipe, options, out / "states")
    judges[f"ensemble of {len(seeds)}"] = ensemble(list(judges.values()))
    unseen = BuildOptions(seed=seeds[0], folds=folds, validation_share=0.0, leave_generator_out=True)
    judges["unseen agent"] = _predict_splits(data, out / "unseen-agent", recipe, unseen, out / "states")
    gold = read_all([data])
    metrics = evaluate(gold, judges, baselines=fitted_baselines(gold, ["position_prior", "bag_of_words"], None, ""))
    names = [f"seed {seed}" for seed in seeds]
    lines = [*spread(metrics, names), paired_gain(gold, [judges[name] for name in names])]
    metrics["seeds"] = {"names": names, "lines": lines}
    write_json(out / "metrics.json", metrics)
    return metrics


def _predict_splits(data: str, folder: Path, recipe: Path, options: BuildOptions, states: Path) -> list[Prediction]:
    """One prediction for each run, each by the model of the split whose test part holds it."""
    done = folder / "predictions.jsonl"
    if not done.exists():
        build([data], folder / "data", options)
        tests = sorted((folder / "data").rglob("test.jsonl"))
        found = [
            prediction for test in tests for prediction in _predict_split(test, folder, recipe, options.seed, states)
        ]
        write_jsonl(done, (dump_prediction(prediction) for prediction in found))
    return list(read_predictions(done))


def _predict_split(test: Path, folder: Path, recipe: Path, seed: int, states: Path) -> list[Prediction]:
    model = folder / "models" / "-".join(test.parent.relative_to(folder / "data").parts)
    arguments = ["--train_data", str(test.parent / "train.jsonl"), "--output_dir", str(model), "--seed", str(seed)]
    train_supervised(parse_recipe(recipe, [*arguments, "--states_cache", str(states), "--resume", "true"]))
    classifier = StepClassifier.from_pretrained(model, dtype="bfloat16")
    predictions = classifier.score(read_all([str(test)]), ScoreOptions(states_cache=states))
    shutil.rmtree(model)  # a model a fold would fill the disk; the predictions are what is kept
    return predictions


def ensemble(judges: Sequence[Sequence[Prediction]]) -> list[Prediction]:
    """The mean of the probabilities of several judges of the same runs."""
    by_key = [{prediction.key: prediction for prediction in judge} for judge in judges]
    return [_mean([judge[prediction.key] for judge in by_key]) for prediction in judges[0]]


def _mean(predictions: Sequence[Prediction]) -> Prediction:
    first = predictions[0]
    probs = {
        index: tuple(_average(p.step_probs[index][i] for p in predictions) for i in range(len(LABELS)))
        for index in first.step_probs
    }
    success = _average(p.final_prob or 0.0 for p in predictions)
    labels = {index: likeliest(vector) for index, vector in probs.items()}
    return replace(
        first, step_probs=probs, step_labels=labels, final_prob=success, final_label=1 if success > 0.5 else -1
    )


def _average(values: Iterable[float]) -> float:
    listed = list(values)
    return round(sum(listed) / len(listed), 6)


def spread(metrics: dict[str, Any], names: Sequence[str]) -> Iterable[str]:
    """Mean and standard deviation over the seeds, in per cent."""
    for metric in ("step_acc", "first_err_acc", "macro_recall", "final_acc"):
        values = [100 * metrics["judges"][name]["overall"][metric] for name in names]
        mean = sum(values) / len(values)
        deviation = (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5
        yield f"{metric}: mean {mean:.1f}, sd {deviation:.1f} over {len(values)} seeds"


def paired_gain(gold: Sequence[Trajectory], judges: Sequence[Sequence[Prediction]], draws: int = 10_000) -> str:
    """StepAcc of the mean over the seeds minus that of always +1, with a paired 95 % interval over queries."""
    by_key = [{prediction.key: prediction.step_labels for prediction in judge} for judge in judges]
    queries = {query: i for i, query in enumerate(sorted({run.query for run in gold}))}
    sums = np.zeros((len(queries), 2))  # labelled steps; mean hits of the seeds minus hits of always +1
    for run in gold:
        for index, label in run.step_labels.items():
            hits = [labels[run.key].get(index) == label for labels in by_key]
            sums[queries[run.query]] += (1, np.mean(hits) - (label == 1))
    chosen = np.random.default_rng(0).integers(len(queries), size=(draws, len(queries)))
    drawn = sums[chosen].sum(1)
    low, high = np.quantile(100 * drawn[:, 1] / drawn[:, 0], [0.025, 0.975])
    total = sums.sum(0)
    return f"StepAcc over always +1: {100 * total[1] / total[0]:+.1f} points, paired 95 % [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    main()
