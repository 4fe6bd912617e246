"""The RL experiment: SFT of a judge on few labels, GRPO with StepAcc as the reward, both judges on held-out runs.

    python scripts/rl_experiment.py --recipe recipes/rl-ticket-desk --data runs/rl/seed-0/data --out runs/rl/seed-0

The recipe folder holds `sft.yaml` and `grpo.yaml`; the data folder sft.jsonl, grpo.jsonl, validation.jsonl and
test.jsonl. Each stage is the command that a user would type, and is printed. Run again, it goes on where it was.
`--supervised` also trains on the labels of both files by cross-entropy alone, from the same start.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.cli.shown_command import run_shown
from prm.data.jsonl import parse_json, write_json
from prm.evaluation.table import percent

START, TRAINED, SUPERVISED = "sft", "grpo", "cross_entropy"
TIMES = "seconds.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the stages that are not done, and prints the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--recipe", type=Path, required=True, help="folder with sft.yaml and grpo.yaml")
    parser.add_argument("--data", type=Path, required=True, help="folder with the four files")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--supervised", action="store_true", help="train by cross-entropy on all labels as well")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(options.recipe, options.data, options.out, options.seed)
    experiment.run(options.supervised)
    metrics = parse_json((options.out / "evaluation" / "metrics.json").read_bytes(), "metrics.json")
    print("\n".join(summary_lines(metrics, experiment.seconds)))


class Experiment:
    """One seed of the experiment; every stage leaves what shows that it is done."""

    def __init__(self, recipe: Path, data: Path, out: Path, seed: int) -> None:
        self._recipe, self._data, self._out, self._seed = recipe, data, out, seed
        times = out / TIMES
        self.seconds: dict[str, float] = parse_json(times.read_bytes(), TIMES) if times.exists() else {}

    def run(self, supervised: bool) -> None:
        """All stages in order."""
        self._train(START, "judge", "sft.yaml", ["--train_data", self._file("sft")])
        self._train(TRAINED, "grpo", "grpo.yaml", ["--model", self._out / START, "--train_data", self._file("grpo")])
        judges = [START, TRAINED]
        if supervised:
            files = ["--train_data", self._file("sft"), self._file("grpo")]
            self._train(SUPERVISED, "judge", "sft.yaml", files)
            judges.append(SUPERVISED)
        for judge in judges:
            self._judge(judge)
        self._evaluate(judges)

    def _train(self, name: str, verb: str, recipe: str, options: Sequence[Any]) -> None:
        common = ["--validation_data", self._file("validation"), "--output_dir", self._out / name, "--seed", self._seed]
        self._stage(name, ["train", verb, "--config", self._recipe / recipe, *options, *common, "--resume", "true"])

    def _judge(self, name: str) -> None:
        files = ["--data", self._file("test"), "--out", self._out / f"{name}.predictions.jsonl"]
        self._stage(f"{name}, test", ["judge", "--model", self._out / name, *files, "--bf16"])

    def _evaluate(self, judges: Sequence[str]) -> None:
        named = [f"--predictions={name}={self._out / name}.predictions.jsonl" for name in judges]
        gold = ["--gold", self._file("test"), "--out", self._out / "evaluation"]
        self._stage("evaluation", ["evaluate", *gold, *named])

    def _file(self, name: str) -> Path:
        return self._data / f"{name}.jsonl"

    def _stage(self, name: str, arguments: Sequence[Any]) -> None:
        if name in self.seconds and name != "evaluation":
            return
        start = time.monotonic()
        run_shown(*arguments)
        self.seconds[name] = round(time.monotonic() - start, 1)
        write_json(self._out / TIMES, self.seconds)


def summary_lines(metrics: Mapping[str, Any], seconds: Mapping[str, float]) -> list[str]:
    """What `metrics.json` says of the judges, the differences of interest with their paired intervals, and the time."""
    trivial = metrics["baselines"]["always_positive"]["overall"]
    rows = {**{name: judge["overall"] for name, judge in metrics["judges"].items()}, "always +1": trivial}
    lines = [_judge_line(name, row) for name, row in rows.items()]
    pairs = [pair for pair in metrics["pairs"] if pair["metric"] == "step_acc"]
    lines += [_pair_line(pair) for pair in pairs]
    shown = ", ".join(f"{name} {value / 60:.1f}" for name, value in seconds.items())
    return [*lines, f"minutes: {shown}; in all {sum(seconds.values()) / 60:.1f}"]


def _judge_line(name: str, row: Mapping[str, Any]) -> str:
    recall = " / ".join(percent(row["recall"][label]) for label in ("-1", "0", "1"))
    low, high = row["ci95"]["step_acc"] or (None, None)
    return (
        f"{name:14} StepAcc {percent(row['step_acc'])} [{percent(low)}, {percent(high)}]  "
        f"FirstErrAcc {percent(row['first_err_acc'])}  recall −1 / 0 / +1 {recall}  "
        f"macro {percent(row['macro_recall'])}  not read {row['failed']}"
    )


def _pair_line(pair: Mapping[str, Any]) -> str:
    low, high = pair["ci95"] or (float("nan"), float("nan"))
    return (
        f"{pair['a']} − {pair['b']}: StepAcc {100 * pair['difference']:+.1f} points, "
        f"paired 95 % [{100 * low:.1f}, {100 * high:.1f}], p {pair['p_value']:.4f}"
    )


if __name__ == "__main__":
    main()
