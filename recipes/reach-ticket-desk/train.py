"""A step classifier trained on rule labels alone against one trained on the labels known by construction.

    python recipes/reach-ticket-desk/train.py --out runs/reach-ticket-desk --seeds 0 1 2

Every fifth scenario template is held out for the test, whose labels are the known ones; a seed draws the training runs.
Each stage is the command that a user would type, and is printed. Run again, it goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.cli.shown_command import run_shown
from prm.data.jsonl import parse_json, write_jsonl
from prm.data.records import dump_trajectory
from prm.reach.desk.generate import TEMPLATES, generate_runs

RECIPE = Path(__file__).parent / "supervised.yaml"
TRAINING_RUNS, TEST_RUNS, TEST_SEED = 280, 320, 300
HELD_OUT = TEMPLATES[::5]
TEST = "test.jsonl"
SOURCES = ("known", "rules")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the stages that are not done, seed by seed, and prints what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    held_out = generate_runs(TEST_RUNS, TEST_SEED, templates=HELD_OUT)
    write_jsonl(options.out / TEST, map(dump_trajectory, held_out))
    found = [run_seed(options.out, seed) for seed in options.seeds]
    print("\n".join(summary_lines(options.seeds, found)))


def run_seed(out: Path, seed: int) -> dict[str, Any]:
    """The metrics of both classifiers on the held-out templates."""
    folder = out / f"seed-{seed}"
    folder.mkdir(exist_ok=True)
    trained = [template for template in TEMPLATES if template not in HELD_OUT]
    runs = generate_runs(TRAINING_RUNS, TEST_SEED + 1 + seed, templates=trained)
    write_jsonl(folder / "known.jsonl", map(dump_trajectory, runs))
    run_shown("reach", "label", "--spec", "ticket", "--logs", folder / "known.jsonl", "--out", folder / "rules.jsonl")
    for source in SOURCES:
        train_and_score(out, folder, source, seed)
    named = [f"--predictions={source}={folder / source}.predictions.jsonl" for source in SOURCES]
    run_shown("evaluate", "--gold", out / TEST, "--out", folder / "evaluation", "--no-report", *named)
    metrics: dict[str, Any] = parse_json((folder / "evaluation" / "metrics.json").read_bytes(), "metrics.json")
    return metrics


def train_and_score(out: Path, folder: Path, source: str, seed: int) -> None:
    """One classifier and its predictions of the test runs."""
    predictions, model, states = folder / f"{source}.predictions.jsonl", folder / "models" / source, out / "states"
    if predictions.exists():
        return
    where = ["--output_dir", model, "--seed", seed, "--resume", "true", "--states_cache", states]
    run_shown("train", "supervised", "--config", RECIPE, "--train_data", folder / f"{source}.jsonl", *where)
    run_shown("score", "--model", model, "--data", out / TEST, "--out", predictions, "--states-cache", states)


def summary_lines(seeds: Sequence[int], found: Sequence[Mapping[str, Any]]) -> list[str]:
    """StepAcc of both classifiers, and their paired difference."""
    lines, differences = [], []
    for seed, metrics in zip(seeds, found, strict=True):
        known, rules = (metrics["judges"][source]["overall"]["step_acc"] for source in SOURCES)
        trivial = metrics["baselines"]["always_positive"]["overall"]["step_acc"]
        pair = next(p for p in metrics["pairs"] if {p["a"], p["b"]} == set(SOURCES) and p["metric"] == "step_acc")
        sign = 1 if pair["a"] == "rules" else -1
        low, high = sorted(sign * bound for bound in pair["ci95"])
        differences.append(rules - known)
        lines.append(
            f"seed {seed}: {metrics['gold']['steps']} steps; StepAcc on rule labels {100 * rules:.1f}, on known labels "
            f"{100 * known:.1f}, always +1 {100 * trivial:.1f}; difference {100 * (rules - known):+.1f}, "
            f"paired 95 % [{100 * low:.1f}, {100 * high:.1f}]"
        )
    return [*lines, f"mean difference {100 * sum(differences) / len(differences):+.2f} points"]


if __name__ == "__main__":
    main()
