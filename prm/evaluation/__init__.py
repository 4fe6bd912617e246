"""How good a judge is: metrics, intervals, baselines and Best-of-N. Imports no torch.

Names load on first use, so that a trainer that wants one short metric does not import scikit-learn or scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prm.evaluation.first_error import first_error_accuracy, first_error_accuracy_strict
    from prm.evaluation.metrics_file import evaluate
    from prm.evaluation.step_metrics import step_accuracy, summary

_HOMES = {
    "evaluate": "prm.evaluation.metrics_file",
    "first_error_accuracy": "prm.evaluation.first_error",
    "first_error_accuracy_strict": "prm.evaluation.first_error",
    "step_accuracy": "prm.evaluation.step_metrics",
    "summary": "prm.evaluation.step_metrics",
}

__all__ = ["evaluate", "first_error_accuracy", "first_error_accuracy_strict", "step_accuracy", "summary"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'prm.evaluation' has no attribute {name!r}")
