"""A journal of keyed records: what a kill leaves, and the order at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.data.jsonl import read_jsonl
from prm.data.keyed_journal import KeyedJournal, only_writer
from prm.errors import ConfigError


def opened(out: Path) -> KeyedJournal:
    return KeyedJournal(out, lambda record: record.get("key"))


def journal_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.journal")


def test_records_come_in_any_order_and_leave_in_the_one_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    journal = opened(out)
    for key in "cab":
        journal.append({"key": key, "text": "灯\ud800\u2028"})
    assert not out.exists()
    assert journal.keys == {"a", "b", "c"}
    journal.finish(["a", "b", "c"])
    assert [record["key"] for _, record in read_jsonl(out)] == ["a", "b", "c"]
    assert list(tmp_path.iterdir()) == [out]


def test_it_goes_on_after_a_kill_and_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    opened(out).append({"key": "a"})
    with journal_of(out).open("ab") as stream:
        stream.write(b'{"key": "b", "te')
    journal = opened(out)
    assert journal.keys == {"a"}
    journal.append({"key": "b"})
    assert opened(out).keys == {"a", "b"}
    journal.finish(["b", "a"])
    assert [record for _, record in read_jsonl(out)] == [{"key": "b"}, {"key": "a"}]


@pytest.mark.parametrize("length", range(1, 16))
def test_wherever_the_line_was_torn(tmp_path: Path, length: int) -> None:
    out = tmp_path / "o.jsonl"
    opened(out).append({"key": "a"})
    journal_of(out).write_bytes(journal_of(out).read_bytes() + b'{"key": "b", 1}'[:length])
    journal = opened(out)
    journal.append({"key": "c"})
    assert opened(out).keys == {"a", "c"}


def test_a_later_record_replaces_one_of_its_key(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    journal = opened(out)
    journal.append({"key": "a", "n": 1})
    journal.append({"key": "a", "n": 2})
    assert [record["n"] for record in journal.read(["a"])] == [2]
    assert [record["n"] for record in opened(out).read(["a"])] == [2]


def test_what_is_no_record_or_does_not_belong_here_is_passed_over(tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    journal_of(out).write_bytes(b'not json\n{"other": 1}\n{"key": "a"}\n')
    journal = opened(out)
    assert journal.keys == {"a"}
    journal.finish(["a"])
    assert out.read_bytes() == b'{"key": "a"}\n'


def test_no_records_are_an_empty_file(tmp_path: Path) -> None:
    opened(tmp_path / "o.jsonl").finish([])
    assert (tmp_path / "o.jsonl").read_bytes() == b""


def test_a_second_writer_is_refused_in_one_line_and_the_lock_goes(tmp_path: Path) -> None:
    out = tmp_path / "new" / "o.jsonl"
    with only_writer(out):
        with pytest.raises(ConfigError) as caught, only_writer(out):
            pass
        assert "\n" not in str(caught.value)
    with only_writer(out):
        pass
    assert list(out.parent.iterdir()) == []
