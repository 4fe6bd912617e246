"""What is done to the logits of the three verdicts before their softmax, in training and ever after."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Calibration:
    """(logits − bias) / temperature: a base model prefers one of three words by many nats, whatever it has read.

    The bias is contextual calibration (arXiv 2102.09690); it may change which verdict is the most probable one.

    Attributes:
        temperature: Above 0.
        bias: For −1, 0, +1.

    Raises:
        ValueError: A temperature that is not above 0, or a bias that is not finite.
    """

    temperature: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"the temperature must be above 0, got {self.temperature}")
        if len(self.bias) != 3 or not all(map(math.isfinite, self.bias)):
            raise ValueError(f"the bias must be three numbers, got {self.bias}")

    def of(self, three: torch.Tensor) -> torch.Tensor:
        """`[…, 3]` logits of the three verdicts → `[…, 3]`, float32 or wider."""
        wide = three if three.dtype == torch.float64 else three.float()
        return (wide - torch.tensor(self.bias, dtype=wide.dtype, device=wide.device)) / self.temperature


UNCALIBRATED = Calibration()
"""The logits as they are."""


def read_calibration(stored: Mapping[str, Any] | None) -> Calibration:
    """From JSON.

    Raises:
        ValueError, TypeError, KeyError: It says something else.
    """
    if stored is None:
        return UNCALIBRATED
    minus, neutral, plus = map(float, stored["bias"])
    return Calibration(float(stored["temperature"]), (minus, neutral, plus))
