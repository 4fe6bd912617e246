"""``prm reach judge`` and ``check-spec``: logs held against a spec, and a spec against its own logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prm.cli.evaluate import ManyValues
from prm.cli.reach.logs import LogFiles, ReaderName, SpecName, check_once, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from prm.reach.judging.tally import VerdictTally
    from prm.reach.spec.check import SpecReport
    from prm.reach.spec.model import Spec


def register(reach: typer.Typer) -> None:
    """Add this module's verbs to ``prm reach``."""
    reach.command("judge", cls=ManyValues)(judge)
    reach.command("check-spec")(check_spec)


def judge(
    spec: SpecName,
    logs: LogFiles,
    out: Annotated[Path, typer.Option("--out", help="Verdict file to write (JSONL).")],
    reader: ReaderName = None,
) -> None:
    """Which milestones each run touched and reached, and what went wrong: one verdict a line, with its evidence."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.terminal import show
    from prm.data.jsonl import write_jsonl
    from prm.reach.judging.tally import VerdictTally
    from prm.reach.spec.load import load_spec

    rules = load_spec(spec)
    tally = VerdictTally()
    with file_errors():
        check_once("--logs", logs)
        check_file("--out", out, [*logs, Path(spec)])
        write_jsonl(out, _verdicts(rules, logs, reader, tally))
    show(_tables(rules, tally), _lines(tally, out))


def _verdicts(spec: Spec, logs: list[Path], reader: str | None, tally: VerdictTally) -> Iterator[dict[str, Any]]:
    """The verdicts as JSON objects, one at a time; each is counted as it passes."""
    from prm.cli.progress import track
    from prm.reach.judging.judge import judge_run
    from prm.reach.judging.verdict_json import dump_verdict

    for run in track(runs_of(logs, reader, spec.envelope), "judging"):
        verdict = judge_run(run, spec)
        tally.add(verdict)
        yield dump_verdict(verdict)


def _tables(spec: Spec, tally: VerdictTally) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from prm.evaluation.table import one_line

    title = escape(f"{tally.runs} runs, {tally.calls} calls by {one_line(spec.title or spec.name)}")
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("milestone")
    for name in ("reached", "touched", "missed", "n/a", "unscorable"):
        table.add_column(name, justify="right")
    for name, counts in tally.standings.items():
        shares = (_share(counts[standing], tally.runs) for standing in ("reached", "touched", "missed", "n/a"))
        named = escape(one_line(f"{name}  {spec.milestones[name].title}"))
        table.add_row(named, *shares, _share(counts["unscorable"], tally.runs))
    return table


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if count else "–"


def _lines(tally: VerdictTally, out: Path) -> Iterator[str]:
    from prm.reach.judging.tally import FOREIGN

    counts = tally.covered
    yield f"covered: {counts[True]} of {tally.runs}, not {counts[False]}, unknown {counts[None]}"
    for title, found in (("minefields hit", tally.minefields), ("diagnoses", tally.diagnoses)):
        named = ", ".join(f"{name} in {count}" for name, count in found.most_common())
        yield f"{title} (runs): {named or 'none'}"
    if tally.noted:
        yield f"logs that had to be repaired: {tally.noted} (see `notes`)"
    if tally.is_foreign:
        yield FOREIGN
    yield f"wrote {out}"


def check_spec(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec's YAML file, or ticket or airline.")],
) -> None:
    """Run a spec's own logs: milestones that say nothing, or cannot be reached, and verdicts that come out wrong."""
    from prm.cli.files import file_errors
    from prm.cli.terminal import show
    from prm.errors import ConfigError
    from prm.reach.spec.check import check_spec as run_check
    from prm.reach.spec.load import load_spec

    with file_errors():
        rules = load_spec(spec)
        if not rules.logs:
            todo = "name a file of self-test logs under `logs`"
            raise ConfigError.at(f"{spec}: logs", "a spec must have logs of its own to be checked", "none", todo)
        report = run_check(rules, spec)
    show(_log_table(report), _check_lines(report))
    if report.problems:
        raise typer.Exit(2)


def _log_table(report: SpecReport) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from prm.reach.judging.wording import LETTERS

    table = Table(title=f"{len(report.logs)} logs", title_justify="left", box=None)
    for name in ("log", "milestones", "minefields", "diagnoses", ""):
        table.add_column(name)
    for log in report.logs:
        standings = " ".join(LETTERS[milestone.standing] for milestone in log.verdict.milestones)
        hit = ", ".join(name for name, is_hit in log.verdict.minefields.items() if is_hit)
        found = ", ".join(sorted({diagnosis.name for diagnosis in log.verdict.diagnoses}))
        table.add_row(*map(escape, (log.name, standings, hit, found, "wrong" if log.problems else "as it says")))
    return table


def _check_lines(report: SpecReport) -> Iterator[str]:
    yield from report.problems
    for name in report.silent_minefields:
        yield f"note: no log hits minefield {name}; nothing shows that it works"
    if not report.problems:
        yield "every milestone can be reached, none is vacuous, every log gets the verdicts it says"
