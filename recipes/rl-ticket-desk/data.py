"""The data of one seed: few runs for SFT, the others for GRPO, and a test on scenario templates that neither has seen.

python recipes/rl-ticket-desk/data.py --seed 0 --out runs/rl-ticket-desk/seed-0/data

Writes sft.jsonl, grpo.jsonl, validation.jsonl and test.jsonl. Every fifth template is held out for the test, from
another one on in each seed; a query (scenario) lies in one file only.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.reach.desk.generate import TEMPLATES, generate_runs
from prm.types import Trajectory

QUERIES = {"sft": 16, "validation": 8, "grpo": 64}
"""Queries of each file, of four runs each: SFT gets a fifth of what is trained on."""

TEST_RUNS = 320
HELD_OUT_EVERY = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the command line and writes the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    write_files(options.seed, options.out)


def write_files(seed: int, out: Path) -> None:
    """Writes the files of a seed and says what is in them."""
    out.mkdir(parents=True, exist_ok=True)
    for name, runs in draw(seed).items():
        write_jsonl(out / f"{name}.jsonl", map(dump_trajectory, runs))
        print(f"{name}: {len(runs)} runs, {len({run.query for run in runs})} queries, {shares(runs)}")


def draw(seed: int) -> dict[str, list[Trajectory]]:
    """The runs of each file."""
    held_out = TEMPLATES[seed % HELD_OUT_EVERY :: HELD_OUT_EVERY]
    trained = [template for template in TEMPLATES if template not in held_out]
    runs = list(generate_runs(4 * sum(QUERIES.values()), 2 * seed + 1, templates=trained))
    queries = sorted({run.query for run in runs})
    random.Random(seed).shuffle(queries)
    files = {}
    for name, count in QUERIES.items():
        chosen, queries = set(queries[:count]), queries[count:]
        files[name] = [run for run in runs if run.query in chosen]
    return {**files, "test": list(generate_runs(TEST_RUNS, 2 * seed + 2, templates=held_out))}


def shares(runs: Sequence[Trajectory]) -> str:
    """The share of each label."""
    labels = [label for run in runs for label in run.step_labels.values()]
    found = ", ".join(f"{label:+d} {100 * labels.count(label) / len(labels):.1f} %" for label in (1, 0, -1))
    return f"{len(labels)} steps: {found}"


if __name__ == "__main__":
    main()
