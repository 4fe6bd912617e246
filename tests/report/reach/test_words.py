"""The summary: the bottleneck first, names as they are, no pattern signs."""

from __future__ import annotations

from dataclasses import replace

from prm.report.reach.words import full_sentence, summary_sentences
from tests.report.reach.examples import drawn, repeated, report_of


def test_one_agent_begins_with_its_bottleneck() -> None:
    verdicts, _ = drawn(10)
    alone = [one for one in verdicts if (one.agent, one.variant) == ("small-3b", "plain")]
    first = summary_sentences(report_of(alone), 0)[0]
    assert first.startswith("Bottleneck M")
    assert first.endswith(".")


def test_several_agents_begin_with_who_gets_furthest() -> None:
    said = summary_sentences(report_of([*repeated("rrtmm"), *repeated("rrrrr", agent="better")]), 0)
    assert said[0].startswith("Of 2 agents × variants, better / plain gets furthest")
    assert "40 %" in said[0]
    assert said[1].startswith("careful / plain: bottleneck M3")


def test_names_keep_their_letters_and_no_star_stands_for_all() -> None:
    verdicts, _ = drawn(40)
    said = summary_sentences(report_of(verdicts), 0)
    assert not any("*" in one for one in said)
    assert not any(one.startswith(("Gpt", "Small")) for one in said)
    assert full_sentence("worse") == "Worse."


def test_no_sentence_stands_twice() -> None:
    verdicts, _ = drawn(20)
    said = summary_sentences(report_of(verdicts), 0)
    assert len(said) == len(set(said))


def test_notes_are_counted_by_run_with_one_example() -> None:
    report = replace(report_of(repeated("rrrrr")), notes={"a result is missing": 3, "other": 1})
    assert summary_sentences(report, 4)[-1].startswith("Of 4 runs the log had to be repaired")
    assert "a result is missing." in summary_sentences(report, 4)[-1]
    assert not any("repaired" in one for one in summary_sentences(report_of(repeated("rrrrr")), 0))
