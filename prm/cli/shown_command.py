"""One command of prm, run as a user would type it and shown: what recipes of several commands are made of."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import Any

import typer


def run_shown(*arguments: Any) -> None:
    """Prints ``$ prm …``, ready to be typed, and runs it with this Python.

    Args:
        arguments: The words after ``prm``; each is shown as text.

    Raises:
        CalledProcessError: The command failed; it has said why.
    """
    words = [str(argument) for argument in arguments]
    typer.echo("$ prm " + shlex.join(words))
    subprocess.run([sys.executable, "-m", "prm", *words], check=True)
