from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.errors import ConfigError, PrmError


def generate(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, ["reach", "generate", *map(str, words)])
    if isinstance(result.exception, PrmError):
        raise result.exception
    return result


def test_runs_are_written_and_counted(tmp_path: Path) -> None:
    out = tmp_path / "new" / "runs.jsonl"
    shown = generate("--runs", "6", "--agents", "careful, looper", "--out", out).output
    assert "6 runs" in shown
    assert "careful" in shown
    assert len(out.read_text().splitlines()) == 6


@pytest.mark.parametrize("option", ["--agents", "--templates"])
def test_an_option_that_names_nothing_is_refused_and_does_not_mean_all(tmp_path: Path, option: str) -> None:
    with pytest.raises(ConfigError, match=f"{option}: must name at least one"):
        generate("--out", tmp_path / "runs.jsonl", option, " ,")


def test_an_output_that_can_be_no_file_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--out: must be a file"):
        generate("--out", tmp_path, "--runs", "1000000")
