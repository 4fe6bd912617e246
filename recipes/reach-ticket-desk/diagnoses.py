"""Judges scripted runs of the ticket desk and prints how the diagnoses agree with what is known of the runs.

    python recipes/reach-ticket-desk/diagnoses.py --runs 2000 --seed 90210

What is known of a run, and how it maps to diagnoses, is said in `prm.reach.labels.agreement_with_habits`.
"""

from __future__ import annotations

import argparse
import time

from prm.reach.desk.generate import generate_runs
from prm.reach.judging.judge import judge_run
from prm.reach.labels.habit_tables import diagnosis_table, habit_table, verdict_table
from prm.reach.log.from_trajectory import run_of_trajectory
from prm.reach.spec.load import shipped_spec


def main() -> None:
    """Prints three tables: by diagnosis, by habit, and the verdicts by habit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=90210)
    parser.add_argument("--variant", default="mixed")
    options = parser.parse_args()

    spec = shipped_spec("ticket")
    trajectories = list(generate_runs(options.runs, options.seed, variant=options.variant))
    start = time.perf_counter()
    judged = [(one, judge_run(run_of_trajectory(one, spec.envelope), spec)) for one in trajectories]
    seconds = time.perf_counter() - start
    print(f"{len(judged)} runs, seed {options.seed}, variant {options.variant}, judged in {seconds:.1f} s\n")
    print("\n\n".join(table(judged) for table in (diagnosis_table, habit_table, verdict_table)))


if __name__ == "__main__":
    main()
