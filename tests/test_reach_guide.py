"""The guide of Reach (docs/reach.md) tells the truth: its files are written out and its commands run, in its order."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.reach.judging.verdict import DiagnosisName
from prm.reach.judging.verdict_json import read_verdicts
from prm.reach.labels.rules import RULES
from tests.conftest import ROOT

GUIDE = (ROOT / "docs" / "reach.md").read_text(encoding="utf-8")


def blocks() -> Iterator[tuple[str, str, str]]:
    """(the last line above, the language, the text) of every fenced block."""
    above, start, lines = "", -1, GUIDE.splitlines()
    for number, line in enumerate(lines):
        if start < 0 and line.startswith("```"):
            start = number
        elif start >= 0 and line == "```":
            yield above, lines[start].removeprefix("```"), "\n".join(lines[start + 1 : number]) + "\n"
            start, above = -1, ""
        elif start < 0 and line:
            above = line


def files() -> Iterator[tuple[str, str]]:
    """(name, content) of every file that the guide shows; its name stands in the line above."""
    for above, language, text in blocks():
        names = re.findall(r"`([\w.]+\.(?:jsonl|json|csv|yaml))`", above)
        if language != "bash":
            yield names[-1], _one_record_a_line(text) if names[-1].endswith(".jsonl") else text


def _one_record_a_line(text: str) -> str:
    """The guide breaks a long record over lines; a file holds it in one."""
    decoder, records, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        record, end = decoder.raw_decode(rest)
        records.append(json.dumps(record) + "\n")
        rest = rest[end:].strip()
    return "".join(records)


def write_files(folder: Path) -> None:
    for name, content in files():
        (folder / name).write_text(content, encoding="utf-8")


def commands() -> list[list[str]]:
    lines = [line for _, language, text in blocks() if language == "bash" for line in text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def run(words: list[str]) -> str:
    assert words[0] == "prm"
    result = CliRunner().invoke(app, words[1:])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def fill_in(human: Path) -> None:
    """A person who finds every step good."""
    with human.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["label"] = "1" if row["kind"] == "step" else ""
    with human.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("guide")
    write_files(made)
    return made


@pytest.fixture(scope="module")
def shown(folder: Path) -> dict[str, str]:
    """Command → what it printed."""
    outputs: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for words in commands():
            if words[:3] == ["prm", "reach", "agree"]:  # the guide asks the reader for it just before
                fill_in(Path(words[3]))
            outputs[shlex.join(words)] = run(words)
    return outputs


def test_the_guide_is_short_and_shows_every_kind_of_log() -> None:
    assert len(GUIDE.splitlines()) <= 200
    assert {name for name, _ in files()} == {
        "messages.jsonl", "flat.jsonl", "spans.json", "operations.csv", "rooms.yaml", "rooms.logs.yaml"
    }  # fmt: skip


def test_every_command_runs_in_the_guides_order(shown: dict[str, str], folder: Path) -> None:
    verbs = {words.split()[2] for words in shown if words.startswith("prm reach ")}
    assert verbs == {"run", "generate", "judge", "report", "stability", "compare", "label", "sample", "agree",
                     "export", "check-spec"}  # fmt: skip
    for name in ("report/report.html", "data/train.jsonl", "events.jsonl", "copy.jsonl"):
        assert (folder / name).is_file()


def test_the_comparison_shows_what_the_description_moved(shown: dict[str, str]) -> None:
    (text,) = (text for words, text in shown.items() if " compare " in words)
    assert "inventor / structured against inventor / plain" in text


def test_the_guides_spec_passes_its_own_logs(shown: dict[str, str]) -> None:
    text = shown["prm reach check-spec rooms.yaml"]
    assert "5 logs" in text
    assert "every log gets the verdicts it says" in text
    assert "wrong" not in text.replace("called_wrong", "")


@pytest.mark.parametrize(
    ("log", "standings"),
    [
        ("messages.jsonl", ["touched", "missed"]),
        ("flat.jsonl", ["reached", "reached"]),
        ("spans.json", ["unscorable", "unscorable"]),
        ("operations.csv", ["reached", "reached"]),
    ],
)
def test_each_log_of_the_guide_is_recognised_and_judged(tmp_path: Path, log: str, standings: list[str]) -> None:
    write_files(tmp_path)
    out = tmp_path / "verdicts.jsonl"
    words = ["--spec", str(tmp_path / "rooms.yaml"), "--logs", str(tmp_path / log), "--out", str(out)]
    run(["prm", "reach", "judge", *words])
    (verdict,) = read_verdicts(out)
    assert [milestone.standing for milestone in verdict.milestones] == standings


def test_every_diagnosis_and_every_rule_is_explained_in_its_order() -> None:
    for name in get_args(DiagnosisName):
        assert f"`{name}`" in GUIDE
    table = GUIDE.partition("## Step labels")[2].partition("**The check")[0]
    named = [name for name in re.findall(r"`(\w+)`", table) if name in RULES]
    assert named == list(RULES)
