"""JSONL in and out: one JSON object a line, split on "\\n" only, written beside and then renamed.

Knows nothing of trajectories. Lone surrogates survive a round trip (they are written as ``\\ud800`` escapes),
and other line separators inside strings (U+2028, U+0085 …) never end a line.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from prm.errors import MissingFileError, RecordError

MAX_NESTING = 200
"""The deepest nesting of a record: far above what agents write, far below what the interpreter can hold."""

_STRINGS = re.compile(r'(?s)"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)')
_BRACKETS = re.compile(r"[\[\]{}]")
_GZIP = b"\x1f\x8b"
_BLANK = b" \t\n\v\f\r\xef\xbb\xbf"  # the last three: a file may hold its byte order mark and nothing else


def require_file(path: Path) -> None:
    """Raises MissingFileError where `path` is not a file."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "nothing"
        raise MissingFileError(f"{path}: file must exist, found {found}; check the path")


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields (line number from 1, raw line without "\\n") of every line that is not blank; memory stays flat.

    Raises:
        MissingFileError: The file does not exist or is a folder.
    """
    require_file(path)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip(_BLANK):
                yield number, line.rstrip(b"\n")


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line number from 1, object) of every line that is not blank.

    Raises:
        MissingFileError: The file does not exist.
        RecordError: A line is not one JSON object; the message names file and line.
    """
    name = str(path)
    for number, line in read_lines(path):
        yield number, parse_json_object(line, f"{name}:{number}")


def parse_json_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of one line.

    Raises:
        RecordError: Not UTF-8, not JSON, not an object, a duplicate key, NaN / Infinity, or nested too deep.
    """
    value = parse_json(line, where)
    if not isinstance(value, dict):
        raise RecordError.at(where, "must be a JSON object", type(value).__name__, "write one object a line")
    return value


def parse_json(data: bytes, where: str) -> Any:
    """The value of one JSON text (a line or a whole file).

    Raises:
        RecordError: Not UTF-8, not JSON, a duplicate key, NaN / Infinity, or nested too deep.
    """
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        if data.startswith(_GZIP):
            raise RecordError.at(where, "must be text", "a gzip archive", "unpack it first") from None
        wrong = data[error.start : error.end]
        raise RecordError.at(where, "must be UTF-8", wrong, "save the file as UTF-8") from None
    text = text.removeprefix("\ufeff")
    if _nesting(text) > MAX_NESTING:
        raise RecordError.at(where, f"JSON must not be nested deeper than {MAX_NESTING}", text[:40], "fix the record")
    try:
        return _DECODER.decode(text)
    except ValueError as error:
        raise RecordError.at(where, f"must be valid JSON ({error})", text[:40], "remove or fix it") from None


def _nesting(text: str) -> int:
    """The depth of a JSON text; 0 where it has too few brackets to be too deep."""
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return 0
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"key {twice!r} stands twice in one object")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is too large a number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_without_duplicates, parse_constant=_refuse_constant, parse_float=_finite_float
)


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
    """Opens ``.<name>.partial`` beside `path` and renames it when the block ends without an error."""
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
