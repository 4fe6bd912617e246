"""Lines in and out: what ends a line, what is JSON, and that nothing is half-written."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.jsonl import (
    MAX_NESTING,
    atomic_file,
    dump_line,
    parse_json_object,
    read_jsonl,
    write_json,
    write_jsonl,
)
from prm.errors import MissingFileError, RecordError

any_text = st.text(alphabet=st.characters(), max_size=20) | st.sampled_from(["\u2028", "\u0085", "\ud800", "a\r\nb"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(any_text, json_values, max_size=4))
def test_any_object_survives_a_line(record: dict[str, Any]) -> None:
    line = dump_line(record)
    assert line.count(b"\n") == 1
    assert parse_json_object(line, "x:1") == record


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x1c", "\x0b", "\x0c"])
def test_only_a_newline_ends_a_line(tmp_path: Path, separator: str) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"text": f"a{separator}b"}, {"text": "c"}])
    assert [(n, record["text"]) for n, record in read_jsonl(tmp_path / "a.jsonl")] == [
        (1, f"a{separator}b"),
        (2, "c"),
    ]


def test_crlf_bom_and_blank_lines_are_read_and_line_numbers_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}')
    assert list(read_jsonl(path)) == [(1, {"a": 1}), (4, {"a": 2})]


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    assert list(read_jsonl(tmp_path / "a.jsonl")) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b'{"a": {"b": 1, "b": 1}}', "stands twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": 1', "valid JSON"),
        (b"[1]", "must be a JSON object"),
        (b'{"a": "\xff"}', "must be UTF-8"),
        (b'{"a": "raw \x01 control"}', "valid JSON"),
        (b"", "valid JSON"),
    ],
)
def test_what_is_not_one_json_object_is_refused_with_its_place(line: bytes, rule: str) -> None:
    with pytest.raises(RecordError, match=rule) as caught:
        parse_json_object(line, "runs.jsonl:7")
    assert str(caught.value).startswith("runs.jsonl:7: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 5_000, 200_000])
def test_deep_nesting_is_an_error_and_no_crash(depth: int) -> None:
    with pytest.raises(RecordError, match="nested deeper"):
        parse_json_object(b'{"a": ' + b"[" * depth + b"]" * depth + b"}", "x:1")


def test_brackets_in_strings_are_no_nesting() -> None:
    text = "[" * 1000 + '\\"' + "{" * 1000
    assert parse_json_object(b'{"a": "' + text.encode() + b'"}', "x:1") == {"a": "[" * 1000 + '"' + "{" * 1000}


def test_unclosed_strings_full_of_escapes_are_refused_in_linear_time() -> None:
    with pytest.raises(RecordError):
        parse_json_object(b'{"a": "' + b"\\" * 2 + b'\\"' * 200_000 + b"[" * 300, "x:1")


def test_a_failed_write_leaves_the_old_file_and_no_partial_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_jsonl(path, [{"a": 1}])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON compliant"):
        write_jsonl(path, [{"a": 2}, {"a": float("nan")}])
    with pytest.raises(KeyboardInterrupt), atomic_file(path):
        raise KeyboardInterrupt
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_json_document_holds_no_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(tmp_path / "a.json", {"a": float("inf")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [True, False])
def test_a_missing_file_is_named(tmp_path: Path, folder: bool) -> None:
    path = tmp_path if folder else tmp_path / "none.jsonl"
    with pytest.raises(MissingFileError, match="must exist"):
        list(read_jsonl(path))


def test_a_gzip_archive_is_named_as_one() -> None:
    with pytest.raises(RecordError, match="x:1: must be text, got 'a gzip archive'"):
        parse_json_object(gzip.compress(b"{}"), "x:1")


def test_of_many_keys_the_one_that_stands_twice_is_found_at_once() -> None:
    keys = ", ".join(f'"k{number}": 1' for number in range(100_000))
    with pytest.raises(RecordError, match="key 'k99999' stands twice"):
        parse_json_object(f'{{{keys}, "k99999": 2}}'.encode(), "x:1")
