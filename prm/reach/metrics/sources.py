"""Verdict files in, told from other files by their first record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prm.data.jsonl import parse_json_object, read_lines
from prm.errors import InputError, RecordError
from prm.reach.judging.verdict import SCHEMA, RunVerdict
from prm.reach.judging.verdict_json import read_verdicts


def load_verdicts(paths: Sequence[Path]) -> list[RunVerdict]:
    """The verdicts of all files, in order.

    Raises:
        MissingFileError: A file does not exist.
        RecordError: A line is no verdict.
        InputError: A file holds none.
    """
    verdicts: list[RunVerdict] = []
    for path in paths:
        before = len(verdicts)
        verdicts.extend(read_verdicts(path))
        if len(verdicts) == before:
            raise InputError.at(str(path), "must hold at least one verdict", "none", "write it with `prm reach judge`")
    return verdicts


def are_verdicts(paths: Sequence[Path]) -> bool:
    """Whether the files hold verdicts rather than trajectories.

    Raises:
        InputError: Some do, some do not.
    """
    kinds = {str(path): _is_verdict_file(path) for path in paths}
    if len(set(kinds.values())) > 1:
        other = next(path for path, is_verdict in kinds.items() if not is_verdict)
        raise InputError.at(other, "must hold verdicts like the other files", "another kind", "give one kind of file")
    return all(kinds.values())


def _is_verdict_file(path: Path) -> bool:
    if not path.is_file():  # a folder or a hub id; or nothing, and then its reader says so
        return False
    for number, line in read_lines(path):
        try:
            return parse_json_object(line, f"{path}:{number}").get("schema") == SCHEMA
        except RecordError:
            return False
    return False
