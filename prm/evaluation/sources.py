"""From paths to gold and judges: a path is a JSONL file or a folder that is searched for them.

Gold may also be a tau-bench result file: one JSON list of runs whose outcomes are known and whose steps are not.
"""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.data.jsonl import read_jsonl
from prm.data.readers.agentprocessbench import complete_record, dataset_of
from prm.data.readers.registry import detect_reader, read_all
from prm.data.records import parse_gold, read_predictions
from prm.errors import ConfigError, MissingFileError
from prm.types import Prediction, Trajectory

log = logging.getLogger(__name__)

SUFFIX = ".jsonl"

MAX_NAME = 200
"""Characters of a judge's name, which stands in every row of every table."""

UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories that a terminal would obey or cannot write: control characters, line ends, lone surrogates."""


def jsonl_files(path: Path) -> list[Path]:
    """The file itself, or every ``*.jsonl`` (in any case) below a folder, sorted by path.

    Raises:
        MissingFileError: Nothing is there, or the folder holds no such file.
    """
    if not path.is_dir():
        if not path.is_file():
            raise MissingFileError(f"{path}: file or folder must exist, found nothing; check the path")
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() == SUFFIX and file.is_file())
    if not files:
        raise MissingFileError(f"{path}: folder must hold {SUFFIX} files, found none; check the path")
    return files


def load_gold(paths: Sequence[Path]) -> list[Trajectory]:
    """The gold records of all files, in order; label-only records are taken.

    AgentProcessBench's own records are completed with their subset and agent, as its reader does. A JSON list
    is read as a tau-bench result file; in a folder only JSONL files are looked for.

    Raises:
        MissingFileError: A path leads to nothing.
        RecordError: A record breaks a rule.
    """
    return [trajectory for path in paths for file in jsonl_files(path) for trajectory in _read_gold(file)]


def _read_gold(file: Path) -> Iterable[Trajectory]:
    if detect_reader(str(file)) == "taubench":
        return read_all([str(file)], "taubench")
    return _read_gold_lines(file)


def _read_gold_lines(file: Path) -> Iterator[Trajectory]:
    for number, record in read_jsonl(file):
        where = f"{file}:{number}"
        yield parse_gold(complete_record(record, where) if _is_benchmark(record) else record, where)


def _is_benchmark(record: Mapping[str, Any]) -> bool:
    return "total_index" in record and dataset_of(record.get("data_source")) is not None


def load_predictions(path: Path) -> list[Prediction]:
    """The prediction records of a file or folder, in order, duplicates included."""
    return [prediction for file in jsonl_files(path) for prediction in read_predictions(file)]


def judge_paths(named: Sequence[str], folder: Path | None, option: str = "--predictions") -> dict[str, Path]:
    """Judge name → path, from ``NAME=PATH`` texts and from a folder in which every entry is a judge.

    Entries whose names begin with a dot or an underscore are none.

    Args:
        named: The texts.
        folder: The folder, if any.
        option: What gave the texts, for the message.

    Raises:
        ConfigError: A text is not NAME=PATH, a name is no name or stands twice, or there is no judge at all.
        MissingFileError: `folder` is not a folder.
    """
    found = [_named_path(text, option) for text in named]
    found += [] if folder is None else _judges_below(folder)
    judges: dict[str, Path] = {}
    for name, path in found:
        check_name(option, name)
        if name in judges:
            raise ConfigError.at(option, "every judge must have its own name", name, "rename one of the two")
        judges[name] = path
    if not judges:
        raise ConfigError.at(option, "at least one judge must be given", None, "add NAME=PATH")
    return judges


def check_name(where: str, name: str) -> None:
    """Refuses a name of a judge that cannot stand in a message or a table.

    Raises:
        ConfigError: It is longer than `MAX_NAME`, or holds a line end, a control character or a lone surrogate.
    """
    if len(name) > MAX_NAME or any(unicodedata.category(letter) in UNPRINTABLE for letter in name):
        rule = f"a name must be one line of printable text, at most {MAX_NAME} characters"
        raise ConfigError.at(where, rule, name, "rename it, for example by NAME=PATH")


def _named_path(text: str, option: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name.strip() and equals and path):
        raise ConfigError.at(option, "must be NAME=PATH", text, "write for example my_prm=predictions.jsonl")
    return name.strip(), Path(path)


def _judges_below(folder: Path) -> list[tuple[str, Path]]:
    if not folder.is_dir():
        raise MissingFileError(f"{folder}: folder must exist, found nothing of the kind; check --predictions-dir")
    judges = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue  # hidden, or a judge's raw answers, as AgentProcessBench's own script leaves them in _raw
        if entry.is_dir():
            if any(file.suffix.lower() == SUFFIX for file in entry.rglob("*")):
                judges.append((entry.name, entry))
            else:
                log.warning("%s holds no %s file and is no judge", entry, SUFFIX)
        elif entry.suffix.lower() == SUFFIX:
            judges.append((entry.stem, entry))
    return judges
