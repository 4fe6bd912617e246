"""Log-probabilities of verdicts: packed groups give what single rows give, values and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from prm.models.shared_prefix import answer_logits, separate_answer_logits
from prm.training.grpo.log_probs import Batch, Choice, drawn_class, entropy_of, of_class, verdict_log_probs
from tests.training.grpo.toys import scattered, tiny_judge, toy_example

READERS = [answer_logits, separate_answer_logits]


def _batch() -> tuple[Batch, torch.Tensor, tuple[int, int, int]]:
    """Two groups of two answers, prompts and answers of different lengths, padded as TRL pads them."""
    examples = [toy_example(1, [1, -1]), toy_example(22, [0, 1, 1, -1])]
    frame = examples[0].frame
    assert frame is not None
    rows = []
    for row in range(4):
        example = examples[row // 2]
        assert example.frame is not None
        answer = example.frame.ids([(-1, 0, 1)[scattered(row, slot)] for slot in range(len(example.gold))])
        rows.append((list(example.prompt.input_ids), answer, example.frame.verdict_positions()))
    before, after = max(len(p) for p, _, _ in rows), max(len(a) for _, a, _ in rows)
    ids, mask = torch.full((4, before + after), 1), torch.zeros(4, before + after, dtype=torch.int64)
    slots = torch.zeros(4, after, dtype=torch.bool)
    for row, (prompt, answer, places) in enumerate(rows):
        ids[row, before - len(prompt) : before + len(answer)] = torch.tensor(prompt + answer)
        mask[row, before - len(prompt) : before + len(answer)] = 1
        slots[row, places] = True
    return Batch(ids, mask, after), slots, frame.verdict_ids


def _one_by_one(model: Any, batch: Batch, slots: torch.Tensor, ids: tuple[int, int, int], t: float) -> torch.Tensor:
    found = torch.zeros(*slots.shape, 3)
    for row in range(len(slots)):
        prompt, answer = batch.prompt(row), batch.answer(row)
        logits = model(input_ids=torch.cat([prompt, answer])[None]).logits[0, len(prompt) - 1 : -1]
        three = (logits[:, list(ids)] / t).log_softmax(-1)
        found[row, : len(answer)] = three * slots[row, : len(answer), None]
    return found


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_groups_give_what_rows_alone_give(read: Any, temperature: float) -> None:
    batch, slots, ids = _batch()
    model = tiny_judge()
    found = verdict_log_probs(model, batch, slots, Choice(ids, temperature=temperature), read)
    torch.testing.assert_close(found, _one_by_one(model, batch, slots, ids, temperature), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.exp().sum(-1)[slots], torch.ones(int(slots.sum())))


@pytest.mark.parametrize("read", READERS)
def test_the_gradients_are_the_same_too(read: Any) -> None:
    batch, slots, ids = _batch()
    gradients = []
    for way in (
        lambda m: verdict_log_probs(m, batch, slots, Choice(ids), read),
        lambda m: _one_by_one(m, batch, slots, ids, 1.0),
    ):
        model = tiny_judge()
        of_class(way(model), drawn_class(batch, ids)).mul(torch.arange(slots.shape[1])).sum().backward()
        gradients.append([weight.grad for weight in model.parameters()])
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second, atol=1e-4, rtol=1e-3)


def test_groups_are_stretches_of_one_prompt() -> None:
    batch, _, _ = _batch()
    assert [list(rows) for _, rows in batch.groups()] == [[0, 1], [2, 3]]


def test_the_drawn_class_is_read_from_the_answer() -> None:
    batch, slots, ids = _batch()
    assert drawn_class(batch, ids)[slots].tolist() == [
        scattered(row, slot) for row in range(4) for slot in range(2 if row < 2 else 4)
    ]


def test_entropy_of_equal_chances_is_log_three() -> None:
    assert entropy_of(torch.full((1, 1, 3), 1 / 3).log()).item() == pytest.approx(1.0986, abs=1e-4)
