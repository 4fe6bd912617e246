"""How much work something is: the lines of Python that it runs, loops included; the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def work_of(action: Callable[[], object]) -> int:
    """The lines run while `action` is under way."""
    lines = 0

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        action()
    finally:
        sys.settrace(before)
    return lines


def growth(make: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times the work twice the size is: 2 where it is linear, 4 where it is quadratic.

    Args:
        make: The action for a size.
        size: The smaller one, large enough for what does not grow to count for little.
    """
    make(size)()  # what is worked out once and kept
    return work_of(make(2 * size)) / work_of(make(size))
