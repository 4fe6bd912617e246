"""Run by the test of two processes: a few updates on answers that are given, then the weights in a file.

python -m tests.training.grpo.train_fixed_answers OUT BATCH ADVANTAGES
"""

from __future__ import annotations

import sys
from pathlib import Path

from safetensors.torch import save_file

from prm.models.judge.local_judge import JudgeOptions
from prm.training.grpo.options import RewardOptions
from prm.training.judge.evaluation import HeldOut
from tests.tiny import make_run
from tests.training.grpo.toys import Log, arguments, fixed_answers, scattered, toy_example, toy_trainer, weights_of

if __name__ == "__main__":
    out, batch, advantages = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    examples = [toy_example(n, labels) for n, labels in enumerate(([1, -1], [0, 1, 1], [-1], [1, 0, -1, 1]))]
    args = arguments(out, per_device_train_batch_size=batch, max_steps=3, optim="sgd", learning_rate=0.05)
    options = RewardOptions(advantages=advantages, cross_entropy_weight=0.1)
    held_out = HeldOut([make_run(n, steps=1 + n % 3) for n in range(3)], JudgeOptions())
    trainer = toy_trainer(args, examples, options, rollout=fixed_answers(scattered), held_out=held_out)
    log = Log()
    trainer.add_callback(log)
    trainer.train()
    measured = trainer.evaluate()
    if trainer.args.process_index == 0:
        shown = {name: log.values(name) for name in ("sampled/step_acc", "sampled/share_pos", "dead_groups")}
        weights = {name: value.contiguous() for name, value in weights_of(trainer).items()}
        save_file(
            weights, out / "weights.safetensors", {"log": repr(shown), "measured": repr(sorted(measured.items()))}
        )
