from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from prm.cli.shown_command import run_shown
from prm.version import __version__


def test_a_command_is_run_after_it_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    run_shown("--version")
    assert capfd.readouterr().out.splitlines() == ["$ prm --version", f"prm {__version__}"]


def test_what_is_shown_can_be_typed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two words.jsonl"
    with pytest.raises(subprocess.CalledProcessError):
        run_shown("check", file)
    said = capfd.readouterr()
    assert shlex.split(said.out.splitlines()[0]) == ["$", "prm", "check", str(file)]
    assert said.err.startswith("error: ")
