"""A training verb's folder is refused early where it can be none, and an error leaves nothing of it behind."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from prm.cli.output_dir import output_dir
from prm.errors import ConfigError


def _training(folder: Path, process: int = 0) -> SimpleNamespace:
    return SimpleNamespace(output_dir=str(folder), process_index=process)


def _fail_after(folder: Path, *names: str, process: int = 0) -> None:
    def write(name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")

    def run() -> None:
        with output_dir(_training(folder, process), "no-such-model"):
            for name in names:
                write(name)
            raise ConfigError("model: must exist, got none; check it")

    with pytest.raises(ConfigError, match="model"):
        run()


def test_an_error_before_training_removes_the_folders_it_made(tmp_path: Path) -> None:
    _fail_after(tmp_path / "runs" / "a", "run.json")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    _fail_after(tmp_path, "run.json")
    assert tmp_path.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_other_files_an_earlier_run_and_other_processes_are_left_alone(tmp_path: Path) -> None:
    _fail_after(tmp_path / "a", "run.json", "history.jsonl")
    assert len(list((tmp_path / "a").iterdir())) == 2
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.json").write_text("{}")
    _fail_after(tmp_path / "b", "run.json")
    assert (tmp_path / "b" / "run.json").is_file()
    _fail_after(tmp_path / "c", "run.json", process=1)
    assert (tmp_path / "c" / "run.json").is_file()


def test_a_run_that_ends_well_keeps_its_folder(tmp_path: Path) -> None:
    with output_dir(_training(tmp_path / "a"), "no-such-model"):
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "run.json").write_text("{}")
    assert (tmp_path / "a" / "run.json").is_file()


def test_a_file_and_the_models_own_folder_are_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused = (
        ("file", "must be a folder"),
        ("file/x", "must be a folder"),
        ("", "must not be the folder of the model"),
    )
    for folder, said in refused:
        with pytest.raises(ConfigError, match=said), output_dir(_training(tmp_path / folder), str(tmp_path)):
            pytest.fail("the work began")
