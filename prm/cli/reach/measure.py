"""``prm reach stability``, ``report`` and ``compare``: what outcomes and verdicts say of agents and variants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from prm.cli.evaluate import ManyValues
from prm.cli.reach.logs import ReaderName, check_once, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prm.reach.judging.verdict import RunVerdict
    from prm.reach.log.run import Run
    from prm.reach.metrics.estimate import Settings
    from prm.reach.metrics.outcome_stability import StabilityFile
    from prm.reach.metrics.report_values import Report

Verdicts = Annotated[list[Path], typer.Argument(metavar="VERDICTS…", help="Files that prm reach judge wrote.")]
Cap = Annotated[int, typer.Option("--cap", help="K of Reach@K, in calls; later reaches count as this many.")]
Bootstrap = Annotated[int, typer.Option("--bootstrap", help="Resamplings of the templates; 0 = no intervals.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the resampling and of the sign flips.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

_REPORT_FILE, _PAGE_FILE, _PAGE_FOLDERS = "reach.json", "report.html", ("plots", "tables")
"""What is written into --out."""


def register(reach: typer.Typer) -> None:
    """Add this module's verbs to ``prm reach``."""
    reach.command("stability")(stability)
    reach.command("report", cls=ManyValues)(report)
    reach.command("compare")(compare)


def stability(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Logs with repeats and outcomes (any reader), or verdicts.")
    ],
    reader: ReaderName = None,
    bootstrap: Bootstrap = 2000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """How alike repeated runs turn out: all of k, any of k and flip rate, from outcomes or verdicts."""
    from prm.cli.files import file_errors
    from prm.cli.terminal import show, show_json
    from prm.reach.metrics.json_form import as_json as to_json
    from prm.reach.metrics.stability_table import stability_tables

    with file_errors():
        found = _stability(files, reader, bootstrap, seed)
    if as_json:
        show_json(to_json(found))
    else:
        show(stability_tables(found), [])


def _stability(files: list[Path], reader: str | None, bootstrap: int, seed: int) -> StabilityFile:
    from prm.evaluation.intervals import check_resampling
    from prm.reach.metrics.estimate import Settings
    from prm.reach.metrics.outcome_stability import stability_of_trajectories, stability_of_verdicts
    from prm.reach.metrics.sources import are_verdicts, load_verdicts

    check_resampling(bootstrap, seed)
    settings, where = Settings(1, bootstrap, seed), ", ".join(map(str, files))
    if reader is None and are_verdicts(files):
        return stability_of_verdicts(load_verdicts(files), settings, where)
    return stability_of_trajectories((run.trajectory for run in runs_of(files, reader)), settings, where)


def report(
    verdicts: Verdicts,
    out: Annotated[Path, typer.Option("--out", help="Folder for reach.json and the page.")],
    logs: Annotated[
        list[Path] | None, typer.Option("--logs", metavar="LOGS…", help="The judged logs, for the run viewer.")
    ] = None,
    reader: ReaderName = None,
    cap: Cap = 15,
    bootstrap: Bootstrap = 2000,
    seed: Seed = 0,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Write report.html as well.")] = True,
    as_json: AsJson = False,
) -> None:
    """How far runs get and what holds them up, by agent and variant: reach.json, a page and a summary."""
    from prm.cli.files import check_folder, file_errors
    from prm.cli.terminal import show, show_json
    from prm.reach.metrics.estimate import Settings
    from prm.reach.metrics.json_form import as_json as to_json
    from prm.reach.metrics.report import check_settings
    from prm.reach.metrics.report_table import report_tables

    settings = Settings(cap, bootstrap, seed)
    check_settings(settings)
    with file_errors():
        check_once("--logs", logs or [])
        files = (_REPORT_FILE, _PAGE_FILE) if page else (_REPORT_FILE,)
        check_folder("--out", out, folders=_PAGE_FOLDERS if page else (), files=files)
        found = _measured(verdicts, settings, out, _Page(logs or [], reader) if page else None)
    if as_json:
        show_json(to_json(found))
    else:
        show(report_tables(found), [f"wrote {out / name}" for name in files])


class _Page(NamedTuple):
    """What the page is made of beside the verdicts."""

    logs: list[Path]
    reader: str | None


def _measured(files: list[Path], settings: Settings, out: Path, page: _Page | None) -> Report:
    """Measures verdicts and writes reach.json and, where it is wanted, the page."""
    from prm.cli.progress import stages
    from prm.data.jsonl import write_json
    from prm.reach.metrics.json_form import as_json as to_json
    from prm.reach.metrics.report import build_report
    from prm.reach.metrics.sources import load_verdicts

    with stages() as stage:
        stage("reading the verdicts")
        verdicts = load_verdicts(files)
        stage(f"measuring {len(verdicts)} runs")
        found = build_report(verdicts, settings, ", ".join(map(str, files)))
        if page is not None:
            stage("reading the logs and writing the page")
            _write_page(found, verdicts, page, out)
        write_json(out / _REPORT_FILE, to_json(found))
    return found


def _write_page(found: Report, verdicts: list[RunVerdict], page: _Page, out: Path) -> None:
    from prm.report.reach.write import write_reach_report

    runs = runs_of(page.logs, page.reader)
    write_reach_report(found, verdicts, _judged(runs, verdicts) if page.logs else (), out)


def _judged(runs: Iterator[Run], verdicts: list[RunVerdict]) -> Iterator[Run]:
    """The runs; after the last one logs of which no run was judged are refused."""
    from prm.errors import InputError
    from prm.report.reach.outcome import log_key

    keys, found = {log_key(verdict) for verdict in verdicts}, False
    for run in runs:
        found = found or log_key(run) in keys
        yield run
    if not found:
        todo = "give the logs that the verdicts are of"
        raise InputError.at("--logs", "must hold the runs that were judged", "none of them", todo)


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Verdicts of the old side.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Verdicts of the new side, on the same scenarios.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write the comparison here as JSON.")] = None,
    cap: Cap = 15,
    bootstrap: Bootstrap = 2000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """What moved between two sets of runs on the same scenarios: paired tests, by milestone, and what to do next."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.terminal import show, show_json
    from prm.data.jsonl import write_json
    from prm.reach.metrics.comparison_table import comparison_tables
    from prm.reach.metrics.estimate import Settings
    from prm.reach.metrics.json_form import as_json as to_json
    from prm.reach.metrics.report import check_settings, compare_sets
    from prm.reach.metrics.sources import load_verdicts

    settings = Settings(cap, bootstrap, seed)
    check_settings(settings)
    with file_errors():
        if out is not None:
            check_file("--out", out, (old, new))
        found = compare_sets(load_verdicts([old]), load_verdicts([new]), settings)
        content = to_json(found)
        if out is not None:
            write_json(out, content)
    if as_json:
        show_json(content)
    else:
        show(comparison_tables(found), [] if out is None else [f"wrote {out}"])
