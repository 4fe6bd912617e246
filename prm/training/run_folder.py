"""What every run directory holds besides weights: resolved config, versions, commit and seed; and how it is resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from prm.data.jsonl import write_json
from prm.errors import ConfigError
from prm.version import __version__

RUN_FILE = "run.json"
_PACKAGES = ("torch", "transformers", "peft", "accelerate", "datasets", "tokenizers", "numpy")
_FREE_TO_CHANGE = {
    "resume",
    "output_dir",
    "logging_steps",
    "report_to",
    "push_to_hub",
    "hub_model_id",
    "hub_token",
}

_log = logging.getLogger(__name__)


def begin_run(training: Any, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Joins the processes of the launch and opens the run's folder; every process calls it.

    Args:
        training: The training arguments.
        settings: The resolved options, JSON-ready; see `settings_of`.

    Returns:
        The result of a run that is complete already, else None.

    Raises:
        ConfigError: The folder holds another run, or one that was not to go on.
    """
    folder = Path(training.output_dir)
    _log.debug("training on %s", training.device)  # the first read of `device` joins the process group
    with training.main_process_first(local=False, desc="run folder"):
        if training.process_index == 0:
            open_run_folder(folder, settings, training.resume)
    done = finished_result(folder)
    if done is not None:
        _log.info("%s: already trained; nothing to do", folder)
    return done


def settings_of(training: Any, *parts: Any) -> dict[str, Any]:
    """All options of a run, JSON-ready: those of the dataclasses `parts` and of the training arguments."""
    settings: dict[str, Any] = {}
    for part in parts:
        settings |= asdict(part)
    return {**settings, **training.to_sanitized_dict()}


def open_run_folder(folder: Path, settings: dict[str, Any], resume: bool) -> None:
    """Writes `run.json`, or checks it where the run goes on.

    Args:
        folder: The run's folder.
        settings: The resolved options, JSON-ready.
        resume: Whether an existing run may go on.

    Raises:
        ConfigError: The folder holds another run, or one that was not to go on.
    """
    path = folder / RUN_FILE
    started = any(folder.glob("checkpoint-*")) or finished_result(folder) is not None
    if not path.exists() or not started:
        write_json(path, {"settings": settings, **_environment()})
        return
    if not resume:
        raise ConfigError.at(
            "output_dir", "must not hold a run already", str(folder), "use --resume true, or another folder"
        )
    _refuse_other_settings(path, settings)


def _refuse_other_settings(path: Path, settings: dict[str, Any]) -> None:
    old = json.loads(path.read_text(encoding="utf-8"))["settings"]
    new = json.loads(json.dumps(settings))
    for key in sorted({*old, *new} - _FREE_TO_CHANGE):
        if old.get(key) != new.get(key):
            raise ConfigError.at(
                f"{path}: {key}",
                f"a resumed run keeps its settings ({old.get(key)!r})",
                new.get(key),
                "use another folder",
            )


def mark_finished(folder: Path, result: dict[str, Any]) -> None:
    """Adds the result to `run.json`; its presence says that the run is complete."""
    path = folder / RUN_FILE
    write_json(path, {**json.loads(path.read_text(encoding="utf-8")), "result": result})


def finished_result(folder: Path) -> dict[str, Any] | None:
    """The result of a complete run, else None."""
    path = folder / RUN_FILE
    if not path.is_file():
        return None
    result: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")).get("result")
    return result


def publish_run(trainer: Any, result: dict[str, Any], write_card: Callable[[Path], None], what: str) -> None:
    """Saves the model beside, then moves it in; the main process adds card and result. Every process calls it.

    Args:
        trainer: A `transformers.Trainer` that is done.
        result: What `run.json` gets.
        write_card: Writes the model card to a path.
        what: For the commit message of a push, e.g. "Judge".
    """
    folder = Path(trainer.args.output_dir)
    written = folder / ".model.partial"
    if trainer.args.should_save:
        shutil.rmtree(written, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    trainer.save_model(str(written), _internal_call=True)
    trainer.accelerator.wait_for_everyone()
    if trainer.args.should_save:
        # An adapter's folder would lack it.
        trainer.accelerator.unwrap_model(trainer.model).config.save_pretrained(written)
        write_card(written / "README.md")
        publish_model(written, folder)
        mark_finished(folder, result)
        trainer.state.save_to_json(str(folder / "trainer_state.json"))
    if trainer.args.push_to_hub:
        trainer.push_to_hub(commit_message=f"{what} trained by prm")
    trainer.accelerator.wait_for_everyone()


def publish_model(written: Path, folder: Path) -> None:
    """Moves a saved model's files into the run folder, config.json last, so that no half model can be loaded."""
    files = sorted(written.iterdir(), key=lambda path: path.name in ("config.json", "adapter_config.json"))
    for path in files:
        path.replace(folder / path.name)
    written.rmdir()


def sha256_of_files(paths: list[str]) -> str:
    """One hash over the bytes of all files, in order; of a source that is no file (a hub id) its name counts."""
    digest = hashlib.sha256()
    for path in paths:
        content = Path(path).read_bytes() if Path(path).is_file() else path.encode()
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def _environment() -> dict[str, Any]:
    return {
        "prm": __version__,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the working copy that prm runs from, where it is one."""
    here = Path(__file__).resolve().parent
    try:
        shown = subprocess.run(
            ["git", "-C", str(here), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return shown.stdout.strip() or None
