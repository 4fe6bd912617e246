"""Answers written freely by ``model.generate``: batched, padded on the left, with or without sampling."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from prm.models.judge.chat import end_of_turn_ids
from prm.models.shared_prefix.calling import evaluating


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """One answer.

    Attributes:
        text: The answer without what ends its turn.
        complete: Whether it ended by itself; False where it ran into the limit of tokens or of time.
        ids: Its tokens, without what ends its turn.
    """

    text: str
    complete: bool
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationLimits:
    """How answers are generated.

    Attributes:
        samples: Answers to each prompt.
        temperature: 0 = greedy.
        max_answer_tokens: Tokens of one answer at most.
        seed: Fixes the draws of the batch.
        max_seconds: After which answers break off; None = never.
    """

    samples: int
    temperature: float
    max_answer_tokens: int
    seed: int
    max_seconds: float | None = None


@torch.no_grad()
def generate_answers(
    model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], limits: GenerationLimits
) -> list[list[GeneratedAnswer]]:
    """The answers to each prompt, `[B][samples]`; greedy ones are generated once.

    Args:
        model: A causal model; nothing in it trains meanwhile.
        tokenizer: Its tokenizer.
        prompts: `[B][P_b]` token ids; those of similar length together waste least.
        limits: See `GenerationLimits`.
    """
    device = next(model.parameters()).device
    ends = _end_ids(model, tokenizer)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends[0] if ends else 0
    ids, mask = _padded_on_the_left(prompts, pad)
    sampled = limits.temperature > 0
    answers = limits.samples if sampled else 1
    chosen = {"do_sample": True, "temperature": limits.temperature, "top_k": 0, "top_p": 1.0} if sampled else _GREEDY
    with evaluating(model), _own_random_state(device, limits.seed):
        written = model.generate(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            max_new_tokens=limits.max_answer_tokens,
            num_return_sequences=answers,
            num_beams=1,
            repetition_penalty=1.0,
            pad_token_id=pad,
            eos_token_id=list(ends) or None,
            max_time=limits.max_seconds,
            **chosen,
        )
    new = written[:, ids.shape[1] :].tolist()
    read = [_answer(tokenizer, row, set(ends)) for row in new]
    grouped = [read[start : start + answers] for start in range(0, len(read), answers)]
    return grouped if sampled else [group * limits.samples for group in grouped]


_GREEDY: dict[str, Any] = {"do_sample": False, "temperature": None, "top_k": None, "top_p": None}


def _end_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Every token that ends a turn: the template's, the tokenizer's, the model's."""
    stored = getattr(model.generation_config, "eos_token_id", None)
    stored = stored if isinstance(stored, list) else [stored]
    found = [*end_of_turn_ids(tokenizer)[-1:], tokenizer.eos_token_id, *stored]
    return tuple(dict.fromkeys(int(token) for token in found if token is not None))


def _padded_on_the_left(prompts: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), width), pad, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.as_tensor(prompt, dtype=torch.int64)
        mask[row, width - len(prompt) :] = 1
    return ids, mask


def _answer(tokenizer: Any, ids: Sequence[int], ends: set[int]) -> GeneratedAnswer:
    length = next((i for i, token in enumerate(ids) if token in ends), None)
    text = str(tokenizer.decode(ids[:length], skip_special_tokens=True))
    return GeneratedAnswer(text, length is not None, tuple(ids[:length]))


@contextlib.contextmanager
def _own_random_state(device: torch.device, seed: int) -> Any:
    """``generate`` draws from the global random state; here it starts from the seed and is put back afterwards."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
