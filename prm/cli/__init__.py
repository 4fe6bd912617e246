"""The command line: one file a group of verbs; each parses, calls one function and sets the exit code."""

from prm.cli.main import main

__all__ = ["main"]
