"""JSONL in and out: one JSON object a line, split on "\\n" only, written beside and then renamed.

Knows nothing of trajectories. Lone surrogates survive a round trip (they are written as ``\\ud800`` escapes), and
other line separators inside strings (U+2028, U+0085 …) never end a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from prm.errors import MissingFileError, RecordError


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields (line number from 1, raw line without "\\n") of every line that is not blank; memory stays flat.

    Raises:
        MissingFileError: The file does not exist or is a folder.
    """
    if not path.is_file():
        raise MissingFileError(f"{path}: file must exist, found {'a folder' if path.is_dir() else 'nothing'}; check the path")
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.rstrip(b"\n")


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line number from 1, object) of every line that is not blank.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A line is not one JSON object; the message names file and line.
    """
    for number, line in read_lines(path):
        yield number, parse_json_object(line, f"{path}:{number}")


def parse_json_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of one line.

    Raises:
        RecordError: Not UTF-8, not JSON, not an object, a duplicate key, or NaN / Infinity.
    """
    try:
        text = line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RecordError.at(where, "line must be UTF-8", line[error.start : error.end], "save the file as UTF-8") from None
    if text.startswith("\ufeff"):
        text = text[1:]
    try:
        value = json.loads(text, object_pairs_hook=_object_without_duplicates, parse_constant=_refuse_constant)
    except RecursionError:
        raise RecordError.at(where, "JSON must not be nested this deep", text[:40], "remove or fix the line") from None
    except ValueError as error:
        raise RecordError.at(where, f"line must be valid JSON ({error})", text[:40], "remove or fix the line") from None
    if not isinstance(value, dict):
        raise RecordError.at(where, "line must be a JSON object", type(value).__name__, "write one object a line")
    return value


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} stands twice in one object")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def dump_line(record: Mapping[str, Any]) -> bytes:
    """One record as a line with its "\\n": readable UTF-8, or ASCII escapes where a lone surrogate occurs.

    Raises:
        ValueError: The record holds NaN or an infinity.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, allow_nan=False).encode("ascii") + b"\n"


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Opens ``.<name>.partial`` beside `path` for writing and renames it when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Writes the records to `path` at once or not at all. Returns how many."""
    count = 0
    with atomic_file(path) as stream:
        for record in records:
            stream.write(dump_line(record))
            count += 1
    return count


def write_json(path: Path, value: Any) -> None:
    """Writes one JSON document to `path` at once or not at all; NaN is refused."""
    with atomic_file(path) as stream:
        stream.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n")
