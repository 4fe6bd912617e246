"""What a user names as ``module:name``: one's own tools and agents."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from prm.errors import ConfigError


def load_object(option: str, name: str) -> Any:
    """The object that ``module:name`` means; modules of the current folder are found too.

    Args:
        option: The option it was given to, for the message.
        name: ``module:name``, or ``path/to/file.py:name``.

    Raises:
        ConfigError: There is no such module or object, or importing it fails.
    """
    module, _, attribute = name.rpartition(":")
    if not module or not attribute:
        raise ConfigError.at(option, "must be module:name", name, "name a module and what is in it")
    folder, module = _split_path(module)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        shown = f"{type(error).__name__}: {error}"
        raise ConfigError.at(option, f"must be importable ({shown})", name, "check the module") from error


def code_digest(value: Any) -> str | None:
    """A digest of the module that a function or class was written in; None where that is not to be had.

    What it imports is not in it.
    """
    try:
        path = inspect.getsourcefile(value)
        return None if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except (TypeError, OSError):
        return None


def _split_path(module: str) -> tuple[Path, str]:
    """The folder to search, and the module's name in it."""
    if not module.endswith(".py"):
        return Path.cwd(), module
    path = Path(module).resolve()
    return path.parent, path.stem
