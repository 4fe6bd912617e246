from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from prm.cli.main import main


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["prm", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nope"], "No such option: --nope; see prm --help"),
        (["score", "--nope"], "--nope"),
        (["score"], "Missing option '--model'; see prm score --help"),
        (["nosuch"], "nosuch"),
        (["evaluate", "--gold", "g", "--out", "o", "--bootstrap", "many"], "valid integer"),
    ],
)
def test_a_mistake_in_the_command_is_one_line(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = run(arguments, monkeypatch, capsys)
    assert code == 2
    assert error.startswith("error: ")
    assert said in error
    assert error.count("\n") == 1


def test_a_bad_file_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = run(["check", "nowhere.jsonl"], monkeypatch, capsys)
    assert (code, error.count("\n")) == (2, 1)
    assert error.startswith("error: nowhere.jsonl")


def test_the_version_ends_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"], monkeypatch, capsys) == (0, "")


def test_an_output_that_cannot_be_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    target = str(tmp_path / "file" / "below" / "runs.jsonl")
    code, error = run(["reach", "generate", "--runs", "1", "--out", target], monkeypatch, capsys)
    assert (code, error.count("\n")) == (2, 1)


@pytest.mark.parametrize("module", ["prm.cli.main", "typer", "prm.cli.train"])
def test_ctrl_c_while_the_verbs_are_imported_is_one_line(module: str) -> None:
    code = f"""
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
import prm.cli
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "interrupted; run the same command again to go on\n")


def test_ctrl_c_before_a_verb_runs_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["prm.cli.main"], "app", interrupted)
    assert run(["check", "x"], monkeypatch, capsys) == (130, "interrupted; run the same command again to go on\n")
