"""The report in a real browser: it loads without a word of complaint, filters, opens runs, and text stays text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prm.evaluation.metrics_file import evaluate
from prm.report.browser import browser_data
from prm.report.browser_part import browser_part
from prm.report.elements import Column, Section
from prm.report.folder import write_page
from prm.report.write import write_report
from prm.types import Prediction, RunIdentity, Trajectory
from tests.report.chromium import chromium, reader
from tests.report.pages import HOSTILE, call, conversation, page, run, said, table
from tests.report.reader import DESKTOP, PHONE, Reader

__all__ = ["chromium", "reader"]


def some_runs() -> tuple[list[Trajectory], dict[str, list[Prediction]]]:
    """Six runs and two judges.

    Run 0 clean and right; 1 missed; 2 false alarm by judge a only; 3 too early; 4 failed by a; 5 label-only.
    """
    gold = [
        run(0, {2: 1, 4: 1}, 1),
        run(1, {2: 1, 4: -1}, -1),
        run(2, {2: 1, 4: 0}, 1),
        run(3, {2: 1, 4: -1}, -1),
        run(4, {2: 0, 4: 1}, 0),
        Trajectory(RunIdentity("other", 7, 5, generator="agent_1"), (), {2: 1, 4: -1}, None),
    ]
    a = [
        said(gold[0], {2: 1, 4: 1}, 1, step_probs={2: (0.05, 0.15, 0.8)}, final_prob=0.9),
        said(gold[1], {2: 1, 4: 1}, 1, explanations={"steps": {"4": "Paris is right"}, "final": "done"}),
        said(gold[2], {2: -1, 4: 0}, 1),
        said(gold[3], {2: -1, 4: -1}, -1),
        said(gold[4], {}, status="failed", reason="context too long"),
        said(gold[5], {2: 1, 4: -1}, -1, explanations={"steps": {"4": "a wrong answer"}}),
    ]
    b = [said(g, {2: 1, 4: 1}, 1) for g in gold[:3]]
    return gold, {"judge a": a, "judge b": b}


def hostile_run() -> tuple[list[Trajectory], dict[str, list[Prediction]]]:
    """One run in which every text tries to become something else."""
    messages = [dict(message) for message in conversation(HOSTILE * 50, HOSTILE)]
    messages[0]["content"] = messages[1]["content"] = HOSTILE
    messages[2]["tool_calls"] = [call(HOSTILE, HOSTILE), call(HOSTILE, json.dumps({HOSTILE: HOSTILE}))]
    messages[3]["name"] = HOSTILE
    messages[4]["reasoning_content"] = messages[4][HOSTILE] = HOSTILE
    identity = RunIdentity(HOSTILE, HOSTILE, HOSTILE, generator=HOSTILE, dataset=HOSTILE)
    notes = {"4": HOSTILE, "final": HOSTILE, "more": HOSTILE}
    gold = Trajectory(
        identity, tuple(messages), {2: 1, 4: -1}, -1,
        question=HOSTILE, label_source=HOSTILE, label_notes=notes, extra={HOSTILE: HOSTILE},
        tools=({"function": {"name": HOSTILE}},),
    )  # fmt: skip
    judge = said(gold, {2: 1, 4: 1}, 1, explanations=notes, reason=HOSTILE, status="partial")
    return [gold], {HOSTILE: [judge], "other": []}


def write(folder: Path, runs: tuple[list[Trajectory], dict[str, list[Prediction]]], **more: Any) -> str:
    """Writes a report and returns its address."""
    write_page(folder, page(parts=(browser_part(browser_data(*runs)),), **more))
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of `some_runs`."""
    return write(tmp_path_factory.mktemp("report"), some_runs())


def test_it_loads_and_lists_every_run(reader: Reader, address: str) -> None:
    reader.open(address)
    assert reader.text("h1") == "Report"
    assert reader.text("#found") == "6 runs"
    assert sorted(reader.run_keys()) == ["desk:0:0", "desk:0:1", "desk:0:2", "desk:0:3", "desk:0:4", "other:7:5"]


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        ({"source": "other"}, [5]),
        ({"agent": "agent_0"}, [0, 2, 4]),
        ({"outcome": "−1 failure"}, [1, 3]),
        ({"outcome": "unknown"}, [5]),
        ({"kind": "Right (2)"}, [0, 5]),
        ({"kind": "Missed error (1)"}, [1]),
        ({"kind": "False alarm (1)"}, [2]),
        ({"kind": "Too early (1)"}, [3]),
        ({"kind": "Not judged (1)"}, [4]),
        ({"judge": "judge b", "kind": "Right (2)"}, [0, 2]),
        ({"judge": "Any judge", "kind": "Right (3)"}, [0, 2, 5]),
        ({"disagreement": "Judges differ on a step"}, [2]),
        ({"disagreement": "Judge ≠ gold on a step"}, [1, 2, 3]),
        ({"disagreement": "Judge ≠ gold on the outcome"}, [1]),
        ({"judge": "judge b", "disagreement": "Judge ≠ gold on a step"}, [1, 2]),
        ({"agent": "agent_1", "kind": "Too early (1)"}, [3]),
    ],
)
def test_filters(reader: Reader, address: str, choices: dict[str, str], found: list[int]) -> None:
    reader.open(address)
    for name, shown in choices.items():
        reader.choose(name, shown)
    assert sorted(int(key[-1]) for key in reader.run_keys()) == found
    assert reader.text("#found") == f"{len(found)} of 6 runs"
    reader.click("#reset")
    assert reader.text("#found") == "6 runs"


def test_search_finds_words_of_question_and_key(reader: Reader, address: str) -> None:
    reader.open(address)
    box = reader.driver.find_element("css selector", "#filters [name=text]")
    box.send_keys("NUMBER which 3")
    assert reader.run_keys() == ["desk:0:3"]
    box.clear()
    box.send_keys("other:7")
    assert reader.run_keys() == ["other:7:5"]
    box.clear()
    box.send_keys("nothing of the kind")
    assert reader.texts("#runs li") == ["No run passes these filters."]


def test_orders(reader: Reader, address: str) -> None:
    reader.open(address)
    # Wrong steps by judge a: run 4 two (failed), 1 one, 2 one, 3 one, then 0 and 5 none; equals by key.
    assert [key[-1] for key in reader.run_keys()] == ["4", "1", "2", "3", "0", "5"]
    reader.choose("sort", "Disputed steps, most first")
    assert [key[-1] for key in reader.run_keys()] == ["2", "0", "1", "3", "4", "5"]
    reader.choose("sort", "Key")
    assert [key[-1] for key in reader.run_keys()] == ["0", "1", "2", "3", "4", "5"]


def test_an_opened_run_shows_messages_labels_and_explanations(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:1")
    shown = reader.text("#run-body")
    for text in ("Which city is number 1?", "I search.", "search", '"city": "Paris"', "found", "It is Paris."):
        assert text in shown
    step = reader.text("#step-1")
    assert "Gold's first error" in step
    assert "Gold −1 wrong" in " ".join(step.split())
    assert "judge a +1 good ≠ gold" in " ".join(step.split())
    assert "Paris is right" in step
    assert "1 other" in step
    outcome = " ".join(reader.text("#run-body .outcome").split())
    assert "Gold −1 failure" in outcome
    assert "judge a +1 success ≠ gold done" in outcome
    assert reader.texts(".glance tbody tr.gold td") == ["+", "−", "−"]
    assert reader.texts(".glance tbody tr.chosen td") == ["+", "+", "+"]


def test_thinking_and_the_system_prompt_are_folded(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:0")
    assert "Search first." not in reader.text("#run-body")
    assert "Be helpful." not in reader.text("#run-body")
    reader.click("#step-0 .drawer summary")
    reader.wait("document.querySelector('#step-0').innerText.includes('<think>Search first.</think>')")


def test_probabilities_are_shown_as_a_bar_and_numbers(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:0")
    assert " ".join(reader.text("#step-0 .numbers").split()) == "−1 5.0 % 0 15.0 % +1 80.0 %"
    widths = reader.js("[...document.querySelectorAll('#step-0 .bar i')].map((e) => e.style.width)")
    assert widths == ["5%", "15%", "80%"]
    assert "Probability of success 90.0 %" in reader.text(".outcome")
    assert reader.js("document.querySelector('#step-1 .bar') === null")


def test_a_failed_judgement_says_why(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:4")
    assert "failed" in reader.text("#step-0 .verdicts")
    assert "Reason: context too long" in reader.text(".outcome")


def test_another_judge_can_be_chosen_in_an_opened_run(reader: Reader, address: str) -> None:
    from selenium.webdriver.support.ui import Select

    reader.open(address)
    reader.open_run("desk:0:2")
    Select(reader.driver.find_element("id", "run-judge")).select_by_visible_text("judge b")
    assert "judge b +1 good" in " ".join(reader.text("#step-0 .verdicts").split())
    assert reader.js("document.querySelector('#filters [name=judge]').selectedOptions[0].text") == "judge b"
    Select(reader.driver.find_element("id", "run-judge")).select_by_visible_text("Any judge")
    everyone = " ".join(reader.text("#step-0 .verdicts").split())
    assert "judge a −1 wrong" in everyone
    assert "judge b +1 good" in everyone


def test_a_label_only_run_says_so_and_shows_its_labels(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("other:7:5")
    assert "holds labels only" in reader.text("#run-body")
    assert "a wrong answer" in reader.text("#step-1")
    assert len(reader.texts(".message.step")) == 2


def test_keys_go_to_the_next_and_previous_run_and_escape_closes(reader: Reader, address: str) -> None:
    from selenium.webdriver.common.keys import Keys

    reader.open(address)
    reader.choose("sort", "Key")
    reader.open_run("desk:0:0")
    assert reader.text("#run-place") == "1 of 6 runs"
    assert reader.js("document.getElementById('run-previous').disabled")
    reader.press("j")
    reader.wait("document.getElementById('run-title').textContent === 'desk:0:1' && document.querySelector('.facts')")
    reader.press("k")
    reader.wait("document.getElementById('run-title').textContent === 'desk:0:0' && document.querySelector('.facts')")
    reader.press(Keys.ESCAPE)
    reader.wait("!document.getElementById('run').open")
    assert "#run=" not in reader.driver.current_url


def test_next_follows_the_filtered_order(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.choose("sort", "Key")
    reader.choose("outcome", "−1 failure")
    reader.open_run("desk:0:1")
    reader.click("#run-next")
    reader.wait("document.getElementById('run-title').textContent === 'desk:0:3'")
    assert reader.js("document.getElementById('run-next').disabled")


def test_the_address_names_the_run_and_the_back_button_works(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:2")
    assert reader.driver.current_url.endswith("#run=desk%3A0%3A2")
    reader.driver.back()
    reader.wait("!document.getElementById('run').open")
    reader.driver.forward()
    reader.wait("document.querySelector('#run[open] .facts')")
    assert reader.text("#run-title") == "desk:0:2"


def test_a_link_to_a_run_opens_it(reader: Reader, address: str) -> None:
    reader.open(f"{address}#run=desk%3A0%3A3")
    reader.wait("document.querySelector('#run[open] .facts')")
    assert reader.text("#run-title") == "desk:0:3"
    reader.click("#run-close")
    reader.wait("!document.getElementById('run').open")
    assert reader.driver.current_url.endswith("#trajectories")


@pytest.mark.parametrize("run_name", ["nobody", "%E0%A4%A"])
def test_a_link_to_an_unknown_run_says_so(reader: Reader, address: str, run_name: str) -> None:
    reader.open(f"{address}#run={run_name}")
    reader.wait("document.querySelector('#run[open] .note')")
    assert "not in this report" in reader.text("#run-body")


def test_hostile_text_stays_text(reader: Reader, tmp_path: Path) -> None:
    columns = (Column(HOSTILE, meaning=HOSTILE), Column("Value", "percent"))
    sections = (Section("one", HOSTILE, HOSTILE, (table(columns=columns, rows=((HOSTILE, 0.5),), title=HOSTILE),)),)
    reader.open(write(tmp_path, hostile_run(), title=HOSTILE, summary=(HOSTILE,), sections=sections))
    reader.click("#runs .run")
    reader.wait("document.querySelector('#run[open] .facts')")
    for _ in range(3):  # what a drawer holds is built when it is opened
        reader.driver.execute_script("document.querySelectorAll('#run details').forEach((d) => { d.open = true })")
        reader.wait("[...document.querySelectorAll('#run details')].every((d) => d.childElementCount > 1)")
        reader.driver.execute_script("document.querySelectorAll('[aria-expanded=false]').forEach((b) => b.click())")
    whole = reader.js("document.getElementById('run-body').textContent")
    assert whole.count("<script>window.hacked=1</script>") >= 65  # 50 of them in the tool result
    assert reader.js("[...document.querySelectorAll('.recorded.result')].map((e) => e.textContent)") == [HOSTILE * 50]
    assert reader.js("document.querySelectorAll('img, #run script, #run style, main table script').length") == 0
    assert reader.text("#run-title").startswith("</script></style>")


def test_a_huge_tool_result_is_folded_and_complete(reader: Reader, tmp_path: Path) -> None:
    huge = json.dumps({"result": ["word " * 20_000 + "x" * 133_000]})
    reader.open(write(tmp_path, ([run(0, {2: 1, 4: 1}, result=huge)], {})))
    reader.open_run("desk:0:0")
    assert len(reader.js("document.querySelector('.result').textContent")) == 1200
    assert reader.texts(".message.tool .unfold") == [f"Show all (1 line, {len(huge):,} characters)"]
    reader.click(".message.tool .unfold")
    assert reader.js("document.querySelector('.result').textContent") == huge
    reader.click(".message.tool .unfold")
    reader.click(".message.tool [aria-pressed]")
    assert reader.text(".message.tool .unfold").startswith("Show all (5 lines")
    reader.click(".message.tool .unfold")
    assert reader.js("document.querySelector('.result').textContent") == json.dumps(json.loads(huge), indent=2)


def test_many_lines_are_folded_after_the_twelfth(reader: Reader, tmp_path: Path) -> None:
    result = "\n".join(f"line {number}" for number in range(400))
    reader.open(write(tmp_path, ([run(0, {2: 1, 4: 1}, result=result)], {})))
    reader.open_run("desk:0:0")
    assert reader.js("document.querySelector('.result').textContent").splitlines() == result.splitlines()[:12]


def test_a_thousand_runs_are_listed_by_the_page(reader: Reader, tmp_path: Path) -> None:
    gold = [run(sample, {2: 1, 4: -1}) for sample in range(1000)]
    judges = {
        f"judge {k}": [said(g, {2: 1, 4: -1}, explanations={"steps": {"2": "why"}}) for g in gold] for k in range(3)
    }
    reader.open(write(tmp_path, (gold, judges)))
    reader.choose("sort", "Key")
    assert len(reader.run_keys()) == 50
    assert reader.text("#pages span") == "Page 1 of 20"
    reader.click("#pages button:last-child")
    assert reader.run_keys()[0] == "desk:0:50"
    reader.open_run("desk:0:99")
    reader.press("j")
    reader.wait("document.getElementById('run-title').textContent === 'desk:0:100'")


def test_a_report_without_runs_or_judges_loads(reader: Reader, tmp_path: Path) -> None:
    reader.open(write(tmp_path, ([], {})))
    assert reader.text("#found") == "0 runs"


def column(reader: Reader, number: int) -> list[str]:
    return reader.texts(f"table.sortable tbody tr > :nth-child({number})")


def test_tables_sort_by_their_headings(reader: Reader, address: str) -> None:
    reader.open(address)
    headings = reader.driver.find_elements("css selector", "table.sortable .sort")
    state = "[...document.querySelectorAll('table.sortable thead th')].map((e) => e.getAttribute('aria-sort'))"
    assert column(reader, 3) == ["1,200", "90", "7"]
    headings[2].click()
    assert column(reader, 3) == ["1,200", "90", "7"]
    assert reader.js(state) == ["none", "none", "descending"]
    headings[2].click()
    assert column(reader, 3) == ["7", "90", "1,200"]  # by number, not by text
    headings[1].click()
    assert column(reader, 1) == ["first", "second", "third"]
    headings[1].click()
    assert column(reader, 1) == ["second", "first", "third"]  # what is undefined stays last
    assert reader.js(state) == ["none", "ascending", "none"]
    headings[1].click()
    assert column(reader, 1) == ["first", "second", "third"]
    assert reader.js(state) == ["none", "none", "none"]


BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def test_colours_follow_the_system_until_the_reader_chooses(reader: Reader, address: str) -> None:
    reader.open(address, scheme="light")
    light = reader.js(BACKGROUND)
    reader.open(address, scheme="dark")
    dark = reader.js(BACKGROUND)
    assert light != dark
    reader.click("[data-choose=light]")
    assert reader.js(BACKGROUND) == light
    reader.open(address, scheme="dark")
    assert reader.js(BACKGROUND) == light  # remembered
    reader.click("[data-choose=system]")
    assert reader.js(BACKGROUND) == dark


def test_without_storage_the_choice_holds_while_the_page_is_open(reader: Reader, address: str) -> None:
    refuse = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    added = reader.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": refuse})
    try:
        reader.open(address, scheme="light")
        light = reader.js(BACKGROUND)
        reader.click("[data-choose=dark]")
        assert reader.js(BACKGROUND) != light
        reader.open(address, scheme="light")
        assert reader.js(BACKGROUND) == light
    finally:
        reader.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.parametrize("size", [PHONE, (768, 1024), DESKTOP])
def test_nothing_sticks_out_at_the_side(reader: Reader, address: str, size: tuple[int, int]) -> None:
    reader.open(address, size)
    assert reader.js("document.documentElement.scrollWidth") == size[0]
    reader.open_run("desk:0:1")
    assert reader.js("document.getElementById('run-body').scrollWidth") <= size[0]


def test_every_control_has_a_name(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.open_run("desk:0:1")
    assert reader.unnamed_controls() == []


def test_on_paper_there_are_tables_and_plots_but_no_controls(reader: Reader, address: str) -> None:
    reader.open(address, scheme="dark")
    reader.prefer("dark", "print")
    visible = "(selector) => document.querySelector(selector).checkVisibility()"
    assert reader.js(f"['table.sortable', '.drawing svg', '.summary'].map({visible})") == [True, True, True]
    assert reader.js(f"['#browser', '.contents', '.themes', '.files'].map({visible})") == [False] * 4
    assert reader.js(BACKGROUND) == "rgb(255, 255, 255)"
    assert reader.js("getComputedStyle(document.body).color") == "rgb(28, 33, 40)"


def test_a_figure_takes_the_colours_of_the_page(reader: Reader, address: str) -> None:
    fill = "getComputedStyle(document.querySelector('.drawing rect')).fill"
    reader.open(address, scheme="light")
    light = reader.js(fill)
    reader.open(address, scheme="dark")
    assert reader.js(fill) != light


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_the_whole_evaluation_report_loads_and_fits(reader: Reader, tmp_path: Path, size: tuple[int, int]) -> None:
    gold, judges = some_runs()
    written = write_report(tmp_path, evaluate(gold, judges, bootstrap=20), gold, judges)
    reader.open(written[0].as_uri(), size)
    assert reader.js("document.documentElement.scrollWidth") == size[0]
    assert reader.js("document.querySelectorAll('.drawing svg').length") > 3
    assert reader.js("new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size") == reader.js(
        "document.querySelectorAll('[id]').length"
    )
    reader.open_run("desk:0:1")
