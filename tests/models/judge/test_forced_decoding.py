"""Verdicts drawn in a forced frame are those of plain sequential decoding in the same frame."""

from __future__ import annotations

import itertools
import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prm.errors import ConfigError
from prm.models.judge.answer import VerdictFrame
from prm.models.judge.calibration import Calibration
from prm.models.judge.forced_decoding import Rollout, draw_verdicts, draw_verdicts_batch, verdict_logits
from prm.models.judge.frame_readers import BatchReader, PackedReader, RereadingReader, reader_of_one_prompt
from prm.models.shared_prefix import answer_logits, supports_shared_prefix
from prm.types import LABELS
from tests.models.judge.frames import VERDICTS, frame_of, stock_greedy, stock_logits
from tests.models.shared_prefix.models import ids, random_ids, tiny_model

PROMPT = random_ids(11, 1)
FRAME = frame_of(5)
SHARING = ("llama", "qwen", "gpt2")
NOT_SHARING = ("mistral", "gemma2", "mamba", "bloom")
CLOSE = 1e-5


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def assert_follows(rollout: Rollout, model: Any, prompt: torch.Tensor, frame: VerdictFrame) -> None:
    """Every distribution is the one that plain decoding has at that slot of that answer."""
    for labels, logprobs, probs in zip(rollout.labels, rollout.logprobs, rollout.probs, strict=True):
        expected = stock_logits(model, prompt, frame, labels).softmax(-1).numpy()
        assert np.abs(probs - expected).max() < CLOSE
        assert np.abs(np.exp(logprobs) - np.take_along_axis(expected, labels[:, None], 1)[:, 0]).max() < CLOSE


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", [*SHARING, "cohere"])
def test_each_answer_follows_the_distributions_of_plain_decoding(family: str, attention: str) -> None:
    model = tiny_model(family, attention)
    assert supports_shared_prefix(model) is None
    rollout = draw_verdicts(model, PROMPT, FRAME, 6, generator=seeded())
    assert rollout.labels.shape == (6, 5)
    assert rollout.labels.dtype == np.int64
    assert rollout.logprobs.dtype == rollout.probs.dtype == np.float32
    assert len({tuple(row) for row in rollout.labels.tolist()}) > 1
    assert_follows(rollout, model, PROMPT, FRAME)


@pytest.mark.parametrize("family", NOT_SHARING)
def test_a_model_that_cannot_share_the_prompt_draws_the_same_way(family: str, caplog: pytest.LogCaptureFixture) -> None:
    model = tiny_model(family)
    with caplog.at_level(logging.WARNING, logger="prm"):
        rollout = draw_verdicts(model, PROMPT, FRAME, 4, generator=seeded())
        draw_verdicts(model, PROMPT, FRAME, 1)
    assert sum("the prompt is read once for each answer" in record.message for record in caplog.records) == 1
    assert_follows(rollout, model, PROMPT, FRAME)


@pytest.mark.parametrize("family", [*SHARING, *NOT_SHARING])
def test_greedy_takes_what_plain_decoding_finds_most_probable(family: str) -> None:
    model = tiny_model(family)
    rollout = draw_verdicts(model, PROMPT, FRAME, 3, temperature=0)
    assert rollout.labels.tolist() == [stock_greedy(model, PROMPT, FRAME)] * 3
    assert_follows(rollout, model, PROMPT, FRAME)


@pytest.mark.parametrize(("family", "reader"), [("llama", BatchReader), ("mistral", BatchReader), ("bloom", BatchReader), ("mamba", RereadingReader)])  # fmt: skip
def test_the_reader_suits_the_model(family: str, reader: type) -> None:
    assert isinstance(reader_of_one_prompt(tiny_model(family)), reader)


def test_all_readers_give_the_same_logits() -> None:
    model = tiny_model("qwen")
    blocks = [[[VERDICTS[label], 30, 31] for label in (0, 2, 2)]]
    following = [[[VERDICTS[label]] for label in (1, 1, 0)]]
    found = []
    with torch.no_grad():
        for reader in (PackedReader(model, 0), BatchReader(model), RereadingReader(model)):
            found.append([reader.start([PROMPT], 3), reader.read(blocks), reader.read(following)])
    for logits in found:
        for part, expected in zip(logits, found[-1], strict=True):
            assert part.shape == (1, 3, 60)
            assert float((part - expected).abs().max()) < CLOSE


def test_the_prompt_is_read_once_and_every_verdict_costs_one_pass() -> None:
    """Prompt and first block: 11 + 1 tokens. Then 3 verdicts with blocks of 0, 3, 1 and 2 tokens, never the last."""
    model = tiny_model("llama")
    supports_shared_prefix(model)
    widths: list[tuple[int, ...]] = []
    model.model.embed_tokens.register_forward_pre_hook(lambda module, args: widths.append(tuple(args[0].shape)))
    draw_verdicts(model, PROMPT, FRAME, 3, generator=seeded())
    assert [len(block) for block in FRAME.forced] == [1, 0, 3, 1, 2, 1]
    assert widths == [(1, 12), (1, 3 * 1), (1, 3 * 4), (1, 3 * 2), (1, 3 * 3)]


def test_the_same_generator_gives_the_same_answers() -> None:
    model = tiny_model("llama")
    first = draw_verdicts(model, PROMPT, FRAME, 20, generator=seeded(3))
    again = draw_verdicts(model, PROMPT, FRAME, 20, generator=seeded(3))
    other = draw_verdicts(model, PROMPT, FRAME, 20, generator=seeded(4))
    assert (first.labels == again.labels).all()
    assert (first.labels != other.labels).any()


def test_without_a_generator_the_global_seed_counts() -> None:
    model = tiny_model("llama")
    torch.manual_seed(5)
    first = draw_verdicts(model, PROMPT, FRAME, 20)
    torch.manual_seed(5)
    assert (first.labels == draw_verdicts(model, PROMPT, FRAME, 20).labels).all()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_verdicts_come_as_often_as_they_are_probable(temperature: float) -> None:
    """Chi-square over all nine answers of two slots; 3,000 draws with a fixed seed."""
    model, frame = tiny_model("llama"), frame_of(2)
    all_answers = list(itertools.product(range(3), repeat=2))
    with torch.no_grad():
        logits = verdict_logits(model, PROMPT, frame, all_answers) / temperature
    picked = logits.log_softmax(-1).gather(-1, torch.tensor(all_answers)[..., None])[..., 0]
    expected = picked.sum(-1).exp().double().numpy()
    assert expected.sum() == pytest.approx(1, abs=1e-6)
    generator = seeded(0)
    drawn = [draw_verdicts(model, PROMPT, frame, 100, temperature=temperature, generator=generator) for _ in range(30)]
    counts = np.bincount(np.concatenate([rollout.labels for rollout in drawn]) @ np.array([3, 1]), minlength=9)
    assert (expected * 3000 >= 5).all()
    assert stats.chisquare(counts, expected / expected.sum() * 3000).pvalue > 0.01


def test_a_wrong_distribution_would_be_noticed() -> None:
    """The power of the test above: the frequencies of temperature 1 do not pass as those of temperature 1.3."""
    model, frame = tiny_model("llama"), frame_of(1)
    rollout = draw_verdicts(model, PROMPT, frame, 3000, generator=seeded(0))
    warmer = draw_verdicts(model, PROMPT, frame, 1, temperature=1.3).probs[0, 0].astype(np.float64)
    counts = np.bincount(rollout.labels[:, 0], minlength=3)
    assert stats.chisquare(counts, warmer / warmer.sum() * 3000).pvalue < 1e-3


def test_temperature_divides_the_logits() -> None:
    model = tiny_model("llama")
    logits = stock_logits(model, PROMPT, FRAME, [0] * 5)[0]
    drawn = draw_verdicts(model, PROMPT, FRAME, 1, temperature=2.5, generator=seeded())
    assert drawn.probs[0, 0] == pytest.approx((logits / 2.5).softmax(-1).numpy(), abs=CLOSE)
    assert drawn.probs.sum(-1) == pytest.approx(np.ones((1, 5)), abs=1e-6)


def test_the_bias_of_a_frame_is_subtracted_before_anything_else() -> None:
    model = tiny_model("llama")
    greedy = draw_verdicts(model, PROMPT, FRAME, 1, temperature=0)
    logits = verdict_logits(model, PROMPT, FRAME, greedy.labels)[0, 0].tolist()
    equal = replace(FRAME, calibration=Calibration(2.0, (logits[0], logits[1], logits[2])))
    assert np.abs(draw_verdicts(model, PROMPT, equal, 1, temperature=0).probs[0, 0] - 1 / 3).max() < CLOSE
    never_good = replace(FRAME, calibration=Calibration(1.0, (0.0, 0.0, 1e6)))
    assert 2 not in draw_verdicts(model, PROMPT, never_good, 20, generator=seeded()).labels


def test_the_temperature_of_a_frame_is_always_there() -> None:
    model = tiny_model("llama")
    warm = replace(FRAME, calibration=Calibration(5.0))
    drawn = draw_verdicts(model, PROMPT, warm, 4, temperature=0.7, generator=seeded())
    plain = draw_verdicts(model, PROMPT, FRAME, 4, temperature=3.5, generator=seeded())
    assert (drawn.labels == plain.labels).all()
    assert np.abs(drawn.probs - plain.probs).max() < CLOSE
    greedy = draw_verdicts(model, PROMPT, warm, 1, temperature=0)
    logits = verdict_logits(model, PROMPT, warm, greedy.labels)
    assert np.abs(greedy.probs - logits.softmax(-1).detach().numpy()).max() < CLOSE
    cold = verdict_logits(model, PROMPT, FRAME, greedy.labels)
    torch.testing.assert_close(logits * 5, cold)
    assert greedy.labels.tolist() == draw_verdicts(model, PROMPT, FRAME, 1, temperature=0).labels.tolist()


def test_a_low_temperature_comes_to_the_greedy_answer() -> None:
    model = tiny_model("llama")
    cold = draw_verdicts(model, PROMPT, FRAME, 4, temperature=1e-3, generator=seeded())
    assert cold.labels.tolist() == [stock_greedy(model, PROMPT, FRAME)] * 4
    assert np.isfinite(cold.logprobs).all()


BATCH_PROMPTS = [random_ids(7, 11), random_ids(1, 12), random_ids(13, 13), random_ids(7, 14)]
BATCH_FRAMES = [frame_of(3), frame_of(6), frame_of(1), frame_of(4, (2, 3, 5))]


@pytest.mark.parametrize("family", [*SHARING, "mistral"])
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("n", [1, 3])
def test_a_batch_gives_what_its_prompts_give_one_after_the_other(family: str, attention: str, n: int) -> None:
    model = tiny_model(family, attention)
    together = draw_verdicts_batch(model, BATCH_PROMPTS, BATCH_FRAMES, 0, n=n, generator=seeded(2))
    generator = seeded(2)
    for rollout, prompt, frame in zip(together, BATCH_PROMPTS, BATCH_FRAMES, strict=True):
        alone = draw_verdicts(model, prompt, frame, n, generator=generator)
        assert (rollout.labels == alone.labels).all()
        assert np.abs(rollout.probs - alone.probs).max() < CLOSE
        assert np.abs(rollout.logprobs - alone.logprobs).max() < 1e-4
        assert_follows(rollout, model, prompt, frame)


def test_a_greedy_batch_is_greedy_for_each() -> None:
    model = tiny_model("qwen", "sdpa")
    for rollout, prompt, frame in zip(
        draw_verdicts_batch(model, BATCH_PROMPTS, BATCH_FRAMES, 0, temperature=0), BATCH_PROMPTS, BATCH_FRAMES, strict=True
    ):  # fmt: skip
        assert rollout.labels.tolist() == [stock_greedy(model, prompt, frame)]


def test_greedy_decoding_takes_no_random_numbers() -> None:
    model = tiny_model("llama")
    before = torch.get_rng_state()
    draw_verdicts(model, PROMPT, FRAME, 3, temperature=0)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_pad_token_does_not_matter() -> None:
    model = tiny_model("llama")
    one, other = (draw_verdicts_batch(model, BATCH_PROMPTS, BATCH_FRAMES, pad, temperature=0) for pad in (0, 7))
    for left, right in zip(one, other, strict=True):
        assert np.abs(left.probs - right.probs).max() < 1e-6


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=4), st.integers(1, 3))
def test_any_mix_of_lengths_and_frames_can_be_a_batch(sizes: list[tuple[int, int]], n: int) -> None:
    model = _MODELS.setdefault("llama", tiny_model("llama"))
    prompts = [random_ids(length, length) for length, _ in sizes]
    frames = [frame_of(slots) for _, slots in sizes]
    found = draw_verdicts_batch(model, prompts, frames, 0, n=n, generator=seeded())
    assert [rollout.probs.shape for rollout in found] == [(n, slots, 3) for _, slots in sizes]
    for rollout, prompt, frame in zip(found, prompts, frames, strict=True):
        if frame.slots:
            assert_follows(rollout, model, prompt, frame)


_MODELS: dict[str, Any] = {}


def test_no_prompts_give_no_answers() -> None:
    assert draw_verdicts_batch(_MODELS.setdefault("llama", tiny_model("llama")), [], [], 0) == []


def test_drawing_in_the_middle_of_training_has_no_dropout_and_no_trace() -> None:
    model = tiny_model("gpt2")
    expected = draw_verdicts(model, PROMPT, FRAME, 4, generator=seeded())
    model.train()
    model.gradient_checkpointing_enable()
    drawn = draw_verdicts(model, PROMPT, FRAME, 4, generator=seeded())
    assert (drawn.labels == expected.labels).all()
    assert np.abs(drawn.probs - expected.probs).max() < 1e-6
    assert all(module.training for module in model.modules())
    assert all(p.grad is None for p in model.parameters())


def test_logits_of_given_verdicts_are_those_the_verdicts_were_drawn_from() -> None:
    for family in (*SHARING, "mistral"):
        model = tiny_model(family)
        rollout = draw_verdicts(model, PROMPT, FRAME, 5, generator=seeded())
        logits = verdict_logits(model, PROMPT, FRAME, rollout.labels)
        assert logits.dtype == torch.float32
        assert np.abs(logits.softmax(-1).detach().numpy() - rollout.probs).max() < CLOSE


def test_logits_of_given_verdicts_are_those_of_the_whole_answer_at_its_verdict_positions() -> None:
    model = tiny_model("llama")
    labels = [[0, 1, 2, 2, 0], [2, 2, 2, 2, 2]]
    answers = [torch.tensor(FRAME.ids([LABELS[k] for k in row])) for row in labels]
    with torch.no_grad():
        whole = answer_logits(model, PROMPT, answers)
        expected = torch.stack([part[FRAME.verdict_positions()][:, list(VERDICTS)] for part in whole])
        assert float((verdict_logits(model, PROMPT, FRAME, labels) - expected).abs().max()) < CLOSE


def test_logits_of_given_verdicts_have_the_gradient_of_plain_forwards() -> None:
    model = tiny_model("llama", "sdpa").train()
    labels = torch.tensor([[0, 1, 2, 2, 0], [2, 2, 1, 0, 1], [2, 2, 1, 0, 1]])

    def gradient(logits: torch.Tensor) -> torch.Tensor:
        model.zero_grad()
        logits.log_softmax(-1).gather(-1, labels[..., None]).mean().backward()
        return torch.cat([p.grad.flatten() for p in model.parameters()])

    packed = gradient(verdict_logits(model, PROMPT, FRAME, labels))
    rows = []
    for row in labels.tolist():
        text = torch.cat([PROMPT, torch.tensor(FRAME.ids([LABELS[k] for k in row]))])
        places = [len(PROMPT) - 1 + position for position in FRAME.verdict_positions()]
        rows.append(model(input_ids=text[None]).logits[0, places][:, list(VERDICTS)])
    plain = gradient(torch.stack(rows))
    assert float((packed - plain).norm()) < 1e-4 * float(plain.norm())
    assert float(plain.norm()) > 1e-2


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_rollout_and_loss_agree_under_bf16(attention: str) -> None:
    model = tiny_model("qwen", attention)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rollout = draw_verdicts(model, PROMPT, FRAME, 8, generator=seeded())
        logits = verdict_logits(model, PROMPT, FRAME, rollout.labels)
    assert logits.dtype == torch.float32
    difference = np.abs(logits.softmax(-1).detach().numpy() - rollout.probs)
    assert difference.mean() < 5e-3
    assert difference.max() < 0.04


def test_a_prompt_of_one_token_and_one_slot() -> None:
    model = tiny_model("llama")
    rollout = draw_verdicts(model, ids(4), frame_of(1), 2, generator=seeded())
    assert_follows(rollout, model, ids(4), frame_of(1))


def test_a_frame_that_begins_with_a_verdict() -> None:
    model = tiny_model("llama")
    frame = VerdictFrame(((), (21,), (22,)), VERDICTS, (1, None))
    rollout = draw_verdicts(model, PROMPT, frame, 3, generator=seeded())
    assert_follows(rollout, model, PROMPT, frame)
    with torch.no_grad():
        logits = verdict_logits(model, PROMPT, frame, rollout.labels)
    assert np.abs(logits.softmax(-1).numpy() - rollout.probs).max() < CLOSE


def test_a_frame_without_slots_has_no_verdicts() -> None:
    rollout = draw_verdicts(tiny_model("llama"), PROMPT, frame_of(0), 2)
    assert rollout.labels.shape == rollout.logprobs.shape == (2, 0)
    assert rollout.probs.shape == (2, 0, 3)
    assert verdict_logits(tiny_model("llama"), PROMPT, frame_of(0), np.zeros((2, 0))).shape == (2, 0, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n: must be at least 1, got 0; ask for an answer"),
        ({"temperature": -1.0}, "temperature: must be 0 (greedy) or more, got -1.0; change it"),
        ({"temperature": float("nan")}, "temperature: must be 0 (greedy) or more, got nan; change it"),
        ({"prompt_ids": ids()}, "prompts[0]: must hold a token, got 0; give a prompt, at least a BOS token"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments: dict[str, Any], message: str) -> None:
    model = _MODELS.setdefault("llama", tiny_model("llama"))
    with pytest.raises(ConfigError) as error:
        draw_verdicts(model, **{"prompt_ids": PROMPT, "frame": FRAME, "n": 1, **arguments})
    assert str(error.value) == message


@pytest.mark.parametrize("labels", [[0, 1, 2, 2, 0], [[0, 1, 2]], [[0, 1, 2, 2, -1]], [[0, 1, 2, 2, 3]]])
def test_wrong_labels_are_refused(labels: Any) -> None:
    model = _MODELS.setdefault("llama", tiny_model("llama"))
    with pytest.raises(ConfigError, match=r"^labels: must "):
        verdict_logits(model, PROMPT, FRAME, labels)
