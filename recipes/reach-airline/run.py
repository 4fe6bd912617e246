"""Judges tau-bench's airline runs by the shipped spec and tables its verdicts against the reward.

    python recipes/reach-airline/run.py --logs gpt-4o-airline.json --out runs/reach-airline

Writes verdicts.jsonl, table.md and table.json. Exit code 2 where the input is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from prm.cli.files import check_folder, file_errors
from prm.data.jsonl import atomic_file, write_json, write_jsonl
from prm.errors import ConfigError, PrmError
from prm.evaluation.intervals import Resampling, check_resampling, interval95
from prm.reach.judging.judge import judge_run
from prm.reach.judging.verdict import RunVerdict
from prm.reach.judging.verdict_json import dump_verdict
from prm.reach.log.read import read_runs
from prm.reach.spec.load import load_spec

WIDTH = 120
HEAD = ("runs that", "runs", "reward 1", "others", "reward 1", "difference", "95 % interval")


@dataclass(frozen=True)
class Row:
    """Success where the rules say something of a run, and where they do not.

    Attributes:
        says: What they say.
        runs, success: The runs of which it is said, and the share of them with reward 1.
        others, other_success: The rest; runs that it cannot be said of (n/a, unknown) are in neither.
        difference: `success` less `other_success`; None where one of the two is empty.
        ci95: Of the difference, tasks resampled; None where it is undefined.
    """

    says: str
    runs: int
    success: float | None
    others: int
    other_success: float | None
    difference: float | None
    ci95: list[float] | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line, writes the files, prints the table and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with file_errors():
            _compare(options)
    except PrmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


class _OneLineParser(argparse.ArgumentParser):
    """Complains in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and ends."""
        print(f"error: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=Path, required=True, help="a tau-bench result file of the airline domain")
    parser.add_argument("--spec", default="airline", help="another spec to judge by")
    parser.add_argument("--out", type=Path, required=True, help="folder for verdicts.jsonl, table.md and table.json")
    parser.add_argument("--bootstrap", type=int, default=2000, help="resamplings of the tasks; 0 = no intervals")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resamplings")
    return parser


def _compare(options: argparse.Namespace) -> None:
    check_resampling(options.bootstrap, options.seed)
    check_folder("--out", options.out, files=("verdicts.jsonl", "table.md", "table.json"))
    spec = load_spec(options.spec)
    verdicts = [judge_run(run, spec) for run in read_runs(options.logs, envelope=spec.envelope)]
    if not any(verdict.final_success is not None for verdict in verdicts):
        raise ConfigError.at(str(options.logs), "runs must have a reward", "none", "give a tau-bench result file")
    rows = list(rows_of(verdicts, options.bootstrap, options.seed))
    write_jsonl(options.out / "verdicts.jsonl", map(dump_verdict, verdicts))
    write_json(options.out / "table.json", {"runs": len(verdicts), "rows": [asdict(row) for row in rows]})
    write_text(options.out / "table.md", as_markdown(rows))
    Console(width=WIDTH, highlight=False).print(as_table(rows))


def statements(verdicts: Sequence[RunVerdict]) -> Iterator[tuple[str, list[bool | None]]]:
    """What the rules say, and of each run whether they say it: milestones, minefields, diagnoses, and all in all."""
    for name in verdicts[0].by_name:
        standings = [verdict.by_name[name].standing for verdict in verdicts]
        yield f"reach {name}", [None if s in ("n/a", "unscorable") else s == "reached" for s in standings]
    for name in verdicts[0].minefields:
        yield f"hit {name}", [verdict.minefields[name] for verdict in verdicts]
    named = [{found.name for found in verdict.diagnoses} for verdict in verdicts]
    for diagnosis in sorted(set().union(*named)):
        yield f"show {diagnosis}", [diagnosis in names for names in named]
    yield "reach every milestone", [verdict.all_reached for verdict in verdicts]
    yield "are covered (and hit no minefield)", [verdict.covered for verdict in verdicts]


def rows_of(verdicts: Sequence[RunVerdict], draws: int, seed: int) -> Iterator[Row]:
    """One row a statement, over the runs whose reward is known."""
    known = [verdict for verdict in verdicts if verdict.final_success is not None]
    success = np.array([bool(verdict.final_success) for verdict in known], dtype=np.float64)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(verdict.scenario for verdict in known))}
    task = np.array([numbers[verdict.scenario] for verdict in known])
    for says, held in statements(known):
        columns = np.array([(said is True, said is False) for said in held], dtype=np.float64)
        counted = np.hstack([columns, columns * success[:, None]])
        sums = np.stack([np.bincount(task, column, len(numbers)).astype(np.float64) for column in counted.T], axis=1)
        yield _row(says, sums, draws, seed)


def _row(says: str, sums: np.ndarray[tuple[int, ...], np.dtype[np.float64]], draws: int, seed: int) -> Row:
    """The row of sums by task [Q, 4]: runs with and without, successes with and without."""
    resampled = Resampling(len(sums), draws, seed).add(sums)
    runs, others, good, other_good = resampled.total
    success, other = _share(good, runs), _share(other_good, others)
    if success is None or other is None:
        return Row(says, int(runs), success, int(others), other, None, None)
    ci95 = None
    if resampled.draws is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = resampled.draws[:, 2:] / resampled.draws[:, :2]
        ci95 = interval95(shares[:, 0] - shares[:, 1])
    return Row(says, int(runs), success, int(others), other, success - other, ci95)


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    interval = "–" if row.ci95 is None else f"{row.ci95[0]:+.2f} … {row.ci95[1]:+.2f}"
    difference = "–" if row.difference is None else f"{row.difference:+.2f}"
    return (
        row.says,
        str(row.runs),
        _number(row.success),
        str(row.others),
        _number(row.other_success),
        difference,
        interval,
    )


def _number(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def as_table(rows: Sequence[Row]) -> Table:
    """The table for the terminal."""
    table = Table(title="Verdicts against reward", title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(HEAD):
        table.add_column(escape(name), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, cells(row)))
    return table


def as_markdown(rows: Sequence[Row]) -> str:
    """The same table in Markdown."""
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_text(path: Path, text: str) -> None:
    """Writes a text file at once or not at all."""
    with atomic_file(path) as stream:
        stream.write(text.rstrip("\n").encode("utf-8") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
