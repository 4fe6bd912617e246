"""Repeats, medians, ratios of alternating sides, and peak memory. Knows nothing of what is measured."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

_LAUNCHER = Path(__file__).with_name("launcher.py")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


def alternate(sides: Mapping[str, Callable[[int], float]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every side in every repeat, measured A B A B …, so that a slow spell of the machine meets all sides.

    Args:
        sides: Name → measures the side once, given the repeat's number, and returns its seconds.
        repeats: Measured rounds; a warm-up is the caller's.
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for repeat in range(repeats):
        for name, side in sides.items():
            seconds[name].append(side(repeat))
    return seconds


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median and spread: ``{"median", "min", "max"}``, five significant digits."""
    found = {"median": median(values), "min": min(values), "max": max(values)}
    return {name: float(f"{value:.5g}") for name, value in found.items()}


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> dict[str, float]:
    """`summary` of the ratios of the pairs that were measured next to each other."""
    return summary([a / b for a, b in zip(numerator, denominator, strict=True)])


class Stopwatch:
    """Seconds of a `with stopwatch() as watch` block, in `watch.seconds` afterwards."""

    seconds: float = 0.0


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Measures the wall time of its block."""
    watch = Stopwatch()
    start = time.perf_counter()
    yield watch
    watch.seconds = time.perf_counter() - start


def reset_peak_memory() -> None:
    """Starts a new peak of resident memory, so that two sides of one process have one each (Linux; else nothing)."""
    if _CLEAR_REFS.exists():
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)  # what glibc keeps of the side before would count for this one
        _CLEAR_REFS.write_text("5")


def peak_megabytes() -> float | None:
    """Peak resident memory of this process since `reset_peak_memory`, in 10⁶ bytes; None where Linux does not say."""
    if not _STATUS.exists():
        return None
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
    return round(int(fields["VmHWM"].split()[0]) * 1024 / 1e6, 1)


def launch(command: Sequence[str]) -> dict[str, Any]:
    """Runs a command and returns its ``seconds`` and its own ``peak_megabytes``.

    A child starts with its parent's peak memory on Linux, so a small process (``launcher.py``) starts it.

    Raises:
        subprocess.CalledProcessError: The command failed.
    """
    started = subprocess.run(
        [sys.executable, "-I", str(_LAUNCHER), *command], check=True, stdout=subprocess.PIPE, text=True
    )
    measured: dict[str, Any] = json.loads(started.stdout)
    if measured["exit_code"]:
        raise subprocess.CalledProcessError(measured["exit_code"], list(command))
    return measured
