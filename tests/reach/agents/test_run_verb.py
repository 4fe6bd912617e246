"""``prm reach run`` from the command line, and the recipe with tools of one's own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import read_jsonl
from prm.data.records import read_trajectories
from prm.errors import PrmError
from tests.conftest import ROOT
from tests.reach.agents.fake_endpoint import KEY, fails, says, serving

RECIPE = ROOT / "recipes" / "reach-own-tools"


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["reach", "run", *words])


def records(out: Path) -> list[dict[str, Any]]:
    return [record for _, record in read_jsonl(out)]


def test_scripted_agents_keep_their_labels(tmp_path: Path) -> None:
    out = tmp_path / "runs.jsonl"
    words = ["--agent", "scripted:careful", "--agent", "x=scripted:inventor", "--scenarios", "all", "--repeats", "3"]
    result = run(*words, "--variant", "plain", "--cap", "15", "--out", str(out))
    assert result.exit_code == 0, result.output
    assert "75 of 75" in result.output
    runs = list(read_trajectories(out))
    assert len(runs) == 150
    assert {r.extra["reach"]["agent"] for r in runs} == {"careful", "x"}
    assert all(None not in r.step_labels.values() for r in runs)


def test_an_agent_may_be_called_anything(tmp_path: Path) -> None:
    words = ["--agent", "[/b]=scripted:careful", "--scenarios", "ship_simple", "--repeats", "1"]
    result = run(*words, "--out", str(tmp_path / "runs.jsonl"))
    assert result.exit_code == 0, result.output
    assert "[/b]" in result.output


def test_an_endpoint_at_the_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "runs.jsonl"
    with serving([says("Reading.", ("read_ticket", {"ticket_id": "T57"})), says("Done.")]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        words = ["--agent", f"fake=openai:m@{server.url}", "--scenarios", "ship_simple", "--temperature", "0.5"]
        result = run(*words, "--repeats", "2", "--variant", "structured", "--out", str(out))
        assert result.exit_code == 0, result.output
        assert server.keys == [f"Bearer {KEY}"] * len(server.requests)
    first, second = records(out)
    assert (first["generator"], first["reach"]["model"]["temperature"]) == ("fake", 0.5)
    assert [m["role"] for m in first["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert second["reach"]["run"] == 1
    assert KEY not in out.read_text() + result.output


def test_when_every_run_broke_off_the_exit_code_says_so(tmp_path: Path) -> None:
    with serving([fails(400, "context too long")]) as server:
        words = ["--agent", "openai:m", "--base-url", server.url, "--scenarios", "gift", "--repeats", "1"]
        result = run(*words, "--out", str(tmp_path / "o.jsonl"))
    assert result.exit_code == 1
    assert "context too long" in result.output


def test_a_wrong_key_is_one_line(tmp_path: Path) -> None:
    with serving([fails(401, f"bad {KEY}")]) as server:
        words = ["--agent", "openai:m", "--base-url", server.url, "--api-key", KEY, "--out", str(tmp_path / "o.jsonl")]
        result = run(*words)
    assert isinstance(result.exception, PrmError)
    assert "\n" not in str(result.exception)
    assert KEY not in str(result.exception)


@pytest.mark.parametrize(
    "words",
    [
        ["--agent", "nobody"],
        ["--agent", "scripted:nobody"],
        ["--agent", "scripted:careful", "--agent", "scripted:careful"],
        ["--agent", "scripted:careful", "--scenarios", "no_such"],
        ["--agent", "scripted:careful", "--variant", "no_such"],
        ["--agent", "scripted:careful", "--variant-file", "no_such.yaml"],
        ["--agent", "scripted:careful", "--inject", "timeout:read_ticket"],
        ["--agent", "scripted:careful", "--plan", "json"],
        ["--agent", "scripted:careful", "--repeats", "0"],
        ["--agent", "scripted:careful", "--cap", "0"],
        ["--agent", "scripted:careful", "--workers", "0"],
        ["--agent", "openai:m", "--plan", "yaml"],
        ["--agent", "openai:m", "--attempts", "0"],
        ["--agent", "openai:m", "--extra-body", "[1]"],
        ["--agent", "openai:m", "--call-format", "xml"],
        ["--agent", "openai:m", "--inject", "timeout:no_such"],
        ["--agent", "openai:m", "--request-timeout", "0"],
        ["--agent", "openai:m", "--run-timeout", "-1"],
        ["--agent", "openai:m", "--call-timeout", "0"],
        ["--agent", "openai:m", "--tools", "no_such_module:x", "--scenarios", "t.jsonl"],
        ["--agent", "openai:m", "--tools", "json:dumps"],
        ["--agent", "openai:m", "--tools", "json:loads", "--scenarios", "no_such.jsonl"],
        ["--agent", "function:json:no_such"],
        ["--agent", "function:json:__doc__"],
    ],
)
def test_a_wrong_command_is_one_line_and_writes_nothing(tmp_path: Path, words: list[str]) -> None:
    result = run(*words, "--out", str(tmp_path / "new" / "o.jsonl"))
    assert isinstance(result.exception, PrmError), result.exception
    assert "\n" not in str(result.exception)
    assert not (tmp_path / "new").exists()


def test_the_verb_imports_no_torch() -> None:
    code = (
        "import sys, tempfile; from prm.cli.main import app;"
        "app(['reach', 'run', '--agent', 'scripted:careful', '--scenarios', 'gift', '--out',"
        " tempfile.mkdtemp() + '/o.jsonl'], standalone_mode=False);"
        "assert not {'torch', 'transformers', 'openai'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


# The recipe


def recipe(out: Path, *words: str) -> list[dict[str, Any]]:
    """Runs the recipe as its README says, from its folder."""
    command = [sys.executable, "-m", "prm", "reach", "run", "--scenarios", "tasks.jsonl", "--out", str(out), *words]
    finished = subprocess.run(command, cwd=RECIPE, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return records(out)


TOOLS = ("--tools", "tools:LendingDesk", "--dataset", "lending_desk")
CAREFUL, HASTY = ("--agent", "function:agents:careful"), ("--agent", "function:agents:hasty")


def outcomes(runs: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    return Counter((r["generator"], r["reach"]["outcome"]) for r in runs)


def without_times(record: dict[str, Any]) -> Any:
    timed = ("timestamp", "started", "seconds")
    kept = json.dumps(record)
    return json.loads(kept, object_hook=lambda value: {k: v for k, v in value.items() if k not in timed})


def test_the_recipe_runs_real_functions_the_same_way_every_time(tmp_path: Path) -> None:
    words = (*TOOLS, *CAREFUL, *HASTY, "--repeats", "2")
    runs = recipe(tmp_path / "a.jsonl", *words)
    assert outcomes(runs) == {("careful", 1): 10, ("hasty", 1): 2, ("hasty", -1): 8}
    again = recipe(tmp_path / "b.jsonl", *words, "--workers", "3")
    assert list(map(without_times, again)) == list(map(without_times, runs))
    assert {r["dataset"] for r in runs} == {"lending_desk"}


def test_the_recipe_with_variants_and_dirt(tmp_path: Path) -> None:
    dirt = ("--inject", "timeout:find_member", "--inject", "missing:find_book.copies_in@0.5")
    runs = recipe(tmp_path / "a.jsonl", *TOOLS, *CAREFUL, "--variant-file", "variants.yaml", *dirt, "--repeats", "2")
    assert {r["reach"]["variant"] for r in runs} == {"short", "told"}
    injected = Counter(what for r in runs for c in r["reach"]["calls"] for what in c.get("injected", ()))
    assert injected["timeout:find_member"] == 20
    assert 0 < injected["missing:find_book.copies_in"] < 20
    by_run = {(r["reach"]["scenario"], r["reach"]["run"], r["reach"]["variant"]): r for r in runs}
    for (scenario, number, variant), one in by_run.items():
        other = by_run[(scenario, number, "told" if variant == "short" else "short")]
        hits = [[c.get("injected") for c in r["reach"]["calls"]] for r in (one, other)]
        assert hits[0] == hits[1]


def test_the_recipes_server_gives_what_its_functions_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(RECIPE))
    from server import make_server  # type: ignore[import-not-found]

    for name in ("server", "tools"):
        monkeypatch.delitem(sys.modules, name)

    server = make_server(0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    over_http = recipe(tmp_path / "a.jsonl", "--tools", url, *CAREFUL, *HASTY, "--repeats", "1", "--workers", "4")
    server.shutdown()
    server.server_close()
    direct = recipe(tmp_path / "b.jsonl", *TOOLS, *CAREFUL, *HASTY, "--repeats", "1")

    def said(runs: list[dict[str, Any]]) -> list[list[str]]:
        return [[message["content"] for message in r["messages"]] for r in runs]

    assert said(over_http) == said(direct)
    assert outcomes(over_http) == outcomes(direct) == {("careful", 1): 5, ("hasty", 1): 1, ("hasty", -1): 4}


def test_the_recipes_spec_holds_and_tells_a_lucky_guess_from_a_lookup(tmp_path: Path) -> None:
    checked = CliRunner().invoke(app, ["reach", "check-spec", str(RECIPE / "spec.yaml")])
    assert checked.exit_code == 0, checked.output
    recipe(tmp_path / "runs.jsonl", *TOOLS, *CAREFUL, *HASTY, "--repeats", "2")
    words = ["--spec", str(RECIPE / "spec.yaml"), "--logs", str(tmp_path / "runs.jsonl")]
    judged = CliRunner().invoke(app, ["reach", "judge", *words, "--out", str(tmp_path / "v.jsonl")])
    assert judged.exit_code == 0, judged.output
    counts = Counter((v["agent"], v["covered"], v["final_success"]) for v in records(tmp_path / "v.jsonl"))
    assert counts == {("careful", True, True): 10, ("hasty", False, False): 8, ("hasty", False, True): 2}
