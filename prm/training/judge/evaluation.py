"""The judge on held-out runs: greedy answers, the metrics of `prm evaluate`, and the always-(+1) line beside them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prm.evaluation.baselines import always_positive
from prm.evaluation.step_metrics import summary
from prm.models.judge.checkpoint import JudgeInfo
from prm.models.judge.local_judge import JudgeOptions, LocalJudge
from prm.models.processes import gathered
from prm.models.scoring import ALONE, Shard
from prm.types import Prediction, Trajectory


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Runs that are judged now and then.

    Attributes:
        runs: The runs, with labels.
        options: How answers come about: greedy, forced or free.
        sharded: Whether the weights are spread over processes; then all processes judge all runs, in step.
    """

    runs: Sequence[Trajectory]
    options: JudgeOptions
    sharded: bool = False

    def measure(self, model: Any, tokenizer: Any, info: JudgeInfo, accelerator: Any) -> dict[str, float]:
        """`measures` of the model's predictions; the processes share the work.

        Args:
            model: The judge, unwrapped.
            tokenizer: Its tokenizer.
            info: How it is asked.
            accelerator: Knows the processes.
        """
        judge = LocalJudge(model, tokenizer, info, self.options)
        if accelerator.num_processes == 1 or self.sharded:
            return measures(self.runs, judge.judge_shard(self.runs, ALONE))
        shard = Shard(accelerator.process_index, accelerator.num_processes)
        return measures(self.runs, judge.judge_shard(self.runs, shard, gathered))


def measures(runs: Sequence[Trajectory], predictions: Sequence[Prediction]) -> dict[str, float]:
    """What `prm.evaluation.step_metrics.summary` says, where it is defined, and:

    unread: the share of runs with an answer that could not be read whole;
    always_positive_step_acc, always_positive_first_err_acc: what a judge scores that says +1 everywhere.
    """
    found: dict[str, float | None] = dict(summary(runs, predictions))
    found["unread"] = sum(prediction.status != "ok" for prediction in predictions) / len(predictions)
    trivial = summary(runs, always_positive(runs))
    for name in ("step_acc", "first_err_acc"):
        found[f"always_positive_{name}"] = trivial[name]
    return {name: value for name, value in found.items() if value is not None}


def drawn_runs(runs: Sequence[Trajectory], count: int | None, seed: int) -> list[Trajectory]:
    """`count` of the runs, drawn by the seed and in their order; all where `count` is None or too large."""
    if count is None or count >= len(runs):
        return list(runs)
    chosen = sorted(random.Random(seed).sample(range(len(runs)), count))
    return [runs[number] for number in chosen]
