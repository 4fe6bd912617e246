"""Keeps other libraries' bars and reports off the terminal; errors still show."""

from __future__ import annotations


def quieten_transformers() -> None:
    """Only errors of transformers are shown: the verbs show progress of their own."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
