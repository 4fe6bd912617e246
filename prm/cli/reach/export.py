"""``prm reach export``: logs and verdicts in the forms of other tools."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prm.cli.evaluate import ManyValues
from prm.cli.reach.logs import LogFiles, ReaderName, check_once, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prm.reach.judging.verdict import RunVerdict
    from prm.reach.log.run import Run
    from prm.reach.spec.model import Spec

    Pairs = Iterable[tuple[Run, RunVerdict | None]]


class ExportFormat(str, Enum):
    """What is written."""

    FLAT = "flat"
    EVENTS = "events"
    TRAJECTORY = "trajectory"


def register(reach: typer.Typer) -> None:
    """Add this module's verb to ``prm reach``."""
    reach.command("export", cls=ManyValues)(export)


def export(
    logs: LogFiles,
    format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="flat: a JSON line a call. events: OpenTelemetry evaluation events (needs --verdicts). trajectory: "
            "records for prm build and prm train.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="File to write (JSONL).")],
    verdicts: Annotated[
        Path | None, typer.Option("--verdicts", help="What prm reach judge wrote of these logs.")
    ] = None,
    spec: Annotated[
        str | None, typer.Option("--spec", help="flat: the spec that says where every argument came from.")
    ] = None,
    reader: ReaderName = None,
) -> None:
    """Write logs, with what the verdicts say of them, as flat rows, as evaluation events or as trajectories."""
    from prm.cli.files import check_file, file_errors
    from prm.data.jsonl import write_jsonl
    from prm.reach.spec.load import load_spec

    _check(format, verdicts, spec)
    rules = None if spec is None else load_spec(spec)
    with file_errors():
        check_once("--logs", logs)
        check_file("--out", out, [*logs, *([] if verdicts is None else [verdicts])])
        written = write_jsonl(out, _records(format, _pairs(logs, reader, verdicts, rules), rules))
    typer.echo(f"wrote {written} lines to {out}")


def _check(format: ExportFormat, verdicts: Path | None, spec: str | None) -> None:
    from prm.errors import ConfigError

    if format is ExportFormat.EVENTS and verdicts is None:
        raise ConfigError.at("--verdicts", "must be given with --format events", "none", "judge the logs first")
    if format is ExportFormat.TRAJECTORY and verdicts is not None:
        todo = "leave it out; prm reach label writes trajectories with labels"
        raise ConfigError.at("--verdicts", "has no place in --format trajectory", str(verdicts), todo)
    if format is not ExportFormat.FLAT and spec is not None:
        raise ConfigError.at("--spec", "is for --format flat", spec, "leave it out")


def _pairs(logs: list[Path], reader: str | None, verdicts: Path | None, rules: Spec | None) -> Pairs:
    from prm.cli.progress import track
    from prm.reach.judging.verdict_json import read_verdicts
    from prm.reach.log.judged import pair_verdicts

    envelope = None if rules is None else rules.envelope
    runs = track(runs_of(logs, reader, envelope), "exporting")
    return pair_verdicts(runs, [] if verdicts is None else read_verdicts(verdicts))


def _records(format: ExportFormat, pairs: Pairs, rules: Spec | None) -> Iterator[dict[str, Any]]:
    from prm.data.records import dump_trajectory
    from prm.reach.judging.provenance import trace
    from prm.reach.log.to_flat import flat_log
    from prm.reach.log.verdict_events import evaluation_documents

    if format is ExportFormat.TRAJECTORY:
        return (dump_trajectory(run.trajectory) for run, _ in pairs)
    if format is ExportFormat.EVENTS:
        return evaluation_documents((run, verdict) for run, verdict in pairs if verdict is not None)
    return flat_log((run, verdict, None if rules is None else trace(run, rules)) for run, verdict in pairs)
