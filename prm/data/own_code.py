"""What a user names as ``module:name``: one's own readers, rewards, tools and agents."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
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
    try:
        return getattr(_module(module), attribute)
    except (Exception, SystemExit) as error:
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


def _module(name: str) -> ModuleType:
    """The module of this name, or in this file, whatever else is called like the file."""
    path = Path(name).resolve() if name.endswith(".py") else None
    folder = Path.cwd() if path is None else path.parent
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    module = importlib.import_module(name if path is None else path.stem)
    return module if path is None or _is_written_in(module, path) else _module_in(path)


def _is_written_in(module: ModuleType, path: Path) -> bool:
    written = getattr(module, "__file__", None)  # what is built in has none
    return written is not None and Path(written).resolve() == path


def _module_in(path: Path) -> ModuleType:
    """The module in a file whose name another module has already."""
    name = f"own_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {path}")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
