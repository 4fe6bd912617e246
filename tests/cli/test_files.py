from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from prm.cli.files import check_file, check_folder, file_errors
from prm.errors import ConfigError, MissingFileError


def test_an_error_of_the_file_system_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone/x: must be readable.*got 'No such file or directory'"), file_errors():
        (tmp_path / "gone" / "x").open("wb")
    with pytest.raises(ConfigError, match=r"the file system: .*got 'No space left on device'"), file_errors():
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ConfigError) as caught, file_errors():
        (tmp_path / "a\nb").read_bytes()
    assert "\n" not in str(caught.value)


def test_errors_of_prm_and_a_reader_that_went_away_pass(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError), file_errors():
        raise MissingFileError("gone")
    with pytest.raises(BrokenPipeError), file_errors():
        raise BrokenPipeError


def test_an_output_folder_may_be_made_but_never_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    check_folder("--out", tmp_path / "new" / "newer", folders=("plots",), files=("x",))
    assert not (tmp_path / "new").exists()
    for folder in (file, file / "below"):
        with pytest.raises(ConfigError, match="--out: must be a folder"):
            check_folder("--out", folder)
    with pytest.raises(ConfigError, match=r"--out: must be a folder, .*file"):
        check_folder("--out", tmp_path, folders=("file",))
    (tmp_path / "taken").mkdir()
    with pytest.raises(ConfigError, match=r"--out: must be a file, got 'the folder .*taken'"):
        check_folder("--out", tmp_path, files=("taken",))


def test_an_output_file_is_no_folder_and_nothing_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("kept")
    check_file("--out", tmp_path / "new", [tmp_path / "read"])
    with pytest.raises(ConfigError, match="--out: must not replace what is read"):
        check_file("--out", tmp_path / "x" / ".." / "read", [tmp_path / "read"])
    for folder in (tmp_path, Path()):
        with pytest.raises(ConfigError, match="--out: must be a file"):
            check_file("--out", folder)


def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(ConfigError, match="--out: must be a file, got 'the device "):
            check_file("--out", path)
