"""The scripts beside the package complain as its verbs do: one line on stderr, exit code 2, nothing written."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BENCH = ROOT / "scripts" / "bench.py"
TABLE = ROOT / "recipes" / "agentprocessbench-table" / "run.py"

_TABLE_OPTIONS = ("--labels", "labels", "--predictions", "judges", "--out")


def _complaint(
    script: Path,
    words: tuple[str, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    (folder / "labels").mkdir()
    (folder / "judges").mkdir()
    (folder / "file").write_text("x")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [str(script), *words])
    monkeypatch.syspath_prepend(str(script.parent))
    before = sorted(os.walk(folder))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert sorted(os.walk(folder)) == before
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "required: what"),
        (("nonesuch",), "invalid choice: 'nonesuch'"),
        (("evaluate", "--nonesuch"), "--nonesuch"),
        (("evaluate", "--steps", "many"), "--steps: must be a whole number, got 'many'"),
        (("grpo", "--group", "1"), "a group needs 2 answers or more, got 1"),
        (("evaluate", "--out", "labels"), "--out: must be a file"),
        (("evaluate", "--out", "file/x.jsonl"), "--out: must be a folder"),
        (("score", "--data", "nothing.jsonl", "--limit", "1"), "nothing.jsonl: file must exist"),
    ],
)
def test_bench_complains_in_one_line(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said in _complaint(BENCH, words, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "required: --labels, --predictions, --out"),
        ((*_TABLE_OPTIONS, "o", "--nonesuch"), "--nonesuch"),
        ((*_TABLE_OPTIONS, "o", "--bootstrap", "many"), "--bootstrap: invalid int value: 'many'"),
        ((*_TABLE_OPTIONS, "file"), "--out: must be a folder"),
        ((*_TABLE_OPTIONS, "file/x"), "--out: must be a folder"),
        (("--labels", "labels", "--predictions", "nothing", "--out", "o"), "check --predictions\n"),
    ],
)
def test_the_table_recipe_complains_in_one_line(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said in _complaint(TABLE, words, tmp_path, monkeypatch, capsys)
