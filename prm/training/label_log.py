"""What became of the labels, said before training begins."""

from __future__ import annotations

import logging

from prm.data.label_account import LabelAccount
from prm.types import LABELS

_log = logging.getLogger(__name__)


def log_labels(account: LabelAccount) -> None:
    """One line for each thing that may have happened to a label, by class, and one for the tool results."""
    plain = account.as_dict()
    for name in ("labelled", "kept", "elided", "windowed", "dropped"):
        counts = "  ".join(f"{label}: {plain[name][str(label)]}" for label in LABELS)
        _log.info("labels %-9s %s", name, counts)
    _log.info("tool results elided %d of %d", account.tool_results_elided, account.tool_results)
