"""The run folder of a training verb: refused before the work where it can be none, and not left behind by an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prm.cli.files import check_folder
from prm.errors import ConfigError, PrmError


@contextmanager
def output_dir(training: Any, model: str) -> Iterator[None]:
    """While open, a run is made in `training.output_dir`; an error before there is more than `run.json` removes it.

    Args:
        training: The training arguments; of several processes the first one tidies up.
        model: What the run starts from.

    Raises:
        ConfigError: The folder cannot be one, or is the model's own.
    """
    from prm.training.run_folder import RUN_FILE

    folder = Path(training.output_dir)
    check_folder("output_dir", folder)
    if Path(model).is_dir() and folder.resolve() == Path(model).resolve():
        raise ConfigError.at("output_dir", "must not be the folder of the model", str(folder), "name another")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    run_file = folder / RUN_FILE  # what a run writes first
    was_there = run_file.exists()
    try:
        yield
    except (PrmError, OSError):
        if training.process_index == 0 and not was_there:
            _remove_beginning(run_file, made)
        raise


def _remove_beginning(run_file: Path, made: list[Path]) -> None:
    """Removes `run_file` where it stands alone, and the folders of `made`, inner ones first, that are empty then."""
    folder = run_file.parent
    if not folder.is_dir() or any(path != run_file for path in folder.iterdir()):
        return
    run_file.unlink(missing_ok=True)
    for path in made:
        if not path.is_dir() or any(path.iterdir()):
            return
        path.rmdir()
