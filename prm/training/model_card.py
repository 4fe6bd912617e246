"""The model card beside a trained checkpoint: what it says, what it was trained on, and the trivial baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prm.models.backbone import LABEL_NAMES
from prm.models.checkpoint import CheckpointInfo
from prm.training.arguments import SupervisedOptions
from prm.types import LABELS, Trajectory

_CARD = """---
library_name: transformers
pipeline_tag: token-classification
tags: [process-reward-model, agents, tool-use, prm]
---

# {title}

A process reward model for tool-using agents: it labels every assistant message of a run −1 (harmful or wrong),
0 (neutral) or +1 (effective). Trained by [agent-prm](https://pypi.org/project/agent-prm/) {version} on `{base}`.

| | |
|---|---|
| label map (class id → label) | {label_map} |
| protocol of the labels | {protocol} |
| outcome predicted | {outcome} |
| rendering, budget | version {rendering}, {max_tokens} tokens a row, {max_tool_tokens} a tool result |
| training data, sha256 | `{split}` |
| training labels −1 / 0 / +1 | {counts} in {runs} runs |
| class weights −1 / 0 / +1 | {weights} |

Validation (the checkpoint was chosen on it, so it flatters; measure on held-out queries with `prm evaluate`):

| judge | StepAcc | FirstErrAcc |
|---|---|---|
| this model | {step_acc} | {first_err_acc} |
| always +1 on the training steps | {always} | |

```python
from prm import StepClassifier, read_trajectories

classifier = StepClassifier.from_pretrained("<this folder or hub id>")
predictions = classifier.score(list(read_trajectories("runs.jsonl")))
```

The plain head loads with `AutoModelForTokenClassification` alone; a step is read at the last token of its block.
"""


def write_model_card(
    path: Path,
    info: CheckpointInfo,
    options: SupervisedOptions,
    runs: Sequence[Trajectory],
    result: Mapping[str, Any],
) -> None:
    """Writes the card.

    Args:
        path: The file.
        info: What the checkpoint says of itself.
        options: The run's options.
        runs: The training runs; result: the run's result.
    """
    counts = Counter(label for run in runs for label in run.step_labels.values() if label is not None)
    text = _CARD.format(
        title=options.training.hub_model_id or Path(options.training.output_dir).name,
        version=info.version,
        base=options.model.model,
        label_map=", ".join(f"{i} → {name}" for i, name in LABEL_NAMES.items()),
        protocol=info.protocol or "not named by the data",
        outcome="yes" if info.outcome else "no",
        rendering=info.encoding.rendering,
        max_tokens=info.encoding.max_tokens,
        max_tool_tokens=info.encoding.max_tool_tokens or "as many as fit for",
        split=info.split_sha256,
        counts=" / ".join(str(counts[label]) for label in LABELS),
        runs=len(runs),
        weights=" / ".join(f"{weight:.3g}" for weight in result["class_weights"]),
        step_acc=_percent(result.get("eval_step_acc")),
        first_err_acc=_percent(result.get("eval_first_err_acc")),
        always=_percent(counts[1] / max(sum(counts.values()), 1)),
    )
    path.write_text(text, encoding="utf-8")


def _percent(value: float | None) -> str:
    return "no validation data" if value is None else f"{100 * value:.1f} %"
