from __future__ import annotations

from pathlib import Path

import pytest

from prm.data.own_code import code_digest, load_object
from prm.errors import ConfigError


def test_a_file_is_loaded_whatever_other_module_has_its_name(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("code.py", "my_own_tools.py"):
            (tmp_path / folder / name).write_text(f"def where(): return '{folder}'")
    for name in ("code.py", "my_own_tools.py"):
        for folder in ("one", "two", "one"):
            where = load_object("--tools", f"{tmp_path}/{folder}/{name}:where")
            assert where() == folder
            assert code_digest(where) is not None


def test_a_module_is_found_by_its_name() -> None:
    assert load_object("--tools", "json:dumps")([1]) == "[1]"


@pytest.mark.parametrize("name", ["", "json", ":dumps", "json:", "json:no_such", "no_such_module:x", "no/file.py:x"])
def test_what_cannot_be_loaded_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ConfigError, match="--tools: must be") as caught:
        load_object("--tools", name)
    assert "\n" not in str(caught.value)


def test_a_file_that_breaks_is_refused_and_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("1 / 0")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        load_object("--agent", f"{path}:f")
    path.write_text("f = 1")
    assert load_object("--agent", f"{path}:f") == 1


def test_a_module_that_exits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(3)")
    with pytest.raises(ConfigError, match="SystemExit: 3"):
        load_object("--tools", f"{tmp_path}/exits.py:f")
