"""`prm judge` from the command line: resumable, in order, honest about what failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory, read_predictions
from prm.errors import ConfigError, MissingFileError, RecordError
from prm.models.judge.local_judge import CHUNK, LocalJudge
from tests.tiny import make_run
from tests.training.judge.judge_runs import save_judge_backbone
from tests.training.launch import kill_prm_when, run_prm


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_judge_backbone(tmp_path_factory.mktemp("model"), layers=1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "runs.jsonl"
    write_jsonl(path, (dump_trajectory(make_run(i, steps=1 + i % 3, words=1)) for i in range(2 * CHUNK + 3)))
    return path


def _judge(model: Path, data: Path, out: Path, *options: str) -> Any:
    command = ["judge", "--model", str(model), "--data", str(data), "--out", str(out), "--device", "cpu"]
    result = CliRunner().invoke(app, [*command, "--max-prompt-tokens", "1400", *options])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_every_run_gets_a_record_in_order_and_the_counts_are_shown(model: Path, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    result = _judge(model, runs, out)
    assert f"{2 * CHUNK + 3} predictions ({2 * CHUNK + 3} ok, 0 partial, 0 failed)" in result.output
    assert "prm evaluate --gold" in result.output
    predictions = list(read_predictions(out))
    assert [p.identity.query_index for p in predictions] == list(range(2 * CHUNK + 3))
    assert predictions[0].rendering["prompt"]["max_prompt_tokens"] == 1400
    assert list(tmp_path.iterdir()) == [out]


def test_a_failed_run_is_written_counted_and_explained(model: Path, tmp_path: Path) -> None:
    data = tmp_path / "runs.jsonl"
    write_jsonl(data, (dump_trajectory(make_run(i, steps=steps)) for i, steps in enumerate((2, 300, 1))))
    result = _judge(model, data, tmp_path / "p.jsonl")
    assert "(2 ok, 0 partial, 1 failed)" in result.output
    assert "max_prompt_tokens" in result.output
    records = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [record["status"] for record in records] == ["ok", "failed", "ok"]
    assert records[1]["step_labels"] == {}
    assert records[1]["query_index"] == 1


@pytest.mark.parametrize("options", [(), ("--samples", "3")])
def test_a_run_that_broke_off_goes_on_and_ends_with_the_same_bytes(
    model: Path, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    _judge(model, runs, tmp_path / "whole.jsonl", *options)
    out, calls = tmp_path / "broken.jsonl", []
    judge_shard = LocalJudge.judge_shard

    def breaks(self: LocalJudge, chunk: Any, *rest: Any) -> Any:
        calls.append(len(chunk))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return judge_shard(self, chunk, *rest)

    monkeypatch.setattr(LocalJudge, "judge_shard", breaks)
    result = _judge(model, runs, out, *options)
    assert result.exit_code != 0
    assert not out.exists()
    partial = tmp_path / ".broken.jsonl.partial"
    assert partial.read_bytes().count(b"\n") == CHUNK
    partial.write_bytes(partial.read_bytes() + b'{"half a li')
    _judge(model, runs, out, *options)
    assert calls == [CHUNK, CHUNK, CHUNK, 3]
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not partial.exists()


def test_other_options_start_anew(model: Path, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "p.jsonl"
    judge_shard, calls = LocalJudge.judge_shard, []

    def breaks(self: LocalJudge, chunk: Any, *rest: Any) -> Any:
        calls.append(self.info.prompt.protocol)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return judge_shard(self, chunk, *rest)

    monkeypatch.setattr(LocalJudge, "judge_shard", breaks)
    _judge(model, runs, out)
    _judge(model, runs, out, "--protocol", "independent")
    assert {p.protocol for p in read_predictions(out)} == {"independent"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--answer-format", "xml"), "answer_format"),
        (("--decoding", "strict"), "decoding"),
        (("--samples", "3", "--temperature", "0"), "samples"),
        (("--protocol", "both"), "protocol"),
        (("--dtype", "int8"), "dtype"),
        (("--device", "tpu9"), "--device"),
    ],
)
def test_a_wrong_option_is_one_line(
    model: Path, runs: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        _judge(model, runs, tmp_path / "p.jsonl", *options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_data_are_never_written_over(model: Path, tmp_path: Path) -> None:
    data = tmp_path / "runs.jsonl"
    write_jsonl(data, [dump_trajectory(make_run(1, steps=1))])
    before = data.read_bytes()
    with pytest.raises(ConfigError, match="--out: must not replace what is read"):
        _judge(model, data, data)
    with pytest.raises(ConfigError, match="--out: must be a file"):
        _judge(model, data, tmp_path)
    assert data.read_bytes() == before


def test_a_bad_record_shows_no_bar_and_leaves_nothing(model: Path, tmp_path: Path) -> None:
    data = tmp_path / "runs.jsonl"
    data.write_text('{"messages"\n')
    command = ["judge", "--model", str(model), "--data", str(data), "--out", str(tmp_path / "p.jsonl")]
    result = CliRunner().invoke(app, [*command, "--device", "cpu"])
    assert isinstance(result.exception, RecordError)
    assert result.output == ""
    assert list(tmp_path.iterdir()) == [data]


def test_missing_data_are_found_before_the_model_loads(model: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        _judge(tmp_path / "no-model", tmp_path / "nothing.jsonl", tmp_path / "p.jsonl")


@pytest.mark.slow
def test_judging_killed_in_the_middle_ends_with_the_same_bytes(model: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    write_jsonl(many, (dump_trajectory(make_run(1000 + i, steps=4)) for i in range(CHUNK * 9 + 5)))
    command = ["judge", "--model", str(model), "--data", str(many), "--device", "cpu", "--samples", "2", "--out"]
    run_prm([*command, str(tmp_path / "whole.jsonl")])
    out, partial = tmp_path / "broken.jsonl", tmp_path / ".broken.jsonl.partial"
    kill_prm_when([*command, str(out)], lambda: partial.exists() and partial.read_bytes().count(b"\n") >= 2 * CHUNK)
    assert not out.exists()
    run_prm([*command, str(out)])
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
