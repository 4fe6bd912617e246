"""Prompts of training runs: runs that do not fit are refused in one line, or left out and counted; none is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prm.errors import ConfigError
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.training.judge.prompts import PromptedRuns, build_prompts, leave_out_long_runs, refuse_long_runs
from prm.types import Trajectory
from tests.tiny import byte_level_tokenizer, make_run

SHORT, LONG = make_run(1, steps=2), make_run(2, steps=300)


def _build(runs: list[Trajectory], **config: bool) -> PromptedRuns:
    return build_prompts(runs, JudgePromptBuilder(byte_level_tokenizer(), JudgePromptConfig(3000, **config)))  # type: ignore[arg-type]


def test_each_run_that_fits_has_its_prompt() -> None:
    found = _build([SHORT, LONG, make_run(3, steps=1)])
    assert [run.key for run in found.runs] == [SHORT.key, make_run(3, steps=1).key]
    assert [len(prompt.message_indices) for prompt in found.prompts] == [2, 1]
    assert found.too_long == [LONG]


def test_long_runs_are_refused_in_one_line_that_counts_them() -> None:
    with pytest.raises(ConfigError) as caught:
        refuse_long_runs(_build([SHORT, LONG]))
    assert str(caught.value) == (
        "train_data: the steps of each run must fit max_prompt_tokens (3000) even when cut short, got 1 of 2 runs that "
        f"do not (first {':'.join(LONG.key)}); raise max_prompt_tokens, or leave them out by skip_long_runs: true"
    )
    refuse_long_runs(_build([SHORT]))


def test_long_runs_that_are_left_out_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    leave_out_long_runs(_build([SHORT]))
    assert not caplog.text
    leave_out_long_runs(_build([SHORT, LONG]))
    assert "1 of 2 runs of train_data do not fit max_prompt_tokens (3000) and are left out" in caplog.text


def test_some_run_must_be_left() -> None:
    with pytest.raises(ConfigError, match="got 2 of 2 runs that do not"):
        leave_out_long_runs(_build([LONG, make_run(4, steps=300)]))


def test_a_run_with_nothing_to_judge_is_not_called_long() -> None:
    bare = replace(SHORT, messages=SHORT.messages[:1], step_labels={})
    with pytest.raises(ConfigError, match="must have something to judge"):
        _build([bare], outcome=False)
