"""Scores released judges on AgentProcessBench and holds every number against the published table.

    python recipes/agentprocessbench-table/run.py --labels DIR --predictions DIR --published FILE \
        --out runs/agentprocessbench-table

Exit code 1 where a published number is missing or differs by more than 0.01 points, 2 where the input is wrong.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from prm.cli.files import check_folder, file_errors
from prm.data.jsonl import atomic_file, parse_json, write_json
from prm.errors import ConfigError, MissingFileError, PrmError
from prm.evaluation import evaluate
from prm.evaluation.baselines import ALWAYS_POSITIVE
from prm.evaluation.comparison import correlation
from prm.evaluation.sources import judge_paths, load_gold, load_predictions

WIDTH = 130
WITHIN = 0.01  # points
ROUNDING = 1e-9
ALL = "all"
METRICS = ("step_acc", "first_err_acc")
OUTCOME = "final_acc"
CORRELATION = "pearson_step_acc_vs_final_acc"


@dataclass(frozen=True)
class Cell:
    """One number of the table, in per cent (the correlation times 100).

    Attributes:
        judge, subset, metric: Where it stands.
        ours: As computed; None = undefined, or there is no such judge or subset.
        published: None = not published.
    """

    judge: str
    subset: str
    metric: str
    ours: float | None
    published: float | None

    @property
    def difference(self) -> float | None:
        """Ours minus the published one, None where one of the two is missing."""
        return None if self.ours is None or self.published is None else self.ours - self.published

    @property
    def is_reproduced(self) -> bool:
        """Whether the published number, if there is one, is met."""
        return self.published is None or (self.difference is not None and abs(self.difference) <= WITHIN + ROUNDING)

    def __str__(self) -> str:
        ours = "–" if self.ours is None else f"{self.ours:.2f}"
        return ours if self.is_reproduced else f"{ours} (published {self.published:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line, writes the files, prints the table and returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with file_errors():
            return _compare(options)
    except PrmError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


class _OneLineParser(argparse.ArgumentParser):
    """Complains in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and ends."""
        print(f"error: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _OneLineParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=Path, required=True, help="folder with the benchmark's labelled JSONL files")
    parser.add_argument("--predictions", type=Path, required=True, help="folder in which every subfolder is a judge")
    parser.add_argument("--published", type=Path, help="JSON file with the published table")
    parser.add_argument("--out", type=Path, required=True, help="folder for metrics.json, table.md and table.csv")
    parser.add_argument("--bootstrap", type=int, default=2000, help="draws for the intervals in metrics.json")
    return parser


def _compare(options: argparse.Namespace) -> int:
    if not options.predictions.is_dir():
        raise MissingFileError(f"{options.predictions}: folder must exist, found no folder; check --predictions")
    check_folder("--out", options.out, files=("metrics.json", "table.md", "table.csv"))
    published = read_published(options.published)
    judges = {name: load_predictions(path) for name, path in judge_paths((), options.predictions).items()}
    metrics = evaluate(load_gold([options.labels]), judges, bootstrap=options.bootstrap)
    cells = list(table_cells(metrics, published))
    head, rows = table_rows(metrics, cells)
    notes = list(verdict(metrics, cells))
    write_json(options.out / "metrics.json", metrics)
    write_text(options.out / "table.csv", as_csv(cells))
    write_text(options.out / "table.md", as_markdown(head, rows, notes))
    console = Console(width=WIDTH, highlight=False)
    console.print(as_table(head, rows))
    console.print("\n".join(notes), markup=False)
    return 0 if all(cell.is_reproduced for cell in cells) else 1


def read_published(path: Path | None) -> dict[str, Any]:
    """The published table: ``{"judges": {name: {subset or "all": {metric: per cent}}}}``; empty without a file."""
    if path is None:
        return {"judges": {}}
    if not path.is_file():
        raise MissingFileError(f"{path}: file must exist, found nothing; check --published")
    table = parse_json(path.read_bytes(), str(path))
    if not isinstance(table, dict) or not _is_table(table.get("judges")):
        raise ConfigError.at(str(path), 'must hold {"judges": {name: {subset: {metric: per cent}}}}', table, "fix it")
    return table


def _is_table(judges: Any) -> bool:
    blocks = judges.values() if isinstance(judges, dict) else [None]
    subsets = [subset for block in blocks for subset in (block.values() if isinstance(block, dict) else [None])]
    return all(isinstance(s, dict) and all(isinstance(n, int | float) for n in s.values()) for s in subsets)


def plain_name(name: str) -> str:
    """A judge's name without what people write differently: case, and spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "-", name.casefold()).strip("-")


def folders_of(published: Sequence[str], judges: Sequence[str]) -> dict[str, str | None]:
    """Published name → the judge's folder: the same name, else the one with the same `plain_name`, else None.

    Raises:
        ConfigError: Two folders could be meant.
    """
    found: dict[str, str | None] = {}
    for name in published:
        alike = [judge for judge in judges if plain_name(judge) == plain_name(name)]
        if name not in judges and len(alike) > 1:
            raise ConfigError.at(name, "only one folder may have a name like the published one", alike, "rename one")
        found[name] = name if name in judges else next(iter(alike), None)
    return found


def table_cells(metrics: Mapping[str, Any], published: Mapping[str, Any]) -> Iterator[Cell]:
    """Every number computed or published, judge by judge; last the correlation (over the published judges, if any)."""
    judges, subsets = metrics["judges"], list(metrics["gold"]["by_source"])
    folders = folders_of(list(published["judges"]), list(judges))
    scores = {folder or name: published["judges"][name] for name, folder in folders.items()}
    for judge in dict.fromkeys([*judges, *scores]):
        yield from judge_cells(judge, judges.get(judge), scores.get(judge, {}), subsets)
    compared = [name for name in scores if name in judges] or list(judges)
    r = correlation({name: judges[name]["overall"] for name in compared})["pearson_r"]
    given = next((value for key, value in published.items() if key.startswith(CORRELATION)), None)
    yield Cell(f"({len(compared)} judges)", ALL, "pearson_r", _percent(r), _percent(given))


def judge_cells(
    judge: str, block: Mapping[str, Any] | None, scores: Mapping[str, Any], subsets: Sequence[str]
) -> Iterator[Cell]:
    """A judge's numbers: StepAcc and FirstErrAcc by subset and over all, the outcome, and what else was published."""
    for subset in dict.fromkeys([*subsets, ALL, *scores]):
        given = scores.get(subset, {})
        found: Mapping[str, Any] = {}
        if block is not None:
            found = block["overall"] if subset == ALL else block["by_source"].get(subset, {})
        for metric in dict.fromkeys([*METRICS, *([OUTCOME] if subset == ALL else []), *given]):
            yield Cell(judge, subset, metric, _percent(found.get(metric)), given.get(metric))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def verdict(metrics: Mapping[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """What the comparison says, in a few lines."""
    compared = [cell for cell in cells if cell.published is not None]
    if compared:
        met = sum(cell.is_reproduced for cell in compared)
        yield f"{met} of {len(compared)} published numbers reproduced within {WITHIN} points; {_largest(compared)}"
    for cell in compared:
        if not cell.is_reproduced:
            yield f"NOT reproduced: {cell.judge}, {cell.subset}, {cell.metric}: {cell}"
    unpublished = [name for name in metrics["judges"] if all(cell.judge != name for cell in compared)]
    if compared and unpublished:
        yield f"not in the published table: {', '.join(unpublished)}"
    line = metrics["baselines"][ALWAYS_POSITIVE]["overall"]["step_acc"]
    if line is not None:
        above = sum(block["overall"]["step_acc"] > line for block in metrics["judges"].values())
        yield f"{above} of {len(metrics['judges'])} judges beat always +1 ({100 * line:.2f}) on StepAcc"
    r = cells[-1]
    if r.ours is not None:
        yield f"Pearson r of StepAcc and outcome accuracy {r.judge}: {r.ours / 100:.4f}"


def _largest(cells: Sequence[Cell]) -> str:
    differences = [abs(cell.difference) for cell in cells if cell.difference is not None]
    return f"largest difference {max(differences):.4f}" if differences else "nothing could be compared"


def table_rows(metrics: Mapping[str, Any], cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a judge a row, StepAcc / FirstErrAcc a subset, the outcome, the largest difference."""
    subsets = list(metrics["gold"]["by_source"])
    line = judge_cells("always +1", metrics["baselines"][ALWAYS_POSITIVE], {}, subsets)
    every = [*cells[:-1], *line]
    rows = []
    for judge in dict.fromkeys(cell.judge for cell in every):
        own = {(cell.subset, cell.metric): cell for cell in every if cell.judge == judge}
        pairs = [" / ".join(str(own[subset, metric]) for metric in METRICS) for subset in (*subsets, ALL)]
        differences = [abs(cell.difference) for cell in own.values() if cell.difference is not None]
        rows.append([judge, *pairs, str(own[ALL, OUTCOME]), f"{max(differences):.4f}" if differences else "–"])
    return ["judge", *subsets, ALL, "outcome", "max diff"], rows


def as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The table for the terminal."""
    table = Table(title="StepAcc / FirstErrAcc, per cent", title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(head):
        table.add_column(escape(name), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """The same table in Markdown, and the verdict."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    table = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
    return "\n".join(["StepAcc / FirstErrAcc, per cent", "", *table, "", *(f"- {note}" for note in notes)])


def as_csv(cells: Sequence[Cell]) -> str:
    """One number a line: judge, subset, metric, ours, published, difference, in per cent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["judge", "subset", "metric", "percent", "published", "difference"])
    for cell in cells:
        numbers = (cell.ours, cell.published, cell.difference)
        writer.writerow([cell.judge, cell.subset, cell.metric, *("" if n is None else f"{n:.4f}" for n in numbers)])
    return text.getvalue()


def write_text(path: Path, text: str) -> None:
    """Writes a text file at once or not at all."""
    with atomic_file(path) as stream:
        stream.write(text.rstrip("\n").encode("utf-8") + b"\n")


if __name__ == "__main__":
    sys.exit(main())
