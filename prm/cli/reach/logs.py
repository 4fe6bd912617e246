"""What the verbs that read logs have in common: their options, and the runs of several logs as one stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from prm.reach.log.envelope import Envelope
    from prm.reach.log.run import Run

SpecName = Annotated[str, typer.Option("--spec", help="A spec's YAML file, or ticket or airline.")]
LogFiles = Annotated[
    list[Path], typer.Option("--logs", metavar="LOGS…", help="Logs of runs: messages, flat, spans or operations.")
]
ReaderName = Annotated[
    str | None,
    typer.Option(
        "--reader", help="flat, otel, operations[?…], another reader's name or module:function; by default found."
    ),
]


def check_once(option: str, files: Sequence[Path]) -> None:
    """Raises ConfigError where a file is named twice: its runs would count twice."""
    from prm.errors import ConfigError

    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise ConfigError.at(option, "must name each file once", str(file), "leave one out")
        seen.add(file.resolve())


def runs_of(logs: Sequence[Path], reader: str | None, envelope: Envelope | None = None) -> Iterator[Run]:
    """The runs of all logs, one at a time; arguments as of `prm.reach.log.read.read_runs`."""
    from prm.reach.log.read import read_runs

    return (run for log in logs for run in read_runs(log, reader, envelope))
