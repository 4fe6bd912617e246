"""The index of the run viewer."""

from __future__ import annotations

from prm.reach.judging.verdict import Diagnosis
from prm.report.reach.outcome import log_key
from prm.report.reach.viewer import viewer_data, viewer_index, viewer_part
from tests.report.pages import unpacked
from tests.report.reach.examples import drawn, repeated


def test_runs_refer_to_milestones_agents_and_diagnoses_by_number() -> None:
    verdicts = [
        *repeated("rrtrr", diagnoses=(Diagnosis("loop", 2), Diagnosis("fabrication", 4, None, "sku"))),
        *repeated("rrrrr", agent="better"),
        *repeated("r?rrr", agent="other", end=None),
    ]
    index = viewer_index(verdicts, ["a", "b", "c"])
    assert index["arms"] == ["careful / plain", "better / plain", "other / plain"]
    assert [name for name, _ in index["diagnoses"]] == ["fabrication", "loop"]
    runs = index["runs"]
    assert runs["strip"] == ["rrtrr", "rrrrr", "r?rrr"]
    assert runs["broken"] == [2, -1, -3]
    assert runs["open"] == [1, 0, 0]
    assert runs["found"] == [[0, 1], [], []]
    assert runs["end"] == ["final", "final", ""]


def test_only_chosen_runs_are_packed_and_the_page_says_how_many() -> None:
    verdicts, runs = drawn(4)
    names = [str(number) for number in range(len(verdicts))]
    logs = {log_key(run): run for run in runs[:2]}
    data = viewer_data(verdicts, names, logs, [0, 1, 5])
    assert unpacked(data.index)["runs"]["key"] == ["0", "1", "5"]
    assert [bool(unpacked(one)["messages"]) for one in data.runs] == [True, True, False]
    text = viewer_part(data).text
    assert "Shown are 3 of 48 runs" in text
    assert "hold 2 of these runs" in text


def test_without_logs_the_page_says_so() -> None:
    verdicts, _ = drawn(1)
    assert "No logs were given" in viewer_part(viewer_data(verdicts, list("abcdefghijkl"), {}, [0])).text
