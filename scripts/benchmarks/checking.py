"""`prm check` on synthetic records: whether its time is linear and its memory flat in their number."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.measure import alternate, launch, ratio, summary
from benchmarks.report import Report, shown
from benchmarks.runs import synthetic_records
from prm.data.jsonl import write_jsonl

_FACTOR = 10


def bench_checking(records: int, repeats: int) -> Report:
    """Checks files of `records` and of a tenth of them, in processes of their own; the smaller one warms up."""
    peaks: dict[str, list[float]] = {"small": [], "large": []}
    with tempfile.TemporaryDirectory() as folder:
        counts = {"small": max(1, records // _FACTOR), "large": records}
        files = {name: Path(folder) / f"{name}.jsonl" for name in counts}
        for name, count in counts.items():
            write_jsonl(files[name], synthetic_records(count))
        _check(files["small"], [], 0)
        sides: dict[str, Callable[[int], float]] = {name: partial(_check, files[name], peaks[name]) for name in counts}
        seconds = alternate(sides, repeats)
        sizes = {
            "records": counts,
            "megabytes": {name: round(path.stat().st_size / 1e6, 2) for name, path in files.items()},
            "repeats": repeats,
        }
    growth = counts["large"] / counts["small"]
    linearity = {name: round(value / growth, 4) for name, value in ratio(seconds["large"], seconds["small"]).items()}
    memory = ratio(peaks["large"], peaks["small"])
    figures = {
        "time_a_record_ratio": linearity,
        "memory_ratio": memory,
        "seconds": {name: summary(values) for name, values in seconds.items()},
        "peak_megabytes": {name: summary(values) for name, values in peaks.items()},
        "records_per_second": round(counts["large"] / summary(seconds["large"])["median"], 1),
    }
    line = (
        f"{shown(linearity)} the time a record and {shown(memory)} the peak memory for {growth:.4g} times the records: "
        f"{counts['large']} in {summary(seconds['large'])['median']:.1f} s and "
        f"{summary(peaks['large'])['median']:.0f} MB"
    )
    return Report("check", f"{records} synthetic records", line, figures, sizes)


def _check(path: Path, peaks: list[float], repeat: int) -> float:
    measured = launch([sys.executable, "-m", "prm", "check", str(path)])
    peaks.append(measured["peak_megabytes"])
    return float(measured["seconds"])
