"""Tables and JSON on the terminal, whatever it can show."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType


def show(tables: RenderableType, lines: Iterable[str]) -> None:
    """Prints tables and then lines; what the terminal's encoding lacks, or no encoding has, becomes "?"."""
    from rich.console import Console

    from prm.evaluation.table import WIDTH

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(width=WIDTH, highlight=False)
    console.print(tables)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def show_json(content: Mapping[str, Any]) -> None:
    """Prints the content of a JSON file, indented, in ASCII: so any terminal can show it."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))
