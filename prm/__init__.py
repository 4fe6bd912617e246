"""Process reward models for tool-using agents.

Public names load on first use, so ``import prm`` never imports torch or transformers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from prm.version import __version__

if TYPE_CHECKING:
    from prm.data.records import read_predictions, read_trajectories
    from prm.models.step_classifier import StepClassifier
    from prm.types import Prediction, Trajectory

_HOMES = {
    "Prediction": "prm.types",
    "StepClassifier": "prm.models.step_classifier",
    "Trajectory": "prm.types",
    "read_predictions": "prm.data.records",
    "read_trajectories": "prm.data.records",
}

__all__ = [
    "Prediction",
    "StepClassifier",
    "Trajectory",
    "__version__",
    "read_predictions",
    "read_trajectories",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'prm' has no attribute {name!r}")
