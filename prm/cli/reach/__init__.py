"""``prm reach …``: how far an agent got, judged by rules over its tool-call log. A module holds a family of verbs."""

from __future__ import annotations

import typer

from prm.cli.reach import export, generate, judge, label, measure, run

_VERBS = (generate, judge, measure, run, export, label)


def register(app: typer.Typer) -> None:
    """Add the group ``reach`` to the root command."""
    reach = typer.Typer(name="reach", help="Tool-call logs: milestones, diagnoses, step labels.", no_args_is_help=True)
    reach.callback()(_group)
    for verbs in _VERBS:
        verbs.register(reach)
    app.add_typer(reach)


def _group() -> None:
    """Keeps every verb a verb of its own."""
