"""`prm check` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prm.cli import main


def prm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prm", *map(str, arguments)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def prm_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str | Path
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `prm`, run in this process: transformers is then imported once."""
    monkeypatch.setattr(sys, "argv", ["prm", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def record(*labels: Any, sample: int = 0) -> dict[str, Any]:
    steps = [{"role": "assistant", "content": f"step {i} of {sample}"} for i in range(len(labels))]
    return {
        "data_source": "shop",
        "query_index": 0,
        "sample_index": sample,
        "messages": [{"role": "user", "content": "q"}, *steps],
        "step_labels": {str(i): label for i, label in enumerate(labels, start=1)},
        "final_label": 1,
    }


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in records))
    return path


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer of single bytes, saved as transformers saves one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({symbol: i for i, symbol in enumerate(["<eos>", *alphabet])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>").save_pretrained(folder)
    return folder


def test_the_benchmark_file_has_no_complaint_but_two_warnings(shared_data: Path) -> None:
    done = prm("check", shared_data / "agentprocessbench" / "hotpotqa.jsonl")
    assert done.returncode == 0, done.stderr
    assert "250 trajectories of 50 queries, 734 steps\n" in done.stdout
    assert "step labels: +1 499 (68.0%), 0 56 (7.6%), -1 179 (24.4%)\n" in done.stdout
    assert "warnings: 2\n" in done.stdout
    assert "hotpotqa.jsonl:63: messages[2]" in done.stdout
    assert "hotpotqa.jsonl:113: messages[8]" in done.stdout
    assert "contradictions: 0\nduplicate keys: 0\n" in done.stdout
    assert done.stderr == ""


def test_json_output_is_json(tmp_path: Path) -> None:
    done = prm("check", write(tmp_path / "a.jsonl", record(1, -1), record(0, None, sample=1)), "--json")
    result = json.loads(done.stdout)
    assert result["schema"] == "prm.check/1"
    assert result["label_counts"] == {"-1": 1, "0": 1, "1": 1, "unknown": 1}


@pytest.mark.parametrize("label", [2, True, "+1", 1.0])
def test_a_bad_record_is_one_line_with_file_line_key_and_rule_and_exit_code_2(tmp_path: Path, label: Any) -> None:
    path = write(tmp_path / "tau2.jsonl", record(1), record(label))
    done = prm("check", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'error: {path}:2: step_labels["1"]: step label must be -1, 0 or 1, got {label!r}; ')
    assert done.stderr.count("\n") == 1


def test_bad_records_are_set_aside_on_request_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", record(1), record(2), record(0, sample=1))
    done = prm("check", path, "--skip-bad", tmp_path / "bad.jsonl")
    assert done.returncode == 0
    assert "2 trajectories of 1 queries, 2 steps" in done.stdout
    assert "bad records set aside: 1" in done.stdout
    (aside,) = map(json.loads, (tmp_path / "bad.jsonl").read_text().splitlines())
    assert json.loads(aside["raw"]) == record(2)


def test_a_budget_is_accounted_for_by_class(
    tmp_path: Path,
    tokenizer_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def check(*arguments: str) -> str:
        return prm_here(monkeypatch, capsys, "check", path, "--model", tokenizer_folder, *arguments)[1]

    long = record(1, 0, -1)
    long["messages"][2]["content"] = "x" * 3000
    path = write(tmp_path / "a.jsonl", long, record(1, sample=1))
    plain = json.loads(check("--json"))
    assert plain["lengths"]["unit"] == "tokens"
    assert plain["lengths"]["max"] > 3000
    assert "budget" not in plain
    tight = json.loads(check("--max-tokens", "600", "--json"))
    budget = tight["budget"]
    assert tight["lengths"] == plain["lengths"], "lengths are those of the whole runs"
    assert budget["labelled"] == {"-1": 1, "0": 1, "1": 2}
    assert budget["elided"]["0"] == 1
    assert budget["dropped"] == {"-1": 0, "0": 0, "1": 0}
    assert budget["longest_row"] <= 600
    shown = check("--max-tokens", "600")
    assert "under a budget of 600 tokens, labelled steps (-1 / 0 / +1):\n  labelled: 1 / 1 / 2\n" in shown


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--max-tokens", "100"], "--max-tokens: needs --model"),
        (["--max-tool-tokens", "100"], "--max-tool-tokens: needs --model"),
        (["--model", "no/such-model-anywhere"], "--model no/such-model-anywhere: must be a folder or id"),
        (["--reader", "nothing"], "--reader: must be one of"),
    ],
)
def test_wrong_options_are_one_line(
    tmp_path: Path,
    arguments: list[str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(tmp_path / "a.jsonl", record(1))
    code, _, shown = prm_here(monkeypatch, capsys, "check", path, *arguments)
    assert code == 2
    assert shown.startswith(f"error: {named}")
    assert shown.count("\n") == 1


def test_missing_and_empty_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    for path in (tmp_path / "none.jsonl", tmp_path / "empty.jsonl"):
        done = prm("check", path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {path}: ")
        assert done.stderr.count("\n") == 1


def test_stepwise_and_back(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"prompt": "p", "completions": ["a", "b"], "labels": [True, False]})
    there, back = tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    assert prm("convert", path, "--to", "trajectories", "--out", there).returncode == 0
    assert json.loads(there.read_text())["step_labels"] == {"1": 1, "2": -1}
    assert prm("convert", there, "--to", "stepwise-binary", "--out", back).returncode == 0
    assert {k: v for k, v in json.loads(back.read_text()).items() if k in ("prompt", "completions", "labels")} == {
        "prompt": "p",
        "completions": ["a", "b"],
        "labels": [True, False],
    }


def test_schemas_are_printed() -> None:
    assert json.loads(prm("schema", "trajectory").stdout)["title"] == "Trajectory record"
    done = prm("schema", "judge")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
