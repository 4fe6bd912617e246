"""The built-in data set: deterministic, legal records, grounded where labelled good, mixed groups."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.records import dump_trajectory, parse_trajectory, read_trajectories
from prm.errors import ConfigError
from prm.reach.desk.generate import AGENTS, TEMPLATES, generate_runs
from prm.types import Trajectory

REFERENCES = ("ticket_id", "customer_id", "sku", "address", "action_id")
UNGROUNDED = ("invented", "guessed", "wrong_id")


@pytest.fixture(scope="module")
def runs() -> list[Trajectory]:
    return list(generate_runs(800, seed=3))


def test_the_same_seed_gives_the_same_records_and_more_runs_only_append(runs: list[Trajectory]) -> None:
    assert list(generate_runs(50, seed=3)) == runs[:50]
    assert list(generate_runs(50, seed=4)) != runs[:50]


def test_records_are_legal(runs: list[Trajectory]) -> None:
    for run in runs:
        record = json.loads(json.dumps(dump_trajectory(run)))
        assert parse_trajectory(record, "run") == run
        assert None not in run.step_labels.values()
    assert len({run.key for run in runs}) == len(runs)


def test_label_shares_are_in_their_band() -> None:
    labels = Counter(label for run in generate_runs(2000, seed=0) for label in run.step_labels.values())
    shares = {label: count / labels.total() for label, count in labels.items()}
    assert 0.62 <= shares[1] <= 0.68
    assert 0.20 <= shares[-1] <= 0.28
    assert 0.08 <= shares[0] <= 0.13


def test_calls_stay_under_the_cap_and_each_has_one_result(runs: list[Trajectory]) -> None:
    for run in runs:
        calls = [call["id"] for step in run.steps for call in step.message.get("tool_calls", ())]
        results = [message["tool_call_id"] for message in run.messages if message["role"] == "tool"]
        assert calls == results
        assert len(calls) <= 15


def test_every_group_is_one_scenario_run_by_different_agents(runs: list[Trajectory]) -> None:
    groups = defaultdict(list)
    for run in runs:
        groups[run.query].append(run)
    assert {len(group) for group in groups.values()} == {4}
    assert all(len({run.identity.generator for run in group}) == 4 for group in groups.values())
    assert all(len({run.question for run in group}) == 1 for group in groups.values())
    mixed = sum(len({run.final_label for run in group}) == 2 for group in groups.values())
    assert mixed / len(groups) > 0.5


def test_all_templates_and_agents_occur(runs: list[Trajectory]) -> None:
    assert {run.extra["template"] for run in generate_runs(1500, repeats=1)} == set(TEMPLATES)
    assert {run.identity.generator for run in runs} == set(AGENTS)
    assert len(AGENTS) >= 8


def references(run: Trajectory, index: int) -> list[str]:
    calls = run.messages[index].get("tool_calls", ())
    arguments = [json.loads(call["function"]["arguments"]) for call in calls]
    return [str(given[name]) for given in arguments for name in REFERENCES if given.get(name)]


def test_good_steps_use_only_what_earlier_messages_hold(runs: list[Trajectory]) -> None:
    for run in runs:
        for step in run.steps:
            if step.label != -1:
                earlier = " ".join(
                    str(m.get("content")) for m in run.messages[: step.index] if m["role"] != "assistant"
                )
                assert all(value in earlier for value in references(run, step.index)), (run.key, step.index)


def test_fabricated_steps_use_something_that_no_earlier_message_holds(runs: list[Trajectory]) -> None:
    checked = 0
    for run in runs:
        for step in run.steps:
            note = run.label_notes[str(step.index)]
            if note.startswith(UNGROUNDED):
                earlier = " ".join(str(m.get("content")) for m in run.messages[: step.index])
                checked += 1
                assert any(value not in earlier for value in references(run, step.index)), (run.key, note)
    assert checked > 50


def test_a_bad_outcome_follows_exactly_from_what_was_written(runs: list[Trajectory]) -> None:
    """A run that ends well wrote its ticket; one that ends in a −1 report does not count as covered."""
    for run in runs:
        last = run.steps[-1]
        if run.final_label == 1:
            assert last.label == 1
            assert run.label_notes[str(last.index)] == "reported"
        elif run.messages[-1]["role"] == "assistant":
            assert last.label == -1


def test_restricting_agents_and_templates_is_obeyed() -> None:
    runs = list(generate_runs(12, agents=["looper", "careful"], templates=["gift"], variant="mixed", repeats=3))
    assert {run.identity.generator for run in runs} == {"looper", "careful"}
    assert {run.extra["template"] for run in runs} == {"gift"}
    assert {run.extra["reach"]["variant"] for run in runs} == {"plain", "structured"}


@pytest.mark.parametrize(
    "options",
    [{"runs": 0}, {"runs": 1, "repeats": 0}, {"runs": 1, "agents": ["nobody"]}, {"runs": 1, "variant": "x"}],
)
def test_wrong_arguments_are_refused_in_one_line(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as caught:
        generate_runs(**options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_verb_writes_the_same_bytes_again(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path in (first, second):
        result = CliRunner().invoke(app, ["reach", "generate", "--runs", "30", "--seed", "5", "--out", str(path)])
        assert result.exit_code == 0, result.output
        assert "+1" in result.output
    assert first.read_bytes() == second.read_bytes()
    assert len(list(read_trajectories(first))) == 30


def test_generating_imports_no_torch_and_no_labeller() -> None:
    code = (
        "import sys; from prm.reach.desk.generate import generate_runs; list(generate_runs(4));"
        "assert not {'torch', 'transformers', 'prm.reach.labels', 'prm.reach.spec'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
