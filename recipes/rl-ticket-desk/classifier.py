"""GRPO of a step classifier against cross-entropy on the same labels, from the same start.

    python recipes/rl-ticket-desk/classifier.py --out runs/rl-ticket-desk/classifier --seeds 0 1 2

The backbone is frozen and passes once over each run; only a linear head is trained: a seed is minutes on two cores, and
what is compared is the objective alone. Data as of data.py. Run again, it goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data import write_files

from prm.cli.shown_command import run_shown
from prm.data.jsonl import parse_json
from prm.evaluation.table import percent

HERE = Path(__file__).parent
START, SUPERVISED = "start", "cross_entropy"
WAYS = {
    "grpo_run": ("--gradient", "sampled", "--advantages", "run"),
    "grpo_step": ("--gradient", "sampled", "--advantages", "step"),
    "exact": ("--gradient", "exact"),
}
"""What is compared → its options."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the stages that are not done, seed by seed, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args(arguments)
    found = {seed: run_seed(options.out / f"seed-{seed}", seed) for seed in options.seeds}
    print("\n".join(table_lines(found)))


def run_seed(folder: Path, seed: int) -> dict[str, Any]:
    """The metrics of every classifier on the held-out templates."""
    data = folder / "data"
    if not (data / "test.jsonl").exists():
        write_files(seed, data)
    states = ("--states_cache", folder / "states")
    common = ("--seed", seed, "--resume", "true", *states)
    fit = ("train", "supervised", "--config", HERE / "classifier_start.yaml", *common)
    sft, others = data / "sft.jsonl", data / "grpo.jsonl"
    run_shown(*fit, "--train_data", sft, "--output_dir", folder / START)
    run_shown(*fit, "--train_data", sft, others, "--output_dir", folder / SUPERVISED)
    grpo = ("train", "grpo", "--policy", "classifier", "--config", HERE / "classifier_grpo.yaml", *common)
    files = ("--model", folder / START, "--train_data", others, "--validation_data", data / "validation.jsonl")
    for name, way in WAYS.items():
        run_shown(*grpo, *files, *way, "--output_dir", folder / name)
    return evaluated(folder, data / "test.jsonl")


def evaluated(folder: Path, test: Path) -> dict[str, Any]:
    """Scores the test runs with each classifier, and evaluates."""
    named = []
    for name in (START, *WAYS, SUPERVISED):
        out = folder / f"{name}.jsonl"
        if not out.exists():
            run_shown(
                "score", "--model", folder / name, "--data", test, "--out", out, "--states-cache", folder / "states"
            )
        named.append(f"--predictions={name}={out}")
    run_shown("evaluate", "--gold", test, "--out", folder / "evaluation", "--no-report", *named)
    metrics: dict[str, Any] = parse_json((folder / "evaluation" / "metrics.json").read_bytes(), "metrics.json")
    return metrics


def table_lines(found: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """A Markdown table, and the paired differences of interest."""
    lines = ["| seed | classifier | StepAcc | FirstErrAcc | recall −1 / 0 / +1 | macro |", "|---|---|---|---|---|---|"]
    for seed, metrics in found.items():
        judges = {**metrics["judges"], "always +1": metrics["baselines"]["always_positive"]}
        lines += [_row(seed, name, judge["overall"]) for name, judge in judges.items()]
    return [*lines, "", *(line for seed, metrics in found.items() for line in _differences(seed, metrics))]


def _row(seed: int, name: str, row: Mapping[str, Any]) -> str:
    recall = " / ".join(percent(row["recall"][label]) for label in ("-1", "0", "1"))
    low, high = row["ci95"]["step_acc"]
    step = f"{percent(row['step_acc'])} [{percent(low)}, {percent(high)}]"
    return f"| {seed} | {name} | {step} | {percent(row['first_err_acc'])} | {recall} | {percent(row['macro_recall'])} |"


def _differences(seed: int, metrics: Mapping[str, Any]) -> list[str]:
    lines = []
    for pair in metrics["pairs"]:
        if pair["metric"] == "step_acc" and {pair["a"], pair["b"]} & {START, SUPERVISED}:
            low, high = pair["ci95"]
            shown = f"{100 * pair['difference']:+.1f} [{100 * low:.1f}, {100 * high:.1f}]"
            lines.append(f"seed {seed}: {pair['a']} − {pair['b']} {shown}")
    return lines


if __name__ == "__main__":
    main()
