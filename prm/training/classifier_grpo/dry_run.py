"""What a GRPO run of a step classifier would do: its rows, their labels, its updates. Loads no weights."""

from __future__ import annotations

from collections import Counter

from transformers import AutoConfig, AutoTokenizer

from prm.data.encode import Encoder
from prm.models.backbone import LABEL_NAMES
from prm.models.batching import TokenBatchSampler
from prm.models.checkpoint import CheckpointInfo
from prm.models.fetch import resolve_model
from prm.models.reachable import reachable
from prm.training.classifier_grpo.options import ClassifierGrpoOptions
from prm.training.classifier_grpo.run import refuse_other_protocol
from prm.training.labelled_runs import read_both
from prm.training.targets import TargetOptions, class_weights, training_rows
from prm.types import LABELS


def describe(options: ClassifierGrpoOptions) -> list[str]:
    """Lines that say what would be done.

    Raises:
        PrmError: Whatever would end the run before its weights are loaded.
    """
    training, rewards = options.training, options.rewards
    data, held_out = read_both(options.data)
    path = resolve_model(options.model.model)
    with reachable(path):
        code = options.model.trust_remote_code
        info = CheckpointInfo.of_config(AutoConfig.from_pretrained(path, trust_remote_code=code), path)
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=code)
    refuse_other_protocol(info, [*data, *held_out])
    targets = TargetOptions(class_weights(training.class_weights, data), training.outcome_weight)
    rows, _ = training_rows(data, Encoder(tokenizer, info.encoding), targets)
    counts = Counter(label for run in data for label in run.step_labels.values() if label is not None)
    lengths = [len(row.row.input_ids) for row in rows]
    batches = len(TokenBatchSampler(lengths, training.tokens_per_batch, 0, 0, training.world_size))
    updates = -(-batches // training.gradient_accumulation_steps) * rewards.num_iterations
    length = f"{training.max_steps} in all" if training.max_steps > 0 else f"{training.num_train_epochs:g} epochs"
    drawn = "none" if rewards.gradient == "exact" else f"{rewards.num_generations} labellings of each row and update"
    return [
        f"start {path}",
        f"training {len(data)} runs in {len(rows)} rows of {min(lengths)} to {max(lengths)} tokens; "
        f"labels {', '.join(f'{LABEL_NAMES[i]}: {counts[label]}' for i, label in enumerate(LABELS))}; "
        f"always +1 is right at {100 * counts[1] / max(counts.total(), 1):.1f} % of them",
        f"held out {len(held_out)} runs",
        f"drawn: {drawn}; one forward pass each",
        f"updates {updates} an epoch, {length}",
    ]
