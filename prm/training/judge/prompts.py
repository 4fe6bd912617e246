"""The prompts that a judge is trained on: built once, before weights load, and those that do not fit counted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from prm.errors import ConfigError
from prm.models.judge.prompt import JudgePrompt, JudgePromptBuilder
from prm.types import Trajectory

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PromptedRuns:
    """Runs with their prompts.

    Attributes:
        runs: [N] the runs that fit.
        prompts: [N] their prompts.
        too_long: The runs whose steps do not fit, even when cut short.
        max_prompt_tokens: The budget.
    """

    runs: list[Trajectory]
    prompts: list[JudgePrompt]
    too_long: list[Trajectory]
    max_prompt_tokens: int


def build_prompts(runs: Sequence[Trajectory], builder: JudgePromptBuilder) -> PromptedRuns:
    """The prompt of each run that fits the builder's budget.

    Raises:
        ConfigError: In a run there is nothing to judge.
    """
    found = PromptedRuns([], [], [], builder.config.max_prompt_tokens)
    for run in runs:
        try:
            prompt = builder.build(run)
        except ConfigError:
            if not run.steps:
                raise
            found.too_long.append(run)
            continue
        found.runs.append(run)
        found.prompts.append(prompt)
    return found


def refuse_long_runs(found: PromptedRuns) -> None:
    """All runs must fit.

    Raises:
        ConfigError: Some do not; says how many.
    """
    if found.too_long:
        raise ConfigError(f"{_complaint(found)}; raise max_prompt_tokens, or leave them out by skip_long_runs: true")


def leave_out_long_runs(found: PromptedRuns) -> None:
    """Says how many runs are left out.

    Raises:
        ConfigError: No run is left.
    """
    if not found.runs and found.too_long:
        raise ConfigError(f"{_complaint(found)}; raise max_prompt_tokens")
    if found.too_long:
        everything = len(found.runs) + len(found.too_long)
        text = "%d of %d runs of train_data do not fit max_prompt_tokens (%d) and are left out"
        _log.warning(text, len(found.too_long), everything, found.max_prompt_tokens)


def _complaint(found: PromptedRuns) -> str:
    first = ":".join(found.too_long[0].key)
    return (
        f"train_data: the steps of each run must fit max_prompt_tokens ({found.max_prompt_tokens}) even when cut "
        f"short, got {len(found.too_long)} of {len(found.runs) + len(found.too_long)} runs that do not (first {first})"
    )
