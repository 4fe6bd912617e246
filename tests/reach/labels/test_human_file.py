from __future__ import annotations

import json
from pathlib import Path

import pytest

from prm.errors import MissingFileError, RecordError
from prm.reach.labels.human_file import HumanRun, read_human
from prm.reach.labels.sample_file import COLUMNS

HEAD = ",".join(COLUMNS)


def table(tmp_path: Path, *rows: str, head: str = HEAD) -> list[HumanRun]:
    path = tmp_path / "human.csv"
    path.write_text("\n".join([head, *rows]), encoding="utf-8")
    return read_human(path)


def test_a_filled_table_gives_labels_outcome_milestones_and_notes(tmp_path: Path) -> None:
    (said,) = table(
        tmp_path,
        ",desk,q,0,0,user,hello,,",
        ",desk,q,0,1,step,a,+1,",
        ",desk,q,0,3,step,b,−1, made up ",
        ",desk,q,0,5,step,c,,",
        ",desk,q,0,,outcome,x,-1,",
        ",desk,q,0,M1,milestone,x,Reached,",
        ",desk,q,0,M2,milestone,x,n/a,",
        ",desk,q,0,M3,milestone,x,,",
    )
    assert said.identity.key == ("desk", "q", "0")
    assert said.steps == {1: 1, 3: -1}
    assert said.outcome == -1
    assert said.milestones == {"M1": "reached", "M2": "n/a"}
    assert said.notes == {3: "made up"}


def test_semicolons_and_what_spreadsheets_make_of_numbers_are_read(tmp_path: Path) -> None:
    (said,) = table(tmp_path, "r;;;;1;step;a;1.0;", "r;;;;2;step;a;'-1;", head=HEAD.replace(",", ";"))
    assert said.steps == {1: 1, 2: -1}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("r,,,,1,step,a,2,", "must be -1, 0, 1 or empty"),
        ("r,,,,x,step,a,1,", "must be the index of a message"),
        ("r,,,,M1,milestone,a,maybe,", "must be one of"),
        (",desk,,,1,step,a,1,", "must have an id"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_line(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(RecordError, match=words) as caught:
        table(tmp_path, row)
    assert "human.csv:2" in str(caught.value)


def test_a_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"must have the columns .*got \['a', 'b'\]"):
        table(tmp_path, head="a,b")


def test_a_table_saved_with_tabs_is_read(tmp_path: Path) -> None:
    (said,) = table(tmp_path, "r\t\t\t\t1\tstep\ta\t1\t", head=HEAD.replace(",", "\t"))
    assert said.steps == {1: 1}


@pytest.mark.parametrize("row", ["1,step,a,{},", ",outcome,x,{},", "M1,milestone,x,{},"])
def test_a_row_that_stands_twice_must_say_the_same(tmp_path: Path, row: str) -> None:
    one, other = ("reached", "missed") if "M1" in row else ("1", "0")
    table(tmp_path, "r,,,," + row.format(one), "r,,,," + row.format(one))
    with pytest.raises(RecordError, match=r"human\.csv:3: label: must be .* as in the row before"):
        table(tmp_path, "r,,,," + row.format(one), "r,,,," + row.format(other))


def test_a_table_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "human.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="must be UTF-8"):
        read_human(path)


def test_jsonl_is_read_and_null_is_not_given(tmp_path: Path) -> None:
    path = tmp_path / "human.jsonl"
    record = {
        "id": "r",
        "messages": [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}],
        "step_labels": {"0": 1, "1": None},
        "final_label": -1,
        "milestones": {"M1": "touched", "M2": None},
        "notes": {"0": "fine"},
    }
    path.write_text(json.dumps(record))
    (said,) = read_human(path)
    assert (said.steps, said.outcome, said.milestones, said.notes) == ({0: 1}, -1, {"M1": "touched"}, {0: "fine"})


@pytest.mark.parametrize("milestones", [[], {"M1": 1}, {"M1": "yes"}])
def test_a_wrong_milestone_in_jsonl_is_refused(tmp_path: Path, milestones: object) -> None:
    path = tmp_path / "human.jsonl"
    path.write_text(json.dumps({"id": "r", "step_labels": {"0": 1}, "milestones": milestones}))
    with pytest.raises(RecordError):
        read_human(path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    for name in ("no.csv", "no.jsonl"):
        with pytest.raises(MissingFileError):
            read_human(tmp_path / name)


@pytest.mark.parametrize(("name", "text"), [("human.csv", HEAD), ("human.jsonl", "")])
def test_a_file_without_runs_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RecordError, match=f"{name}: must hold at least one run"):
        read_human(tmp_path / name)
