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
    ("content", "rule"),
    [
        (b"a: [1", "must be YAML"),
        ("a: é".encode("latin-1"), "must be YAML"),
        (b"a: !!python/object/apply:os.getcwd []", "must be YAML"),
        (b"[" * 5_000, "must be YAML"),
        (b"a: " + b"x" * MAX_BYTES, "at most 1000000 bytes"),
        (b"a: &a [*a]", "aliases written out, got inf"),
        (BILLIONS, "aliases written out"),
    ],
    ids=["broken", "latin", "code", "deep", "large", "circle", "billions"],
)
def test_whatever_is_wrong_is_one_line_with_the_file(tmp_path: Path, content: bytes, rule: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ConfigError, match=rule) as error:
        read_yaml(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        read_yaml(tmp_path / "none.yaml")
