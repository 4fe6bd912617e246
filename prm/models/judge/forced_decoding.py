"""Draws verdicts inside a forced frame: one prompt, G answers, one pass for each verdict.

What is not a verdict is given, so nothing can be malformed, and a verdict's logits are known as soon as the forced
tokens before it are read: each pass reads, for every answer, its last verdict and the forced block that follows. The
prompt and the first forced block are the same for all answers and are read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from prm.errors import ConfigError
from prm.models.judge.answer import VerdictFrame
from prm.models.judge.calibration import Calibration
from prm.models.judge.frame_readers import FrameReader, PackedReader, reader_of_one_prompt
from prm.models.shared_prefix import answer_logits, supports_shared_prefix
from prm.models.shared_prefix.calling import device_of, evaluating


@dataclass(frozen=True, slots=True)
class Rollout:
    """G answers to one prompt, K verdicts in each.

    Attributes:
        labels: `[G, K] int64`, class ids: 0, 1, 2 for the labels −1, 0, +1.
        logprobs: `[G, K] float32`, log-probability of each drawn verdict among the three.
        probs: `[G, K, 3] float32`, the distribution that it was drawn from.
    """

    labels: npt.NDArray[np.int64]
    logprobs: npt.NDArray[np.float32]
    probs: npt.NDArray[np.float32]


def draw_verdicts(
    model: Any,
    prompt_ids: torch.Tensor,
    frame: VerdictFrame,
    n: int,
    *,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Rollout:
    """Draws n answers to one prompt: each verdict from softmax(logits of the three verdict tokens / temperature).

    The model is in evaluation meanwhile (no dropout). Where it cannot share the prompt (`supports_shared_prefix`), the
    answers are a batch.

    Args:
        model: A causal language model.
        prompt_ids: `[P] int64`, at least one token.
        frame: The answer's forced blocks and its three verdict tokens.
        n: G, how many answers.
        temperature: Divides the calibrated logits. 0 takes the most probable verdict, the smaller class id among equal
            ones; `probs` and `logprobs` are then those of temperature 1.
        generator: Makes the draws reproducible: K·n numbers are taken from it (none at temperature 0), whatever is
            drawn and however the model is run.

    Raises:
        ConfigError: Less than one answer, a negative temperature or an empty prompt.
    """
    return draw_verdicts_batch(model, [prompt_ids], [frame], 0, n=n, temperature=temperature, generator=generator)[0]


@torch.no_grad()
def draw_verdicts_batch(
    model: Any,
    prompts: Sequence[torch.Tensor],
    frames: Sequence[VerdictFrame],
    pad_token_id: int,
    *,
    n: int = 1,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> list[Rollout]:
    """`draw_verdicts` for several prompts at once, the same as one after the other.

    The prompts are padded to the longest: give those of similar length together.

    Args:
        model: A causal language model.
        prompts: `[B][P_b] int64`.
        frames: `[B]`; they may differ in everything.
        pad_token_id: Any token; nothing looks at it.
        n: Answers to each prompt.
        temperature: As in `draw_verdicts`.
        generator: As in `draw_verdicts`; numbers are taken in the order of the prompts.

    Returns:
        `[B]`, in the order of the prompts.
    """
    _check(prompts, n, temperature)
    if not prompts:
        return []
    if temperature == 0:  # all answers are the same, and no random state may change
        chances = [torch.zeros(1, len(frame.slots), dtype=torch.float64) for frame in frames]
    else:
        chances = [_chances(n, len(frame.slots), generator) for frame in frames]
    device = device_of(model)
    prefixes = [
        torch.cat([prompt.to(device), torch.tensor(frame.forced[0], dtype=torch.int64, device=device)])
        for prompt, frame in zip(prompts, frames, strict=True)
    ]
    with evaluating(model):
        if supports_shared_prefix(model) is None:
            reader: FrameReader = PackedReader(model, pad_token_id)
            drawn = _draw(reader, prefixes, frames, chances, temperature)
        else:
            drawn = [
                _draw(reader_of_one_prompt(model), [prefix], [frame], [chance], temperature)[0]
                for prefix, frame, chance in zip(prefixes, frames, chances, strict=True)
            ]
    return [_repeat(rollout, n) for rollout in drawn] if temperature == 0 else drawn


def verdict_logits(model: Any, prompt_ids: torch.Tensor, frame: VerdictFrame, labels: Any) -> torch.Tensor:
    """The logits of the three verdict tokens at every slot of given answers, in one forward; differentiable.

    Args:
        model: A causal language model, in training or in evaluation.
        prompt_ids: `[P] int64`, at least one token.
        frame: The answers' frame.
        labels: `[G, K]`, class ids (0, 1, 2) of the verdicts that each answer gives.

    Returns:
        `[G, K, 3] float32`, calibrated as the frame says: with softmax over the last axis what `draw_verdicts` draws
        from.
    """
    classes = torch.as_tensor(labels, dtype=torch.int64)
    _check_labels(classes, len(frame.slots))
    if classes.numel() == 0:
        return torch.zeros(*classes.shape, 3, device=device_of(model))
    prompt = torch.cat([prompt_ids, torch.tensor(frame.forced[0], dtype=torch.int64, device=prompt_ids.device)])
    answers = [torch.tensor(_after_first_block(frame, row)) for row in classes.tolist()]
    slots = _slots_after_first_block(frame)
    logits = answer_logits(model, prompt, answers, [slots] * len(answers))
    return frame.calibration.of(torch.stack(logits)[..., list(frame.verdict_ids)])


def _after_first_block(frame: VerdictFrame, classes: Sequence[int]) -> list[int]:
    """What follows the first forced block, up to the last verdict."""
    ids = [frame.verdict_ids[classes[0]]]
    for block, label in zip(frame.forced[1:], classes[1:], strict=False):
        ids += [*block, frame.verdict_ids[label]]
    return ids


def _slots_after_first_block(frame: VerdictFrame) -> list[int]:
    widths = [1 + len(block) for block in frame.forced[1 : len(frame.slots)]]
    return [0, *np.cumsum(widths, dtype=np.int64).tolist()]


def _draw(
    reader: FrameReader,
    prefixes: Sequence[torch.Tensor],
    frames: Sequence[VerdictFrame],
    chances: Sequence[torch.Tensor],
    temperature: float,
) -> list[Rollout]:
    answers = chances[0].shape[0]
    verdict_ids = torch.tensor([frame.verdict_ids for frame in frames])
    calibrations = [frame.calibration for frame in frames]
    labels = [np.zeros(chance.shape, dtype=np.int64) for chance in chances]
    probs = [np.zeros((*chance.shape, 3), dtype=np.float64) for chance in chances]
    slots = max(chance.shape[1] for chance in chances)
    logits = reader.start(prefixes, answers) if slots else torch.empty(0)
    for slot in range(slots):
        three = _softmax_of_three(logits, verdict_ids, calibrations, temperature)
        for row, chance in enumerate(chances):
            if slot < chance.shape[1]:
                probs[row][:, slot] = three[row]
                labels[row][:, slot] = _pick(three[row], chance[:, slot], temperature)
        if slot + 1 < slots:
            logits = reader.read([_blocks(*pair, slot) for pair in zip(frames, labels, strict=True)])
    return [_rollout(*pair) for pair in zip(labels, probs, strict=True)]


def _blocks(frame: VerdictFrame, labels: npt.NDArray[np.int64], slot: int) -> list[list[int]]:
    """For each answer the verdict of a slot and the forced tokens up to the next one; nothing after the last."""
    if slot + 1 >= len(frame.slots):
        return []
    return [[frame.verdict_ids[label], *frame.forced[slot + 1]] for label in labels[:, slot]]


def _softmax_of_three(
    logits: torch.Tensor, verdict_ids: torch.Tensor, calibrations: Sequence[Calibration], temperature: float
) -> npt.NDArray[np.float64]:
    """`[B, G, V]` logits → `[B, G, 3]` probabilities."""
    wanted = verdict_ids.to(logits.device)[:, None, :].expand(-1, logits.shape[1], -1)
    three = logits.gather(-1, wanted).to("cpu", torch.float64)
    calibrated = torch.stack([how.of(row) for how, row in zip(calibrations, three, strict=True)])
    return (calibrated / (temperature or 1.0)).softmax(-1).numpy()


def _pick(probs: npt.NDArray[np.float64], chance: torch.Tensor, temperature: float) -> npt.NDArray[np.int64]:
    """Class ids for `[G, 3]` probabilities, by inversion of the distribution function."""
    below = np.cumsum(probs, axis=-1)[:, :2] <= chance.numpy()[:, None]
    return np.asarray(probs.argmax(-1) if temperature == 0 else below.sum(-1), dtype=np.int64)


def _chances(answers: int, slots: int, generator: torch.Generator | None) -> torch.Tensor:
    """`[G, K]` uniform numbers in [0, 1), on the CPU."""
    device = generator.device if generator is not None else torch.device("cpu")
    return torch.rand(answers, slots, dtype=torch.float64, generator=generator, device=device).cpu()


def _rollout(labels: npt.NDArray[np.int64], probs: npt.NDArray[np.float64]) -> Rollout:
    drawn = np.take_along_axis(probs, labels[..., None], axis=-1)[..., 0]
    return Rollout(labels, np.log(drawn).astype(np.float32), probs.astype(np.float32))


def _repeat(rollout: Rollout, n: int) -> Rollout:
    return Rollout(
        np.repeat(rollout.labels, n, axis=0),
        np.repeat(rollout.logprobs, n, axis=0),
        np.repeat(rollout.probs, n, axis=0),
    )


def _check(prompts: Sequence[torch.Tensor], n: int, temperature: float) -> None:
    if n < 1:
        raise ConfigError.at("n", "must be at least 1", n, "ask for an answer")
    if not temperature >= 0:
        raise ConfigError.at("temperature", "must be 0 (greedy) or more", temperature, "change it")
    for number, prompt in enumerate(prompts):
        if len(prompt) == 0:
            raise ConfigError.at(f"prompts[{number}]", "must hold a token", 0, "give a prompt, at least a BOS token")


def _check_labels(classes: torch.Tensor, slots: int) -> None:
    if classes.ndim != 2 or classes.shape[1] != slots:
        raise ConfigError.at("labels", f"must have the shape [G, {slots}]", tuple(classes.shape), "give each slot one")
    if classes.numel() and not 0 <= int(classes.min()) <= int(classes.max()) <= 2:
        raise ConfigError.at("labels", "must be class ids 0, 1 or 2", int(classes.max()), "add 1 to labels of -1 to 1")
