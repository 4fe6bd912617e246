"""The model card beside a trained judge: how it is asked, what it was trained on, and the trivial baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.models.judge.checkpoint import JudgeInfo
from prm.training.judge.options import JudgeSftOptions
from prm.types import LABELS, Trajectory
from prm.version import __version__

_CARD = """---
library_name: transformers
pipeline_tag: text-generation
tags: [process-reward-model, judge, agents, tool-use, prm]
---

# {title}

A judge for tool-using agents: it reads a run as one prompt and labels every assistant message −1 (harmful or wrong),
0 (neutral) or +1 (effective). Trained by [agent-prm](https://pypi.org/project/agent-prm/) {version} on `{base}`.

| | |
|---|---|
| answer | {answer_format}, outcome {outcome} |
| protocol of the labels | {protocol} |
| prompt | version {prompt_version}, {max_prompt_tokens} tokens, {max_tool_tokens} a tool result |
| training data, sha256 | `{split}` |
| training labels −1 / 0 / +1 | {counts} in {runs} runs |
| loss | on {loss_on}; verdict weights −1 / 0 / +1: {weights} |

Validation (the checkpoint was chosen on it, so it flatters; measure on held-out queries with `prm evaluate`):

| judge | StepAcc | FirstErrAcc |
|---|---|---|
| this judge | {step_acc} | {first_err_acc} |
| always +1 | {always_step_acc} | {always_first_err_acc} |

```bash
prm judge --model <this folder or hub id> --data runs.jsonl --out predictions.jsonl
```
"""


def write_judge_card(
    path: Path,
    info: JudgeInfo,
    options: JudgeSftOptions,
    runs: Sequence[Trajectory],
    result: Mapping[str, Any],
) -> None:
    """Writes the card.

    Args:
        path: The file.
        info: How the judge is asked.
        options: The run's options.
        runs: The training runs; result: the run's result.
    """
    counts = Counter(label for run in runs for label in run.step_labels.values() if label is not None)
    training = info.training or {}
    text = _CARD.format(
        title=options.training.hub_model_id or Path(options.training.output_dir).name,
        version=__version__,
        base=options.model.model,
        answer_format=info.prompt.answer_format,
        outcome="asked for" if info.prompt.outcome else "not asked for",
        protocol=training.get("protocol") or "not named by the data",
        prompt_version=info.prompt_version,
        max_prompt_tokens=info.prompt.max_prompt_tokens,
        max_tool_tokens=info.prompt.max_tool_tokens or "as many as fit for",
        split=training.get("split_sha256"),
        counts=" / ".join(str(counts[label]) for label in LABELS),
        runs=len(runs),
        loss_on=f"the {options.training.loss_on}",
        weights=" / ".join(f"{weight:.3g}" for weight in result["class_weights"]),
        step_acc=_percent(result.get("eval_step_acc")),
        first_err_acc=_percent(result.get("eval_first_err_acc")),
        always_step_acc=_percent(result.get("eval_always_positive_step_acc")),
        always_first_err_acc=_percent(result.get("eval_always_positive_first_err_acc")),
    )
    path.write_text(text, encoding="utf-8")


def _percent(value: float | None) -> str:
    return "no validation data" if value is None else f"{100 * value:.1f} %"
