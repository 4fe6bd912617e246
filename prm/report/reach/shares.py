"""Shares and estimates as the page writes them."""

from __future__ import annotations

from prm.reach.metrics import estimate
from prm.report.cells import UNDEFINED, decimal
from prm.report.elements import Estimate


def share(value: float | None) -> str:
    """ "41 %"; "0.4 %" and "99.6 %" where a whole number would say none or all; "–" where undefined."""
    if value is None:
        return UNDEFINED
    percent = 100 * value
    whole = percent in (0, 100) or 1 <= percent <= 99
    return f"{decimal(percent, 0 if whole else 1)} %"


def with_interval(found: estimate.Estimate) -> Estimate:
    """A metric's value as a report's."""
    low, high = found.ci95 or (None, None)
    return Estimate(found.value, low, high)
