"""``prm reach label``, ``sample`` and ``agree``: step labels by rule, and their check by a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prm.cli.evaluate import ManyValues
from prm.cli.reach.logs import LogFiles, ReaderName, SpecName, check_once, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from prm.reach.judging.tally import VerdictTally
    from prm.reach.labels.tally import LabelTally
    from prm.reach.spec.model import Spec
    from prm.types import Trajectory


def register(reach: typer.Typer) -> None:
    """Add this module's verbs to ``prm reach``."""
    reach.command("label", cls=ManyValues)(label)
    reach.command("sample")(sample)
    reach.command("agree")(agree)


def label(
    spec: SpecName,
    logs: LogFiles,
    out: Annotated[Path, typer.Option("--out", help="Trajectory file to write (JSONL).")],
    reader: ReaderName = None,
) -> None:
    """Label every step by rule: a trajectory file to build and train on, with rule, evidence and basis beside."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.terminal import show
    from prm.data.jsonl import write_jsonl
    from prm.data.records import dump_trajectory
    from prm.reach.judging.tally import FOREIGN, VerdictTally
    from prm.reach.labels.rules import rule_order
    from prm.reach.labels.tally import LabelTally
    from prm.reach.spec.load import load_spec

    rules = load_spec(spec)
    rule_order(rules)
    tally, judged = LabelTally(), VerdictTally()
    with file_errors():
        check_once("--logs", logs)
        check_file("--out", out, [*logs, Path(spec)])
        write_jsonl(out, map(dump_trajectory, _labelled(rules, logs, reader, tally, judged)))
    doubts = [FOREIGN] if judged.is_foreign else []
    show(_label_table(tally), [*_label_lines(tally), *doubts, f"wrote {out}"])


def _labelled(
    spec: Spec, logs: list[Path], reader: str | None, tally: LabelTally, judged: VerdictTally
) -> Iterator[Trajectory]:
    """The labelled runs, one at a time; each is counted as it passes."""
    from prm.cli.progress import track
    from prm.reach.labels.rules import label_trajectory

    for run in track(runs_of(logs, reader, spec.envelope), "labelling"):
        labelled, verdict = label_trajectory(run, spec)
        tally.add(labelled)
        judged.add(verdict)
        yield labelled


def _label_table(tally: LabelTally) -> RenderableType:
    from rich.table import Table

    from prm.reach.labels.rules import DEFAULT_ORDER, UNKNOWN
    from prm.types import LABELS

    table = Table(title=f"{tally.runs} runs, {tally.steps} steps", title_justify="left", box=None)
    table.add_column("rule")
    for name in ("−1", "0", "+1", "masked", "share"):
        table.add_column(name, justify="right")
    for rule in (*DEFAULT_ORDER, UNKNOWN):
        counts = [tally.rules[rule, given] for given in (*LABELS, None)]
        if any(counts):
            cells = (str(count) if count else "" for count in counts)
            table.add_row(rule, *cells, f"{sum(counts) / tally.steps:.1%}")
    return table


def _label_lines(tally: LabelTally) -> Iterator[str]:
    from prm.types import LABELS

    if tally.steps:
        counts = tally.labels()
        shares = [f"{f'{given:+d}' if given else '0'} {counts[given] / tally.steps:.1%}" for given in reversed(LABELS)]
        yield f"labels: {', '.join(shares)}, masked {tally.masked / tally.steps:.1%}"
    outcomes = tally.outcomes
    yield f"outcomes: covered {outcomes[1]}, not {outcomes[-1]}, unknown {outcomes[None]}"


def sample(
    labelled: Annotated[Path, typer.Argument(metavar="LABELLED", help="What `prm reach label` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="File to fill in: .csv for a spreadsheet, else JSONL.")],
    share: Annotated[float, typer.Option("--share", help="Share of the runs to draw, in every stratum.")] = 0.2,
    min_steps: Annotated[int, typer.Option("--min-steps", help="Steps to draw at least.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Decides which runs are drawn.")] = 0,
    spec: Annotated[str | None, typer.Option("--spec", help="To print what each milestone means.")] = None,
) -> None:
    """Draw runs for a person to label, blind to the verdicts: stratified by rule and label."""
    from prm.cli.files import check_file, file_errors
    from prm.reach.labels.labelled_file import read_labelled
    from prm.reach.labels.sample import draw_sample
    from prm.reach.labels.sample_file import write_sample

    with file_errors():
        check_file("--out", out, [labelled])
        titles = _titles(spec)
        keys = [run.key for run in draw_sample(read_labelled(labelled), share=share, min_steps=min_steps, seed=seed)]
        found = {run.key: run for run in read_labelled(labelled, whole=set(keys))}
        drawn = [found[key] for key in keys]
        write_sample(out, drawn, titles)
    steps = sum(len(run.step_labels) for run in drawn)
    typer.echo(f"{len(drawn)} runs with {steps} steps to label:")
    typer.echo("each step -1, 0, 1 or empty, each run's outcome 1 or -1,")
    typer.echo("each milestone reached, touched, missed or n/a")
    for name, title in titles.items():
        typer.echo(f"  {name}  {title}")
    typer.echo(f"wrote {out}; when it is filled in: prm reach agree {out} {labelled}")


def _titles(spec: str | None) -> Mapping[str, str]:
    from prm.reach.spec.load import load_spec

    if spec is None:
        return {}
    return {name: milestone.title for name, milestone in load_spec(spec).milestones.items()}


def agree(
    human: Annotated[Path, typer.Argument(metavar="HUMAN", help="The filled-in file of `prm reach sample`.")],
    labelled: Annotated[Path, typer.Argument(metavar="LABELLED", help="What `prm reach label` wrote.")],
    out: Annotated[Path | None, typer.Option("--out", help="JSON file with every disagreement.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the tables.")] = False,
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamplings of the queries; 0 = no intervals.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the resampling.")] = 0,
) -> None:
    """Compare rule labels and milestone verdicts with a person's: agreement, κ, precision by rule, disagreements."""
    from prm.cli.files import check_file, file_errors
    from prm.cli.terminal import show, show_json
    from prm.data.jsonl import write_json
    from prm.reach.labels.agree import agree_with_human
    from prm.reach.labels.agree_table import lines, tables
    from prm.reach.labels.human_file import read_human
    from prm.reach.labels.labelled_file import read_labelled

    with file_errors():
        check_once("HUMAN and LABELLED", [human, labelled])
        if out is not None:
            check_file("--out", out, [human, labelled])
        said = read_human(human)
        by_rules = read_labelled(labelled, whole={run.identity.key for run in said})
        found = agree_with_human(said, by_rules, bootstrap=bootstrap, seed=seed)
        if out is not None:
            write_json(out, found)
    written: list[Any] = [] if out is None else [f"wrote {out}"]
    if as_json:
        show_json(found)
    else:
        show(tables(found), [*lines(found), *written])
