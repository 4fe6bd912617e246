"""A tiny judge and prompts of a few tokens, so that a whole GRPO run takes seconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, ProgressCallback, TrainerCallback

from prm.data.label_account import LabelAccount
from prm.models.judge.answer import compact_form
from prm.models.judge.checkpoint import JudgeInfo
from prm.models.judge.local_judge import JudgeOptions
from prm.models.judge.prompt import JudgePrompt, JudgePromptConfig
from prm.training.grpo.examples import GrpoExample
from prm.training.grpo.options import GrpoArguments, RewardOptions
from prm.training.grpo.terms import reward_terms
from prm.training.grpo.trainer import GrpoTask, JudgeGrpoTrainer
from prm.training.judge.evaluation import HeldOut
from prm.types import LABELS, StepLabel
from tests.tiny import byte_level_tokenizer

WORD_OF: dict[int, str] = {-1: "bad", 0: "so", 1: "good"}


def tiny_judge(seed: int = 0) -> Any:
    """A Llama of two small layers."""
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=512,
            num_hidden_layers=2,
            max_position_embeddings=256,
            initializer_range=0.15,
            pad_token_id=1,
            **sizes,
        )
    )


def toy_example(
    number: int, labels: Sequence[StepLabel | None], final: StepLabel | None = None, worth: float = 1.0
) -> GrpoExample:
    """A prompt that names the labels, a word each; with `final` the outcome is asked for."""
    tokenizer = byte_level_tokenizer()
    text = f"run {number}: " + " ".join(WORD_OF.get(label, "?") if label is not None else "?" for label in labels)
    ids = tuple(tokenizer(text + "\n")["input_ids"])
    indices = tuple(2 * k + 1 for k in range(len(labels)))
    frame = compact_form(tokenizer).frame(indices, outcome=final is not None)
    truth = [*labels, *([] if final is None else [final])]
    gold = tuple(-1 if label is None else LABELS.index(label) for label in truth)
    known = {str(index): label for index, label in zip(indices, labels, strict=True)}
    prompt = JudgePrompt(text, ids, indices, LabelAccount(), 0)
    row = {"prompt": prompt.messages, "step_labels": json.dumps(known), "final_label": final, "example": number}
    values = [worth] * len(labels) + [0.0] * (final is not None)
    return GrpoExample(prompt, frame, gold, tuple(values), row)


def arguments(folder: Path, **changes: Any) -> GrpoArguments:
    """Arguments of a short run: groups of 4 answers, 2 prompts an update, nothing evaluated or saved."""
    settings: dict[str, Any] = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_steps": 3,
        "learning_rate": 1e-3,
        "lr_scheduler_type": "constant",
        "eval_strategy": "no",
        "save_strategy": "no",
        "load_best_model_at_end": False,
        "eval_on_start": False,
        "use_cpu": True,
        "seed": 3,
        "max_grad_norm": 0.0,
    }
    return GrpoArguments(**{**settings, **changes})


def toy_trainer(
    args: GrpoArguments,
    examples: Sequence[GrpoExample],
    rewards: RewardOptions | None = None,
    model: Any = None,
    **keywords: Any,
) -> JudgeGrpoTrainer:
    """A trainer without a terminal."""
    options = rewards or RewardOptions()
    examples = [replace(example, row={**example.row, "example": i}) for i, example in enumerate(examples)]
    info = JudgeInfo(JudgePromptConfig(outcome=False))
    trainer = JudgeGrpoTrainer(
        GrpoTask(examples, reward_terms(options, []), options, info, keywords.pop("held_out", None)),
        model=model or tiny_judge(),
        args=args,
        processing_class=byte_level_tokenizer(),
        **keywords,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    return trainer


def fixed_answers(choose: Callable[[int, int], int]) -> Callable[[list[Any], Any], dict[str, Any]]:
    """A rollout whose verdict is `choose(row, slot)`, a class id; rows count over all processes."""

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        first = trainer.accelerator.process_index * len(prompts)
        found: dict[str, Any] = {
            name: []
            for name in ("prompt_ids", "completion_ids", "logprobs", "env_mask", "verdict_classes", "verdict_probs")
        }
        for row, example in enumerate(trainer.batch):
            classes = [choose(first + row, slot) for slot in range(len(example.gold))]
            ids = example.frame.ids([LABELS[i] for i in classes])
            mask = [0] * len(ids)
            for place, rewarded in zip(example.frame.verdict_positions(), example.rewarded, strict=True):
                mask[place] = int(rewarded)
            found["prompt_ids"].append(list(example.prompt.input_ids))
            found["completion_ids"].append(ids)
            found["logprobs"].append([0.0] * len(ids))
            found["env_mask"].append(mask)
            found["verdict_classes"].append(classes)
            found["verdict_probs"].append([[0.2, 0.3, 0.5] for _ in classes])
        return found

    return rollout


def scattered(row: int, slot: int) -> int:
    """Verdicts that differ within every group."""
    return (row * 5 + slot * 3 + row // 4) % 3


@dataclass(frozen=True, slots=True)
class Scores(HeldOut):
    """Evaluations with results that are given, one after the other."""

    scores: list[float] = field(default_factory=list)

    def measure(self, model: Any, tokenizer: Any, info: JudgeInfo, accelerator: Any) -> dict[str, float]:
        """The next score."""
        return {"step_acc": self.scores.pop(0)}


def scores(*values: float) -> Scores:
    """Evaluations that give these values of StepAcc."""
    return Scores([], JudgeOptions(), scores=list(values))


class StopAfter(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Ends training after so many updates, as a crash after a checkpoint would."""

    def __init__(self, updates: int) -> None:
        self._updates = updates

    def on_step_end(self, args: Any, state: Any, control: Any, **keywords: Any) -> Any:
        if state.global_step >= self._updates:
            control.should_training_stop = True
        return control


class Log(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Keeps what was logged."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **keywords: Any) -> None:
        self.entries.append({"step": state.global_step, **(logs or {})})

    def values(self, name: str) -> list[float]:
        """Those of one key, in order."""
        return [entry[name] for entry in self.entries if name in entry]


def weights_of(trainer: Any) -> dict[str, torch.Tensor]:
    """A copy of all weights."""
    return {name: value.detach().clone() for name, value in trainer.model.state_dict().items()}
