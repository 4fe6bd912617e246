"""The time of `prm --help` and `prm --version`, against a Python that does nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from benchmarks.measure import alternate, launch, ratio, summary
from benchmarks.report import Report, shown

_COMMANDS = {"python": ["-c", "pass"], "help": ["-m", "prm", "--help"], "version": ["-m", "prm", "--version"]}


def bench_startup(repeats: int) -> Report:
    """Runs the three commands in turn after one untimed round."""
    sides: dict[str, Callable[[int], float]] = {name: partial(_seconds, words) for name, words in _COMMANDS.items()}
    alternate(sides, 1)
    seconds = alternate(sides, repeats)
    milliseconds = {name: summary([1000 * value for value in values]) for name, values in seconds.items()}
    ratios = {name: ratio(seconds[name], seconds["python"]) for name in ("help", "version")}
    figures = {"ratio_to_python": ratios, "milliseconds": milliseconds}
    line = (
        f"{shown(ratios['help'])} and {shown(ratios['version'])} the time of an empty Python "
        f"({milliseconds['python']['median']:.0f} ms): prm --help {milliseconds['help']['median']:.0f} ms, "
        f"prm --version {milliseconds['version']['median']:.0f} ms"
    )
    return Report("help", "no data", line, figures, {"repeats": repeats})


def _seconds(words: list[str], repeat: int) -> float:
    return float(launch([sys.executable, *words])["seconds"])
