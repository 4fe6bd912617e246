"""One opened run: complete where it is short, cut and said so where it is long."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from prm.reach.judging.verdict import Diagnosis
from prm.reach.log.run import Run
from prm.report.reach.run_record import MAX_CHARACTERS, MAX_DIAGNOSES, MAX_MESSAGES, run_record
from tests.report.reach.examples import drawn, run_of, verdict


def with_messages(run: Run, messages: list[dict[str, Any]]) -> Run:
    return replace(run, trajectory=replace(run.trajectory, messages=tuple(messages)))


def test_a_run_holds_its_messages_and_what_the_rules_say() -> None:
    verdicts, runs = drawn(3)
    for found, run in zip(verdicts, runs, strict=True):
        record = run_record(found, run)
        assert [one["index"] for one in record["messages"]] == list(range(len(run.trajectory.messages)))
        assert [one["name"] for one in record["milestones"]] == ["M1", "M2", "M3", "M4", "M5"]
        assert len(record["diagnoses"]) == len(found.diagnoses)
        json.dumps(record, allow_nan=False)


def test_without_a_log_there_is_the_evidence_alone() -> None:
    verdicts, _ = drawn(3)
    record = run_record(verdicts[0], None)
    assert record["messages"] == []
    assert record["question"] is None
    assert record["milestones"][0]["touched"] == 2


def test_what_log_and_verdict_both_note_is_shown_once() -> None:
    noted = replace(verdict("rrrrr"), notes=("call id c repeats",))
    run = replace(run_of(verdict("rrrrr"), "rrrrr"), notes=("call id c repeats", "the result is null"))
    assert run_record(noted, run)["notes"] == ["call id c repeats", "the result is null"]


def test_of_thousands_of_messages_the_middle_is_left_out() -> None:
    run = run_of(verdict("rrrrr"), "rrrrr")
    messages = [{"role": "assistant", "content": str(number)} for number in range(5_000)]
    record = run_record(verdict("rrrrr"), with_messages(run, messages))
    shown = [one["index"] for one in record["messages"]]
    assert len(shown) == MAX_MESSAGES
    assert (shown[0], shown[-1]) == (0, 4_999)
    count, first = record["skipped"]
    assert (count, first) == (5_000 - MAX_MESSAGES, MAX_MESSAGES - 60)
    assert shown[first] == first + count


def test_of_huge_texts_the_longest_are_cut_and_the_short_ones_stay() -> None:
    run = run_of(verdict("rrrrr"), "rrrrr")
    messages = [{"role": "user", "content": "short"}, *({"role": "tool", "content": "x" * 10**6} for _ in range(20))]
    record = run_record(verdict("rrrrr"), with_messages(run, messages))
    texts = [part[1] for one in record["messages"] for part in one["parts"]]
    assert texts[0] == "short"
    assert all("characters left out]" in text for text in texts[1:])
    assert sum(map(len, texts)) < MAX_CHARACTERS + 100 * len(texts)


def test_of_very_many_diagnoses_the_rest_is_counted() -> None:
    many = tuple(Diagnosis("loop", 2, "c0", "t", kind=str(k)) for k in range(MAX_DIAGNOSES + 7))
    record = run_record(verdict("rrrrr", diagnoses=many), None)
    assert len(record["diagnoses"]) == MAX_DIAGNOSES
    assert record["more_diagnoses"] == 7
