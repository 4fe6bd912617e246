from __future__ import annotations

from pathlib import Path

import pytest

from prm.data.yaml_file import MAX_BYTES, read_yaml
from prm.errors import ConfigError, MissingFileError

NINE_TIMES = (f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 11))
BILLIONS = f"x0: &x0 1\n{''.join(NINE_TIMES)}".encode()


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    return path


def test_aliases_are_the_values_that_they_stand_for(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, b"a: &x {b: [1, 2]}\nc: *x\n")) == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-13-45", "2026-13-45"),
        ("2026-12-05", "2026-12-05"),
        ("12:30", "12:30"),
        ("007", "007"),
        ("no", "no"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        ("-7", -7),
        ("0", 0),
        ("1.5e-3", 0.0015),
        ("True", True),
        ("~", None),
        ("", None),
        ("null", None),
    ],
)
def test_words_are_read_as_json_has_them_and_else_are_text(tmp_path: Path, text: str, value: object) -> None:
    assert read_yaml(written(tmp_path, f"a: {text}\n".encode())) == {"a": value}


def test_a_merged_key_may_be_overridden_and_does_not_stand_twice(tmp_path: Path) -> None:
    content = b"d: {a: &a {k: 1, m: 1}}\ne: {b: {y: &b {<<: *a, k: 2}}}\nc: {<<: *b, n: 3}\n"
    read = read_yaml(written(tmp_path, content))
    assert read["e"] == {"b": {"y": {"k": 2, "m": 1}}}
    assert read["c"]["n"] == 3


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: x\r\n")) == {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"a: [1", "must be YAML"),
        ("a: é".encode("latin-1"), "must be YAML"),
        (b"a: !!python/object/apply:os.getcwd []", "must be YAML"),
        (b"[" * 5_000, "must be YAML"),
        (b"a: " + b"x" * MAX_BYTES, "at most 1000000 bytes"),
        (b"a: &a [*a]", "aliases written out, got inf"),
        (BILLIONS, "aliases written out"),
        (b"a: " + b"9" * 6_000, r"a\.yaml:1: must be YAML, got 'too long a number'"),
        (b"a: 1." + b"0" * 9 + b"e999", "no finite number"),
        (b"a: !!float .inf", "no finite number"),
        (b"a: !!float x", "no finite number"),
        (b"a: !!set {b, c}", "must be YAML"),
        (b"a: !!binary aGk=", "must be YAML"),
        (b"a:\n  b: 1\n  c: 2\n  b: 3\n", r"a\.yaml:4: must be YAML, got \"the key 'b' stands twice\""),
        (b"a: !!bool x", "must be YAML"),
        (b"? [a, b]\n: 1", "must be YAML"),
        (b"a:\n\t- b", r"a\.yaml:2: must be YAML"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_whatever_is_wrong_is_one_line_with_the_file(tmp_path: Path, content: bytes, rule: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ConfigError, match=rule) as error:
        read_yaml(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        read_yaml(tmp_path / "none.yaml")
