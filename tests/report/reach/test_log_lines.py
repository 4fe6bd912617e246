"""The lines of a log that evidence points at."""

from __future__ import annotations

from prm.reach.judging.verdict import Evidence
from prm.report.reach.log_lines import log_lines
from tests.report.reach.examples import run_of, verdict

RUN = run_of(verdict("rrrrr"), "rrrrr")
"""Message 2 calls read_ticket with SKU-0000, message 3 is its result, and so on."""


def test_a_call_is_quoted_with_the_value_marked() -> None:
    (line,) = log_lines(Evidence(2, "", "c0", value="SKU-0000"), RUN)
    assert (line.index, line.who, line.value) == (2, "call of read_ticket", "SKU-0000")
    assert line.before == '{"ticket_id": "T-0", "sku": "'
    assert line.after == '", "note": ""}'


def test_where_a_value_came_from_stands_first() -> None:
    lines = log_lines(Evidence(4, "", "c1", value="SKU-0001", source_index=3, source_call_id="c0"), RUN)
    assert [(line.index, line.who) for line in lines] == [(3, "result of read_ticket"), (4, "call of lookup_customer")]


def test_a_value_is_marked_as_a_whole_only() -> None:
    (line,) = log_lines(Evidence(2, "", "c0", value="SKU-000"), RUN)
    assert line.value == ""
    (line,) = log_lines(Evidence(3, "", value=0), RUN)
    assert line.before.endswith('"stock": ')


def test_text_without_a_call_is_quoted_as_it_is() -> None:
    (line,) = log_lines(Evidence(1, ""), RUN)
    assert (line.who, line.before) == ("user", "Please handle ticket T-0.")


def test_a_long_line_is_cut_around_the_value() -> None:
    found = verdict("rrrrr")
    run = run_of(found, "rrrrr", hostile="x " * 50_000 + "NEEDLE " + "y " * 50_000)
    (line,) = log_lines(Evidence(1, "", value="NEEDLE"), run)
    assert line.value in ("", "NEEDLE")
    assert len(line.before) + len(line.after) < 800


def test_a_message_that_is_not_there_and_a_missing_log_give_no_line() -> None:
    assert log_lines(Evidence(99, "", "c0", source_index=-4), RUN) == []
    assert log_lines(Evidence(2, "", "c0"), None) == []
