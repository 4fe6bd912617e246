"""The root command: registers the verbs, turns errors into one line and exit code 2.

Verb modules import only typer at the top; what does the work is imported inside the verb, so that
``prm --help`` stays fast.
"""

from __future__ import annotations

import logging
import sys
from typing import Annotated, Any

import typer

from prm.cli import agree, calibrate, data, evaluate, fetch, interrupted, judge, quickstart, reach, score, train
from prm.cli.files import file_errors
from prm.errors import PrmError
from prm.version import __version__

_UsageError: Any = typer.BadParameter.__base__
"""Any mistake in a command; older typers take the class from click, newer ones have their own."""

app = typer.Typer(
    name="prm",
    help="Train and measure process reward models for tool-using agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"prm {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    logging.basicConfig(level=logging.DEBUG if verbose else logging.INFO, format="%(message)s", stream=sys.stderr)


for module in (data, train, score, judge, evaluate, calibrate, agree, reach, fetch, quickstart):
    module.register(app)


def main() -> None:
    """The entry point of the console script ``prm``: every mistake of the user is one line and exit code 2."""
    try:
        with file_errors():
            code = app(prog_name="prm", standalone_mode=False)
    except KeyboardInterrupt:  # before a verb runs; after that typer gives the code
        code = interrupted.EXIT_CODE
    except PrmError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except _UsageError as error:
        sys.exit(_explain(error))
    if code == interrupted.EXIT_CODE:
        typer.echo(interrupted.MESSAGE, err=True)
    if "torch.distributed" in sys.modules:
        from prm.models.processes import leave_processes

        leave_processes(code or 0)
    sys.exit(code)


def _explain(error: Any) -> int:
    """Tells what is wrong with the command in one line (without any arguments: the help) → the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        verb = error.ctx.command_path if error.ctx else "prm"
        typer.echo(f"error: {' '.join(error.format_message().split()).rstrip('.')}; see {verb} --help", err=True)
    return int(error.exit_code)
