"""Labels scripted runs of the ticket desk by rule and compares with the labels known by construction.

    python recipes/reach-ticket-desk/run.py --runs 2000 --seed 20261
    python recipes/reach-ticket-desk/run.py --late      # what was added to the desk after the rules were frozen

The rules never see the known labels: they are put aside before and compared after.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence

from prm.reach.desk.generate import LATE_AGENTS, generate_runs
from prm.reach.desk.scenarios import LATE_TEMPLATES
from prm.reach.labels.known_labels import Agreement, KnownComparison, relabel_by_rules
from prm.reach.labels.records import RULES_VERSION
from prm.reach.spec.load import shipped_spec
from prm.types import Trajectory

LATE_RUNS, LATE_SEED, LATE_REPEATS = 400, 77, 10


def main() -> None:
    """Prints Markdown tables: by habit, by scenario template, and every kind of difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--variant", default="plain")
    parser.add_argument("--late", action="store_true", help="instead: late agents and templates, a table each")
    options = parser.parse_args()
    if options.late:
        _compare_late()
        return
    start = time.perf_counter()
    found = _compared(list(generate_runs(options.runs, options.seed, variant=options.variant)))
    seconds = time.perf_counter() - start
    print(f"{options.runs} runs, seed {options.seed}, variant {options.variant}, spec ticket", end=" ")
    print(f"{shipped_spec('ticket').sha256[:12]}, rules/{RULES_VERSION}: judged and labelled in {seconds:.1f} s\n")
    print(f"{_table('habit', found.by_habit, found.overall)}\n")
    print(f"{_table('template', found.by_template, found.overall)}\n")
    print(_differences(found))


def _compare_late() -> None:
    for agent in LATE_AGENTS:
        _show_late(f"agent {agent}", list(generate_runs(LATE_RUNS, LATE_SEED, agents=[agent])))
    for template in LATE_TEMPLATES:
        drawn = generate_runs(LATE_RUNS, LATE_SEED, templates=[template], repeats=LATE_REPEATS)
        _show_late(f"template {template}", list(drawn))


def _show_late(name: str, runs: Sequence[Trajectory]) -> None:
    found = _compared(runs)
    print(f"{name}, seed {LATE_SEED}\n\n{_table('habit', found.by_habit, found.overall)}\n\n{_differences(found)}\n")


def _compared(runs: Sequence[Trajectory]) -> KnownComparison:
    found = KnownComparison()
    for run in relabel_by_rules(runs):
        found.add(run)
    return found


def _table(first: str, rows: dict[str, Agreement], overall: Agreement) -> str:
    lines = [f"| {first} | runs | steps | agree | masked | outcomes agree |", "|---|---|---|---|---|---|"]
    for name, counts in (*sorted(rows.items()), ("all", overall)):
        outcomes = counts.outcomes_same / counts.runs if counts.runs else None
        shares = (_percent(counts.agreement), _percent(counts.masked_share), _percent(outcomes))
        lines.append(f"| {name} | {counts.runs} | {counts.steps} | {' | '.join(shares)} |")
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def _differences(found: KnownComparison) -> str:
    lines = ["| known: reason, label | rule, label | habits | steps |", "|---|---|---|---|"]
    grouped: dict[tuple[str, str], dict[str, int]] = {}
    for (habit, reason, known, rule, label), count in found.differences.items():
        pair = (f"{reason}, {_sign(known)}", f"{rule}, {_sign(label)}")
        grouped.setdefault(pair, {})[habit] = count
    for (known_text, rule_text), habits in sorted(grouped.items(), key=lambda item: -sum(item[1].values())):
        lines.append(f"| {known_text} | {rule_text} | {', '.join(_named(habits))} | {sum(habits.values())} |")
    return "\n".join(lines)


def _named(habits: dict[str, int]) -> Iterable[str]:
    return (f"{habit} {count}" for habit, count in sorted(habits.items(), key=lambda item: -item[1]))


def _sign(label: int | None) -> str:
    return "masked" if label is None else "0" if label == 0 else f"{label:+d}".replace("-", "−")


if __name__ == "__main__":
    main()
