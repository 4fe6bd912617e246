"""Every error that prm raises on purpose.

    PrmError
    ├── InputError(ValueError)        what a user gave is wrong
    │   ├── RecordError               one record of a data file
    │   ├── ConfigError               a recipe or an option
    │   └── ProtocolError             label protocols that must not be mixed
    ├── MissingFileError(FileNotFoundError)
    ├── DownloadError(OSError)        a base model or package could not be fetched
    ├── LabelLossError(RuntimeError)  labels would be lost on the way to the model
    └── ModelError(RuntimeError)      a checkpoint or backbone cannot be used

The command line prints the message as one line and exits with code 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


def complaint(where: str, rule: str, got: object, todo: str) -> str:
    """The one-line form of every message: ``<where>: <rule>, got <value>; <what to do>``."""
    shown = repr(got)
    if len(shown) > 120:
        shown = shown[:100] + "…" + shown[-10:]
    return f"{where}: {rule}, got {shown}; {todo}"


class PrmError(Exception):
    """The root of all errors raised on purpose."""


class InputError(PrmError, ValueError):
    """Something a user gave is wrong. Build it with `complaint`."""

    @classmethod
    def at(cls, where: str, rule: str, got: object, todo: str) -> Self:
        """The error with a message in the one-line form."""
        return cls(complaint(where, rule, got, todo))


class RecordError(InputError):
    """A bad record of a data file: names the file, the line, the key and the rule."""


class ConfigError(InputError):
    """A recipe or an option is wrong."""


class ProtocolError(InputError):
    """Labels or predictions of different protocols were mixed."""


class MissingFileError(PrmError, FileNotFoundError):
    """A file or folder that was named does not exist."""


class DownloadError(PrmError, OSError):
    """Something could not be fetched."""


class LabelLossError(PrmError, RuntimeError):
    """Labels would be lost between the file and the model."""


class ModelError(PrmError, RuntimeError):
    """A backbone or a checkpoint cannot be used as a step classifier."""
