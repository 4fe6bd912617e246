"""What a benchmark reports: one line to read, ratio first, and one JSON line to keep."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("agent-prm", "numpy", "torch", "transformers", "accelerate")


@dataclass(frozen=True)
class Report:
    """One measurement.

    Attributes:
        benchmark: Its name.
        data: What it was measured on.
        line: The figures to read, ratio first.
        figures: Everything measured.
        sizes: What was measured on, in numbers.
    """

    benchmark: str
    data: str
    line: str
    figures: dict[str, Any]
    sizes: dict[str, Any]


def environment() -> dict[str, Any]:
    """What the figures hold for: commit, versions, machine and time, at the moment of the call."""
    return {
        "commit": _commit(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "machine": _machine(),
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def publish(report: Report, around: dict[str, Any], out: Path) -> None:
    """Prints the line and appends the JSON line to `out`: the figures, their sizes, and the `environment`."""
    print(f"{report.line}  [{report.benchmark}, {report.data}]", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    named = {"benchmark": report.benchmark, "data": report.data}
    with out.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**named, **report.figures, "sizes": report.sizes, **around}) + "\n")


def shown(figure: dict[str, float], unit: str = "×") -> str:
    """A summary as text: the median with its lowest and highest value."""
    return f"{figure['median']:.4g}{unit} ({figure['min']:.4g} to {figure['max']:.4g})"


def _commit() -> str | None:
    command = ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def _machine() -> dict[str, Any]:
    return {
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS"),
        "load": [round(value, 2) for value in os.getloadavg()],
    }
