"""The command line: one file a group of verbs; each parses, calls one function and sets the exit code."""

import sys

from prm.cli import interrupted

try:
    from prm.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the verbs are still being imported
    sys.stderr.write(f"{interrupted.MESSAGE}\n")
    sys.exit(interrupted.EXIT_CODE)

__all__ = ["main"]
