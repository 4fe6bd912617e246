"""The page as a folder: everything escaped, no request possible, bounded in size."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from prm.reach.judging.verdict import Diagnosis, Evidence, MissingInformation, RunVerdict
from prm.reach.log.run import Run
from prm.report.page import page_html
from prm.report.reach import sections
from prm.report.reach.assets import reach_asset
from prm.report.reach.sample import MAX_RUNS
from prm.report.reach.write import reach_page, write_reach_report
from prm.types import RunIdentity
from tests.report.pages import HOSTILE, unpacked
from tests.report.reach.examples import ALONE, PAIR, drawn, repeated, report_of, run_of, verdict
from tests.report.test_page import Elements

SCRIPTS = [one.name for one in files("prm.report.reach.assets").iterdir() if one.name.endswith(".js")]


def hostile(text: str) -> tuple[list[RunVerdict], list[Run]]:
    """One run in which every text is `text`."""
    proof = Evidence(2, text, "c0", text, text, 3, "c0", text)
    chain: dict[str, tuple[str, ...]] = {text: (), "M2": (text,), "M3": (), "M4": (), "M5": ()}
    found = verdict(
        "trrrr",
        chain,
        identity=RunIdentity(text, text, text, generator=text),
        scenario=text,
        template=text,
        run=text,
        agent=text,
        variant=text,
        spec=text,
        end=text,
        habit=text,
        minefields={text: True},
        diagnoses=(Diagnosis("fabrication", 2, "c0", text, text, (proof,)),),
        missing_information=(MissingInformation(text, "invents", 2),),
        notes=(text,),
    )
    titled = tuple(replace(one, title=text, evidence=(proof,)) for one in found.milestones)
    found = replace(found, milestones=titled)
    return [found], [replace(run_of(found, "trrrr", text), notes=(text,))]


def html(verdicts: list[RunVerdict], runs: list[Run]) -> str:
    return page_html(reach_page(report_of(verdicts), verdicts, runs))


def test_hostile_text_adds_no_element_anywhere() -> None:
    def elements(text: str) -> list[str]:
        """Without the words of figures (a long name takes two lines) and marked values (a log escapes some)."""
        found = [tag for tag, _ in Elements(html(*hostile(text))).found]
        return [tag for tag in found if tag not in ("text", "tspan", "mark")]

    assert elements(HOSTILE) == elements("harmless" * 15)


@pytest.fixture(scope="module")
def elements() -> Elements:
    """The page of an agent under two variants."""
    return Elements(html(*drawn(3, agents=PAIR)))


def test_nothing_on_the_page_points_outside(elements: Elements) -> None:
    pointed = [a[k] or "" for _, a in elements.found for k in ("src", "href", "action", "srcset", "data") if k in a]
    assert all(target.startswith(("#", "tables/", "plots/", "data:,")) for target in pointed)
    assert not re.search(r"url\(|@import", reach_asset("reach.css"))


def test_every_id_is_there_once(elements: Elements) -> None:
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_example_leads_to_a_run_that_the_page_holds() -> None:
    verdicts, runs = drawn(600, 1, agents=ALONE)
    page = html(verdicts, runs)
    packed = re.findall(r'<script type="application/json" id="run-\d+">"([^"]*)"</script>', page)
    assert len(packed) == MAX_RUNS
    index = re.search(r'id="runs-index">"([^"]*)"', page)
    assert index is not None
    held = {re.sub(r"[^a-z0-9]", "", key) for key in unpacked(index[1])["runs"]["key"]}
    linked = re.findall(r'href="#run=([^&"]*)&amp;at=\d+"', page)
    assert linked
    assert {re.sub(r"%..|[^a-z0-9]", "", name) for name in linked} <= held


def test_the_folder_holds_the_page_its_figures_and_its_tables(tmp_path: Path) -> None:
    verdicts, runs = drawn(3, agents=PAIR)
    written = write_reach_report(report_of(verdicts), verdicts, runs, tmp_path)
    assert written[0] == tmp_path / "report.html"
    names = {str(path.relative_to(tmp_path)) for path in written}
    assert {"plots/chain-1.svg", "plots/chain-2.png", "plots/grid-2.svg", "tables/agents-variants.csv"} <= names
    assert all(path.is_file() for path in written)


def test_without_logs_and_without_diagnoses_there_is_still_a_page() -> None:
    verdicts = repeated("rrrrr")
    page = reach_page(report_of(verdicts), verdicts, [])
    assert [part.id for part in page.parts] == ["trajectories"]
    assert "No logs were given" in page.parts[0].text


def test_ten_times_the_runs_do_not_make_a_larger_page() -> None:
    def size(scenarios: int) -> int:
        return len(html(*drawn(scenarios, agents=ALONE)))

    assert size(1_500) < 1.2 * size(150)


def test_a_run_of_five_thousand_calls_does_not_swell_the_page() -> None:
    found = verdict("rrrrr", calls=5_000)
    run = run_of(found, "rrrrr")
    message: dict[str, Any] = {"role": "assistant", "content": "again " * 200}
    run = replace(run, trajectory=replace(run.trajectory, messages=(message,) * 10_000))
    assert len(html([found], [run])) < 1_000_000


def test_many_agents_are_drawn_in_part_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MAX_ARMS", 2)
    verdicts = [one for k in range(3) for one in repeated(*["rrrrr"] * (k + 1), agent=f"agent {k}")]
    page = reach_page(report_of(verdicts), verdicts, [])
    chain = page.sections[0]
    assert [figure.title for figure in chain.figures] == ["agent 1 / plain", "agent 2 / plain"]  # those with most runs
    assert "1 is in the tables only" in chain.text


def test_scripts_never_make_html_of_text() -> None:
    for name in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", reach_asset(name)
        )


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_parse(name: str, tmp_path: Path) -> None:
    module = tmp_path / f"{name}.mjs"
    module.write_text(reach_asset(name), encoding="utf-8")
    subprocess.run(["node", "--check", str(module)], check=True, capture_output=True)


def test_logs_are_read_one_at_a_time_and_the_first_of_a_key_is_shown() -> None:
    verdicts, runs = drawn(5)
    report = report_of(verdicts)
    other = [replace(run, trajectory=replace(run.trajectory, messages=())) for run in runs]
    assert reach_page(report, verdicts, iter([*runs, *other])) == reach_page(report, verdicts, runs)
