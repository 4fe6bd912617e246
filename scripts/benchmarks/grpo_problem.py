"""What a GRPO step is taken with: a model, a prompt and a frame of wanted lengths, and answers that need no model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoTokenizer

from prm.data.label_account import LabelAccount
from prm.errors import ModelError, complaint
from prm.models.fetch import resolve_model
from prm.models.judge.answer import VerdictFrame, compact_form
from prm.models.judge.forced_decoding import Rollout
from prm.models.judge.prompt import JudgePrompt
from prm.models.shared_prefix import SharedCache, supports_shared_prefix
from prm.models.shared_prefix.places import Places
from prm.training.grpo.examples import GrpoExample
from prm.training.grpo.rollout import Draw, Stretch, as_trl_rollout, stretches
from prm.training.judge.options import JudgeModelOptions
from prm.training.judge.policy import load_policy
from prm.types import LABELS

RolloutFunction: TypeAlias = Callable[[list[Any], Any], dict[str, list[Any]]]

_WORDS = ("the", "order", "was", "sent", "to", "a", "wrong", "address", "and", "came", "back", "late")
_TRL_KEYS = ("prompt_ids", "completion_ids", "logprobs")


@dataclass(frozen=True)
class Policy:
    """Which model takes the step, in float32.

    Attributes:
        name: Alias, folder or hub id.
        num_layers: First layers kept; None = all.
        trainable_layers: Top layers trained; None = all weights.
    """

    name: str
    num_layers: int | None = None
    trainable_layers: int | None = None

    @cached_property
    def tokenizer(self) -> Any:
        """Its tokenizer."""
        return AutoTokenizer.from_pretrained(self._path)

    def load(self) -> Any:
        """The model, read anew.

        Raises:
            ModelError: It cannot share a prompt, so that there is nothing to compare.
        """
        choice = JudgeModelOptions(num_layers=self.num_layers, trainable_layers=self.trainable_layers)
        model = load_policy(self._path, choice, trust_remote_code=False)
        reason = supports_shared_prefix(model)  # here, so that no step's time has its trial in it
        if reason is not None:
            raise ModelError(complaint("model", "must be able to share a prompt", reason, "name another"))
        return model

    @cached_property
    def _path(self) -> str:
        return resolve_model(self.name)


@dataclass(frozen=True)
class Problem:
    """A prompt and the number of its answers.

    Attributes:
        example: A prompt of plain words, the frame of its answer, and labels for its steps.
        frame: That frame.
        group: Answers.
    """

    example: GrpoExample
    frame: VerdictFrame
    group: int

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return len(self.example.prompt.input_ids)

    @property
    def verdicts(self) -> int:
        """Verdicts of an answer."""
        return len(self.frame.slots)

    @property
    def answer_tokens(self) -> int:
        """Tokens of an answer, the end of the turn among them; the same for all."""
        return _tokens(self.frame)


def make_problem(tokenizer: Any, prompt_tokens: int, answer_tokens: int, group: int) -> Problem:
    """A problem as near to these lengths as the tokenizer allows."""
    text, ids = _prompt(tokenizer, prompt_tokens)
    frame = _frame(tokenizer, answer_tokens)
    gold = tuple(step % 3 for step in range(len(frame.slots)))
    labels = json.dumps({str(step): LABELS[class_id] for step, class_id in enumerate(gold)})
    row = {"prompt": text, "step_labels": labels, "final_label": None, "example": 0}
    prompt = JudgePrompt(text, ids, tuple(range(len(gold))), LabelAccount(), 0)
    return Problem(GrpoExample(prompt, frame, gold, (1.0,) * len(gold), row), frame, group)


def _prompt(tokenizer: Any, tokens: int) -> tuple[str, tuple[int, ...]]:
    """Words of about `tokens` tokens, and their ids as a stock trainer reads them from the text."""
    words = " ".join(random.Random(0).choices(_WORDS, k=tokens))
    text = tokenizer.decode(tokenizer(words)["input_ids"][:tokens], skip_special_tokens=True)
    return text, tuple(tokenizer(text)["input_ids"])


def _frame(tokenizer: Any, tokens: int) -> VerdictFrame:
    form, frames = compact_form(tokenizer), []
    for steps in count(1):
        frames.append(form.frame(range(steps), outcome=False))
        if _tokens(frames[-1]) >= tokens:
            break
    return min(frames, key=lambda frame: abs(_tokens(frame) - tokens))


def _tokens(frame: VerdictFrame) -> int:
    return sum(map(len, frame.forced)) + len(frame.slots)


def fixed_classes(problem: Problem) -> npt.NDArray[np.int64]:
    """`[G, K]` class ids: answer g is right in its first g mod (K + 1) verdicts, so that rewards differ."""
    rows, slots = np.indices((problem.group, problem.verdicts))
    wrong = slots >= rows % (problem.verdicts + 1)
    return np.asarray((np.array(problem.example.gold) + wrong) % 3, dtype=np.int64)


def fixed_answers(problem: Problem) -> RolloutFunction:
    """A rollout for stock trainers that gives the fixed answers at once; all their tokens count."""

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        found = _in_frame([Stretch(problem.example, problem.group)], problem)
        return {name: found[name] for name in _TRL_KEYS}

    return rollout


def every_token(problem: Problem) -> RolloutFunction:
    """A rollout for `JudgeGrpoTrainer` over one un-copied prompt cache, but with a pass for each token.

    As without a frame, every token is drawn from the whole vocabulary. The fixed answers take the place of what is
    drawn, so that the loss finds verdicts where it looks for them.
    """

    def rollout(prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        groups = list(stretches(trainer.batch))
        found = _in_frame(groups, problem)
        answers = torch.tensor(found["completion_ids"][: problem.group])
        with trainer.judging_model() as model:
            for group in groups:
                _decode(model, torch.tensor(group.example.prompt.input_ids), answers)
        return found

    return rollout


def _decode(model: Any, prompt: torch.Tensor, answers: torch.Tensor) -> None:
    """C passes for `[G, C]` answers: the prompt, then a token of each answer at a time."""
    cache = SharedCache(model)
    group, width = answers.shape
    owners = torch.arange(group)[None]
    logits = cache.prefill([prompt], 0).expand(group, -1)
    for place in range(width):
        torch.multinomial(logits.float().softmax(-1), 1)
        if place + 1 < width:
            places = Places(owners, torch.full_like(owners, len(prompt) + place))
            logits = cache.feed(answers[None, :, place], places, owners)[0]


def _in_frame(groups: Sequence[Stretch], problem: Problem) -> dict[str, list[Any]]:
    classes = fixed_classes(problem)
    even = np.full((*classes.shape, 3), 1 / 3, dtype=np.float32)
    rollout = Rollout(classes, np.log(even[..., 0]), even)
    return as_trl_rollout(groups, Draw([rollout] * len(groups), 0))
