"""Where a verb may write, asked before the work is done; and what the file system refuses, as one line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prm.errors import ConfigError, PrmError


@contextmanager
def file_errors() -> Iterator[None]:
    """Turns an error of the file system (no right, no room, no such folder …) into a `ConfigError`.

    A reader of stdout that has gone away is no error of a file, and passes.
    """
    try:
        yield
    except (PrmError, BrokenPipeError):
        raise
    except OSError as error:
        path = error.filename2 or error.filename or "the file system"
        rule, todo = "must be readable, or writable where it is an output", "check the path, its rights and the room"
        raise ConfigError.at(_one_line(path), rule, error.strerror or str(error), todo) from error


def check_folder(option: str, folder: Path, *, folders: Iterable[str] = (), files: Iterable[str] = ()) -> None:
    """Refuses an output folder that cannot be one; nothing is made.

    Args:
        option: Its name on the command line.
        folder: It, or what it would be made in, must be a folder that may be written to.
        folders, files: What will be written in it.

    Raises:
        ConfigError: It is a file, is below one, may not be written to, or holds a file in a folder's place.
    """
    for made in (folder, *(folder / name for name in folders)):
        there = next((path for path in (made, *made.absolute().parents) if path.exists()), made)
        if not there.is_dir():
            raise ConfigError.at(option, "must be a folder, or one that can be made", _one_line(there), "name another")
        if not os.access(there, os.W_OK | os.X_OK):
            raise ConfigError.at(option, "must be writable", _one_line(there), "change its rights or name another")
    for name in files:
        _refuse_folder(option, folder / name)


def check_file(option: str, file: Path, read: Iterable[Path] = ()) -> None:
    """Refuses an output file that cannot be one, or that is also read.

    Args:
        option: Its name on the command line.
        file: To be written.
        read: Files that the verb reads.

    Raises:
        ConfigError: It is a folder or a device, its folder cannot be written to, or it is among `read`.
    """
    _refuse_folder(option, file)
    check_folder(option, file.parent)
    if file.resolve() in [path.resolve() for path in read]:
        raise ConfigError.at(option, "must not replace what is read", str(file), "name another file")


def _refuse_folder(option: str, file: Path) -> None:
    if not file.name or file.is_dir():
        raise ConfigError.at(option, "must be a file", f"the folder {_one_line(file)}", "name a file")
    # A file is written beside its place and renamed: that would replace /dev/null or a pipe for everyone.
    if file.exists() and not file.is_file():
        raise ConfigError.at(option, "must be a file", f"the device {_one_line(file)}", "name a file")


def _one_line(path: object) -> str:
    """A path as it is, or as Python writes it where it would not stay one line of text."""
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)
    return text if text.isprintable() and len(text) <= 500 else repr(text[:500])
