"""What every trainer of a judge does at evaluation and at a checkpoint, whatever its loss."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prm.models.judge.checkpoint import write_judge_info
from prm.training.atomic_checkpoints import AtomicCheckpoints


class JudgingTrainer(AtomicCheckpoints):
    """Stands before TRL's trainer among the base classes.

    Greedy answers on whole held-out runs are the evaluation, and a checkpoint says how its judge is asked.

    Attributes:
        task: What is trained; its `held_out` and `info` are used here.
    """

    task: Any
    control: Any

    @contextlib.contextmanager
    def judging_model(self) -> Iterator[Any]:
        """The model without wrappers, with all its weights."""
        mine: Any = self
        yield mine.accelerator.unwrap_model(mine.model)

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """What `prm.training.judge.evaluation.HeldOut` says of the judge as it is."""
        mine: Any = self
        if self.task.held_out is None:
            return {}
        with self.judging_model() as model:
            found = self.task.held_out.measure(model, mine.processing_class, self.task.info, mine.accelerator)
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in found.items()}
        training = mine.model.training
        # In training TRL takes what is logged for its own training metrics.
        mine.model.eval()
        mine.log(dict(metrics))
        mine.model.train(training)
        mine.control = mine.callback_handler.on_evaluate(mine.args, mine.state, mine.control, metrics)
        return metrics

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        mine: Any = self
        parent: Any = super()
        parent._save(output_dir, state_dict)
        if mine.args.should_save:
            folder = Path(output_dir or mine.args.output_dir)
            # An adapter's folder does not say how many layers its base was cut to.
            mine.accelerator.unwrap_model(mine.model).config.save_pretrained(folder)
            write_judge_info(folder, self.task.info)

    def create_model_card(self, *arguments: Any, **keywords: Any) -> None:
        """Keeps the card that prm writes; TRL's own would replace it at every checkpoint."""
