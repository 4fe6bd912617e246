"""`prm build` as a user runs it, and when it is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

STALLING_READER = """
import json, os, time

def read(source):
    for number, line in enumerate(open(source)):
        if number == 20 and os.environ.get("STALL"):
            time.sleep(600)
        yield json.loads(line)
"""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "prm", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


def prm(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=environment(**more), timeout=120, check=False
    )


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    def record(query: int, sample: int) -> dict[str, Any]:
        return {
            "data_source": "shop",
            "query_index": query,
            "sample_index": sample,
            "generator": f"agent {sample}",
            "template": f"t{query % 5}",
            "messages": [
                {"role": "user", "content": f"q{query}"},
                {"role": "assistant", "content": f"a{sample}"},
            ],
            "step_labels": {"1": sample - 1},
            "final_label": 1,
        }

    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(record(q, s)) + "\n" for q in range(10) for s in range(3)))
    return path


def test_the_benchmark_file_is_split_by_query(tmp_path: Path, shared_data: Path) -> None:
    done = prm("build", shared_data / "agentprocessbench" / "hotpotqa.jsonl", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    sizes = {name: (part["trajectories"], part["queries"]) for name, part in manifest["outputs"].items()}
    assert sizes == {"test.jsonl": (50, 10), "train.jsonl": (175, 35), "validation.jsonl": (25, 5)}
    totals = [sum(part["label_counts"][label] for part in manifest["outputs"].values()) for label in ("1", "0", "-1")]
    assert totals == [499, 56, 179]


def test_a_second_run_says_already_built_and_another_request_is_refused(tmp_path: Path, runs: Path) -> None:
    out = tmp_path / "out"
    assert prm("build", runs, "--out", out, "--folds", "2").returncode == 0
    again = prm("build", runs, "--out", out, "--folds", "2")
    assert (again.returncode, "already built" in again.stdout) == (0, True)
    other = prm("build", runs, "--out", out, "--folds", "3")
    assert other.returncode == 2
    assert other.stderr.startswith("error: --out: must not exist, or hold the same build")
    assert prm("build", runs, "--out", out, "--folds", "3", "--overwrite").returncode == 0
    assert (out / "fold-2").is_dir()


def test_a_killed_build_leaves_no_folder_and_the_same_command_gives_the_same_bytes(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "stalling.py").write_text(STALLING_READER)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    arguments = ("build", runs, "--reader", "stalling:read", "--folds", "2", "--out")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(
        command(*arguments, killed), env=environment(PYTHONPATH=path, STALL="1"), stdout=subprocess.DEVNULL
    )
    spool = tmp_path / ".killed.partial" / ".records.jsonl"
    for _ in range(600):
        if spool.exists():
            break
        time.sleep(0.05)
    assert spool.exists()
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not killed.exists()
    assert prm(*arguments, killed, PYTHONPATH=path).returncode == 0
    assert prm(*arguments, whole, PYTHONPATH=path).returncode == 0
    assert bytes_of(killed) == bytes_of(whole)
    assert not list(tmp_path.glob(".*partial"))


def test_a_bad_record_is_one_line_and_nothing_is_written(tmp_path: Path, runs: Path) -> None:
    runs.write_text(runs.read_text().replace('{"1": -1}', '{"1": true}', 1))
    done = prm("build", runs, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith(f'error: {runs}:1: step_labels["1"]: step label must be -1, 0 or 1, got True')
    assert done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["runs.jsonl"]
    skipped = prm("build", runs, "--out", tmp_path / "out", "--skip-bad", tmp_path / "bad.jsonl")
    assert (skipped.returncode, "left out (bad): 1" in skipped.stdout) == (0, True)


def test_every_option_goes_through(tmp_path: Path, runs: Path) -> None:
    arguments = [
        *(
            "--leave-generator-out",
            "--holdout-templates",
            "--folds",
            "2",
            "--seed",
            "3",
            "--validation-share",
            "0.2",
        ),
        *("--weight", "shop=1", "--queries-per-source", "8", "--label-protocol", "independent"),
        "--mask-after-first-error",
    ]
    done = prm("build", runs, "--out", tmp_path / "out", *arguments)
    assert done.returncode == 0, done.stderr
    options = json.loads((tmp_path / "out" / "manifest.json").read_text())["request"]["options"]
    assert options["holdout_key"] == "template"
    assert options["weights"] == {"shop": 1.0}
    assert (options["seed"], options["folds"], options["leave_generator_out"]) == (3, 2, True)
    assert (tmp_path / "out" / "generator-agent-0" / "fold-1" / "test.jsonl").is_file()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--weight", "shop"], "--weight: must be SOURCE=NUMBER"),
        (["--weight", "shop=x"], "--weight: must be SOURCE=NUMBER"),
        (["--weight", "other=1"], "--weight: every source must have one weight; sources are shop"),
        (["--label-protocol", "mine"], "--label-protocol: must be one of"),
        (["--holdout-key", "a", "--holdout-templates"], "--holdout-key: stands for itself"),
        (["--folds", "99"], "--folds: must be from 2 to the number of queries (10)"),
    ],
)
def test_wrong_options_are_one_line(tmp_path: Path, runs: Path, arguments: list[str], named: str) -> None:
    done = prm("build", runs, "--out", tmp_path / "out", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {named}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
