"""The benchmark of a GRPO step compares two sides that read the same; nothing here looks at a time."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import bench
from benchmarks import grpo_same
from benchmarks.grpo import check_lengths, foretold, micro_batches
from benchmarks.grpo_problem import Policy, Problem, every_token, fixed_answers, fixed_classes, make_problem
from benchmarks.grpo_same import TOLERANCES, check_same, differences
from benchmarks.grpo_sides import Step, shared_step, stock_step

from prm.errors import ModelError
from prm.models.shared_prefix import answer_logits
from prm.training.grpo.rollout import Drawing, Stretch, draw_answers
from tests.models.shared_prefix.models import tiny_model
from tests.tiny import byte_level_tokenizer, save_llama


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """A tiny Llama, two of its three layers kept and one trained."""
    return Policy(str(save_llama(tmp_path_factory.mktemp("model"))), num_layers=2, trainable_layers=1)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem(byte_level_tokenizer(), 40, 12, 4)


def step(tokens: int = 0, grown: float | None = None) -> Step:
    return Step(1.0, 2.0, tokens, grown, grown)


# The problem


@pytest.mark.parametrize("tokens", [30, 64, 200])
def test_a_prompt_is_as_long_as_asked_and_reads_back_to_its_ids(tokens: int) -> None:
    tokenizer = byte_level_tokenizer()
    prompt = make_problem(tokenizer, tokens, 12, 2).example.prompt
    assert len(prompt.input_ids) == pytest.approx(tokens, abs=2)
    assert tuple(tokenizer(text=[prompt.text])["input_ids"][0]) == prompt.input_ids


def test_a_model_that_cannot_share_a_prompt_is_refused(tmp_path: Path) -> None:
    model = tiny_model("mistral")
    model.save_pretrained(tmp_path)
    byte_level_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="model: must be able to share a prompt, got 'it attends in a sliding window"):
        Policy(str(tmp_path)).load()


def test_the_answer_is_the_nearest_whole_frame() -> None:
    # This tokenizer writes 4 tokens for a one-digit step with its verdict; the end of the turn included.
    tokenizer = byte_level_tokenizer()
    lengths = {asked: make_problem(tokenizer, 30, asked, 2) for asked in (1, 9, 11, 12)}
    assert [problem.verdicts for problem in lengths.values()] == [1, 2, 3, 3]
    for problem in lengths.values():
        assert len(problem.frame.ids([0] * problem.verdicts)) == problem.answer_tokens


def test_the_fixed_answers_are_right_in_ever_more_verdicts(problem: Problem) -> None:
    # Labels −1, 0, +1 are the class ids 0, 1, 2; what is wrong is the next class.
    assert problem.example.gold == (0, 1, 2)
    assert fixed_classes(problem).tolist() == [[1, 2, 0], [0, 2, 0], [0, 1, 0], [0, 1, 2]]


# The sides


def test_both_sides_read_the_same_prompts_and_draw_answers_of_the_same_length(policy: Policy, problem: Problem) -> None:
    group, prompt = problem.group, problem.prompt_tokens
    stock = [stock_step(policy, problem, size, 0) for size in (1, 4)]
    assert [taken.tokens for taken in stock] == [group * (prompt + problem.answer_tokens)] * 2
    # Ours counts what it draws: the verdicts.
    assert shared_step(policy, problem, 0).tokens == group * (prompt + problem.verdicts)
    assert all(taken.rollout > 0 and taken.loss > 0 for taken in stock)


def test_sides_of_other_lengths_are_not_compared(problem: Problem) -> None:
    right = problem.group * (problem.prompt_tokens + problem.answer_tokens)
    check_lengths(problem, {"stock": [step(right)]})
    with pytest.raises(AssertionError, match="stock: a step of"):
        check_lengths(problem, {"stock": [step(right), step(right - 1)]})


class _Trainer:
    """What a rollout asks of a trainer."""

    def __init__(self, policy: Policy, problem: Problem) -> None:
        self.batch = [problem.example] * problem.group
        self.passes = 0
        self.model = policy.load()
        self.model.register_forward_hook(self._count)

    def _count(self, *_: Any) -> None:
        self.passes += 1

    @contextlib.contextmanager
    def judging_model(self) -> Iterator[Any]:
        with torch.no_grad():
            yield self.model.eval()


def test_the_stated_passes_are_made(policy: Policy, problem: Problem) -> None:
    trainer = _Trainer(policy, problem)
    every_token(problem)([], trainer)
    assert trainer.passes == problem.answer_tokens == 12
    trainer.passes = 0
    groups = [Stretch(problem.example, problem.group)]
    draw_answers(trainer.model, groups, Drawing(1.0, 0), torch.Generator())
    assert trainer.passes == problem.verdicts == 3


def test_the_fixed_answers_are_the_same_in_both_rollouts(policy: Policy, problem: Problem) -> None:
    ours, stock = every_token(problem)([], _Trainer(policy, problem)), fixed_answers(problem)([], None)
    assert "env_mask" not in stock  # all tokens count
    assert all(ours[name] == stock[name] for name in ("prompt_ids", "completion_ids"))


# The same loss and gradient


def test_a_shared_prefix_has_the_stock_loss_gradient_and_update(policy: Policy, problem: Problem) -> None:
    found = differences(policy, problem)
    assert found.keys() == TOLERANCES.keys()
    check_same(found)


def test_other_logits_are_found_out(policy: Policy, problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def warmer(*arguments: Any) -> list[torch.Tensor]:
        return [logits * 1.01 for logits in answer_logits(*arguments)]

    monkeypatch.setattr(grpo_same, "answer_logits", warmer)
    with pytest.raises(AssertionError, match="log_probs"):
        check_same(differences(policy, problem))


@pytest.mark.parametrize("name", list(TOLERANCES))
@pytest.mark.parametrize("value", [2e-3, float("nan")])
def test_sides_that_differ_are_not_compared(name: str, value: float) -> None:
    with pytest.raises(AssertionError, match=f"{name}: shared prefix and stock differ"):
        check_same({**dict.fromkeys(TOLERANCES, 0.0), name: value})


# The stock side's micro-batch


def test_the_next_micro_batch_is_foretold_on_a_line() -> None:
    assert foretold([], 1) == 0
    assert foretold([(2, 30.0)], 4) == 60
    assert foretold([(1, 10.0), (2, 30.0), (4, 50.0)], 8) == 90  # 10 for each one more


def _trial(refuse: Callable[[int], bool], tried: list[int], grown: float | None = None) -> Callable[[int], Step]:
    def trial(size: int) -> Step:
        tried.append(size)
        if refuse(size):
            raise torch.OutOfMemoryError
        return step(grown=grown)

    return trial


def test_every_divisor_that_fits_is_tried() -> None:
    tried: list[int] = []
    assert list(micro_batches(_trial(lambda size: False, tried), 12)) == tried == [1, 2, 3, 4, 6, 12]


def test_what_does_not_fit_ends_the_trials() -> None:
    tried: list[int] = []
    assert list(micro_batches(_trial(lambda size: size > 2, tried), 8)) == [1, 2]
    assert tried == [1, 2, 4]


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux says what memory is free")
def test_what_will_not_fit_is_not_tried() -> None:
    tried: list[int] = []
    micro_batches(_trial(lambda size: False, tried, grown=1e12), 8)
    assert tried == [1]


# The whole


def test_the_benchmark_prints_a_ratio_first_and_appends_a_line_for_each_setting(
    policy: Policy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench.jsonl"
    model = ["--model", policy.name, "--layers", "2", "--trainable-layers", "1"]
    sizes = ["--prompt-tokens", "40", "--answer-tokens", "8", "--group", "2", "3", "--repeats", "1"]
    bench.main(["grpo", *model, *sizes, "--out", str(out)])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2
    assert all(float(line.partition("×")[0]) > 0 for line in printed)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(record["bench"], record["group"]) for record in records] == [("grpo", 2), ("grpo", 3)]
    for record in records:
        assert record["prompt_tokens"] == pytest.approx(40, abs=2)
        assert record["answer_tokens"] == 8
        assert record["ratio"] == pytest.approx(record["stock_seconds"] / record["shared_seconds"], rel=1e-3)
        assert record["rollout_passes"] == {"stock": 8, "shared": 2, "every token": 8}
        assert record["difference"].keys() == TOLERANCES.keys()
        assert record["sizes"]["stock_micro_batch"] in (1, record["group"])
        assert record["sizes"]["stock_by_micro_batch"].keys() == {"1", str(record["group"])}
        assert {"peak_megabytes", "ratio_loss", "ratio_every_token", "commit", "versions", "machine"} <= record.keys()


def test_a_group_of_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["grpo", "--group", "1"])
    assert "a group needs 2 answers or more, got 1; raise it" in capsys.readouterr().err
