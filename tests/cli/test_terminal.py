from __future__ import annotations

import io
import sys

import pytest
from rich.text import Text

from prm.cli.terminal import show, show_json


def test_what_a_terminal_cannot_write_becomes_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    show(Text("κ – 1"), ["wrote \ud800.json"])
    sys.stdout.flush()
    assert written.getvalue() == b"? ? 1\nwrote ?.json\n"


def test_json_is_ascii_and_holds_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"name": "κ", "value": None})
    assert capsys.readouterr().out == '{\n  "name": "\\u03ba",\n  "value": null\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        show_json({"value": float("nan")})
