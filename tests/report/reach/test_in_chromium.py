"""The reach page in a real browser: quiet, asking nobody, and doing what a reader expects of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from prm.reach.judging.verdict import RunVerdict
from prm.reach.log.run import Run
from prm.report.reach.write import write_reach_report
from tests.report.chromium import chromium, reader
from tests.report.pages import HOSTILE
from tests.report.reach.examples import PAIR, drawn, repeated, report_of
from tests.report.reach.test_write import hostile
from tests.report.reader import DESKTOP, PHONE, Reader

__all__ = ["chromium", "reader"]


def written(folder: Path, verdicts: list[RunVerdict], runs: list[Run]) -> str:
    """Writes a page and returns its address."""
    return write_reach_report(report_of(verdicts), verdicts, runs, folder)[0].as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of 24 runs of an agent under two variants."""
    return written(tmp_path_factory.mktemp("reach"), *drawn(4, agents=PAIR))


@pytest.fixture(scope="module")
def four_runs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of four runs without logs: covered, ends before M3, before M1, and one that cannot be said."""
    return written(tmp_path_factory.mktemp("four"), repeated("rrrrr", "rrtrr", "tttmm", "r?rrr"), [])


def test_it_loads_and_lists_every_run(reader: Reader, address: str) -> None:
    reader.open(address)
    assert reader.text("h1") == "Reach report"
    assert reader.text("#found") == "24 runs"
    assert reader.js("document.querySelectorAll('.drawing svg').length") == 9


def visible_figures(reader: Reader) -> list[str]:
    return list(reader.js("[...document.querySelectorAll('main figure')].filter((e) => !e.hidden).map((e) => e.id)"))


def test_the_chosen_agent_is_shown_in_every_chapter(reader: Reader, address: str) -> None:
    from selenium.webdriver.support.ui import Select

    reader.open(address)
    shared = ["figure-reach-curves"]
    assert [one for one in visible_figures(reader) if one not in shared] == [
        "figure-chain-1", "figure-stability-1", "figure-grid-1", "figure-first-reach-1",
    ]  # fmt: skip
    choice = reader.driver.find_element("css selector", "#stability .choice select")
    Select(choice).select_by_visible_text("gpt-large / structured")
    assert [one for one in visible_figures(reader) if one not in shared] == [
        "figure-chain-2", "figure-stability-2", "figure-grid-2", "figure-first-reach-2",
    ]  # fmt: skip
    assert (
        reader.js("document.querySelector('#chain .choice select').selectedOptions[0].text") == "gpt-large / structured"
    )


def test_one_agent_needs_no_choice(reader: Reader, four_runs: str) -> None:
    reader.open(four_runs)
    assert reader.js("document.querySelector('.choice') === null")


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        ({"broken": "M3 (1)"}, ["s1"]),
        ({"broken": "– covered (1)"}, ["s0"]),
        ({"broken": "– cannot be said (1)"}, ["s3"]),
        ({"sort": "Tool calls, fewest first"}, ["s2", "s3", "s0", "s1"]),
        ({"sort": "Open milestones, most first"}, ["s2", "s1", "s0", "s3"]),
    ],
)
def test_filters_and_orders(reader: Reader, four_runs: str, choices: dict[str, str], found: list[str]) -> None:
    reader.open(four_runs)
    for name, shown in choices.items():
        reader.choose(name, shown)
    assert [key.split(":")[1] for key in reader.run_keys()] == found


def test_search_and_reset(reader: Reader, four_runs: str) -> None:
    reader.open(four_runs)
    reader.driver.find_element("css selector", "#filters [name=text]").send_keys("S2 desk")
    assert reader.run_keys() == ["desk:s2:careful-0"]
    assert reader.text("#found") == "1 of 4 runs"
    reader.click("#reset")
    assert reader.text("#found") == "4 runs"


def test_a_run_shows_its_milestones_as_squares_with_names(reader: Reader, four_runs: str) -> None:
    reader.open(four_runs)
    reader.choose("sort", "Key")
    labels = "[...document.querySelectorAll('#runs li:nth-child(2) .stand')].map((e) => e.getAttribute('aria-label'))"
    assert reader.js(labels) == [
        "M1: reached", "M2: reached", "M3: touched only", "M4: reached", "M5: reached",
    ]  # fmt: skip
    assert reader.texts("#runs .chip") == ["covered", "ends before M3", "ends before M1", "cannot be said"]


def test_an_opened_run_shows_verdicts_beside_its_messages(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.choose("found", next(o for o in reader.texts("#filters [name=found] option") if o.startswith("Fabrication")))
    reader.click("#runs li:first-child .run")
    reader.wait("document.querySelector('#run[open] .facts')")
    body = reader.text("#run-body")
    for text in ("Milestones", "Found", "an invented SKU", "never called", "Please handle ticket", "Tool call"):
        assert text in body
    beside = reader.js("[...document.querySelectorAll('.message.faulty .verdicts')].map((e) => e.innerText).join('|')")
    assert "fabrication" in beside
    assert "touched" in beside


def test_a_number_leads_to_its_message(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.click("#runs li:last-child .run")
    reader.wait("document.querySelector('#run[open] .facts')")
    reader.click(".stands .to-message")
    reader.wait("document.querySelector('.message.pointed')")
    wanted = reader.js("document.querySelector('.stands .to-message').textContent").split()[1]
    assert reader.js("document.querySelector('.message.pointed').id") == f"message-{wanted}"


def test_an_example_opens_its_run_at_the_message(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.click(".example a")
    reader.wait("document.querySelector('.message.pointed')")
    assert "&at=" in reader.driver.current_url
    assert reader.js("document.querySelector('.message.pointed .chip') !== null")
    assert reader.text("#run-title") == reader.js("document.querySelector('.example a').textContent")
    reader.click("#run-close")
    reader.wait("!document.getElementById('run').open")


def test_without_a_log_a_run_has_its_evidence(reader: Reader, four_runs: str) -> None:
    reader.open(four_runs)
    reader.open_run("desk:s1:careful-0")
    assert "The log of this run was not given" in reader.text("#run-body")
    assert "touched in message 6" in " ".join(reader.text("#run-body").split())
    assert reader.js("document.querySelector('#run-body .to-message') === null")


def test_keys_go_on_and_back_and_the_back_button_closes(reader: Reader, four_runs: str) -> None:
    reader.open(four_runs)
    reader.choose("sort", "Key")
    reader.open_run("desk:s0:careful-0")
    reader.press("j")
    reader.wait(
        "document.getElementById('run-title').textContent === 'desk:s1:careful-0' && document.querySelector('.facts')"
    )
    reader.press("k")
    reader.wait(
        "document.getElementById('run-title').textContent === 'desk:s0:careful-0' && document.querySelector('.facts')"
    )
    reader.driver.back()
    reader.wait("!document.getElementById('run').open")


@pytest.mark.parametrize("name", ["nobody", "%E0%A4%A", "nobody&at=3"])
def test_a_link_to_an_unknown_run_says_so(reader: Reader, four_runs: str, name: str) -> None:
    reader.open(f"{four_runs}#run={name}")
    reader.wait("document.querySelector('#run[open] .note')")
    assert "not in this report" in reader.text("#run-body")


def test_hostile_text_stays_text(reader: Reader, tmp_path: Path) -> None:
    reader.open(written(tmp_path, *hostile(HOSTILE)))
    reader.driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    reader.click("#runs .run")
    reader.wait("document.querySelector('#run[open] .facts')")
    whole = reader.js("document.body.textContent")
    assert whole.count("<script>window.hacked=1</script>") > 30
    assert reader.js("document.querySelectorAll('main img, #run img, #run script, #run style').length") == 0


@pytest.mark.parametrize("size", [PHONE, (768, 1024), DESKTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_at_the_side(reader: Reader, address: str, size: tuple[int, int], scheme: str) -> None:
    reader.open(address, size, scheme)
    reader.driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert reader.js("document.documentElement.scrollWidth") == size[0]
    reader.driver.execute_script("document.querySelector('#runs .run').click()")
    reader.wait("document.querySelector('#run[open] .facts')")
    assert reader.js("document.getElementById('run-body').scrollWidth") <= size[0]


def test_on_a_phone_the_graph_begins_in_its_middle(reader: Reader, address: str) -> None:
    reader.open(address, PHONE)
    middle = "(e) => Math.abs(e.scrollLeft - (e.scrollWidth - e.clientWidth) / 2) <= 1 && e.scrollLeft > 50"
    assert reader.js(f"({middle})(document.querySelector('#figure-chain-1 .drawing'))")


def test_every_control_has_a_name(reader: Reader, address: str) -> None:
    reader.open(address)
    reader.click("#runs .run")
    reader.wait("document.querySelector('#run[open] .facts')")
    assert reader.unnamed_controls() == []


def test_on_paper_there_are_diagnoses_but_no_controls(reader: Reader, address: str) -> None:
    reader.open(address, scheme="dark")
    reader.prefer("dark", "print")
    visible = "(selector) => document.querySelector(selector).checkVisibility()"
    assert reader.js(f"['#evidence', '.drawing svg', '.summary'].map({visible})") == [True] * 3
    assert reader.js(f"['#trajectories', '.choice', '.contents', '.themes'].map({visible})") == [False] * 4
