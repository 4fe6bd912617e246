"""A judge whose model runs here: any causal language model of Hugging Face, trained by prm or not.

A compact answer is decoded in its forced frame: each verdict is the most probable of three tokens, or drawn from them,
so an answer is never malformed. A json answer, or a compact one with ``decoding="free"``, is generated and parsed.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import torch
from transformers import AutoTokenizer

from prm.errors import ConfigError, InputError, LabelLossError
from prm.models.backbone import LoadOptions
from prm.models.batching import batch_by_tokens
from prm.models.fetch import resolve_model
from prm.models.judge.answer import CompactForm, VerdictFrame, compact_form
from prm.models.judge.calibration import UNCALIBRATED
from prm.models.judge.checkpoint import JudgeInfo, load_judge_model, read_judge_info
from prm.models.judge.forced_decoding import draw_verdicts_batch
from prm.models.judge.generation import GenerationLimits, generate_answers
from prm.models.judge.prompt import JudgePrompt, JudgePromptBuilder, JudgePromptConfig
from prm.models.judge.verdicts import Reading, failed_prediction, reading_of_rollout, reading_of_texts
from prm.models.reachable import reachable
from prm.models.scoring import ALONE, Shard, in_chunks
from prm.models.step_classifier import parse_dtype
from prm.types import Prediction, Trajectory

Decoding: TypeAlias = Literal["forced", "free"]
"""``forced``: only the verdicts are the model's (compact answers). ``free``: the whole answer is."""

CHUNK = 16
"""Trajectories that are judged together and written together."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How answers come about.

    Attributes:
        samples: Answers to each prompt; of several the vote of each step counts.
        temperature: 0 = greedy.
        seed: Fixes the draws, together with the runs that are judged together.
        decoding: See `Decoding`; json answers are free always.
        max_answer_tokens: Tokens of a free answer at most.
        tokens_per_batch: Padded tokens of prompts and answers in one batch.
        autocast: Arithmetic type where it differs from the weights'; None = the weights'.
    """

    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    decoding: Decoding = "forced"
    max_answer_tokens: int = 1024
    tokens_per_batch: int = 8192
    autocast: torch.dtype | None = None

    def __post_init__(self) -> None:
        for name in ("samples", "max_answer_tokens", "tokens_per_batch"):
            if getattr(self, name) < 1:
                raise ConfigError.at(name, "must be at least 1", getattr(self, name), "raise it")
        if not 0 <= self.temperature < float("inf"):
            raise ConfigError.at("temperature", "must be 0 (greedy) or more", self.temperature, "change it")
        if self.samples > 1 and self.temperature == 0:
            raise ConfigError.at("samples", "greedy answers are all the same", self.samples, "set a temperature")
        if self.decoding not in get_args(Decoding):
            raise ConfigError.at("decoding", f"must be one of {', '.join(get_args(Decoding))}", self.decoding, "fix it")


@dataclass(frozen=True, slots=True)
class _Question:
    """A prompt, the frame of its answer where that is forced, and the tokens that both take."""

    prompt: JudgePrompt
    frame: VerdictFrame | None
    tokens: int


class LocalJudge:
    """A causal language model that judges runs; implements `prm.models.judge.interface.Judge`.

    Probabilities of a forced answer are a softmax over the three verdict tokens (of temperature T where answers are
    sampled), given the verdicts that the judge gave before; over several answers they are averaged, which estimates
    each step's own distribution. `final_prob` is p₊₁ of the outcome's verdict, as for the step classifier.
    Probabilities of free answers are the shares of their votes, and absent for a single answer.

    Attributes:
        model: The Hugging Face model, in evaluation mode.
        tokenizer: Its tokenizer.
        info: How it is asked.
        options: How it answers.

    Raises:
        ConfigError: Free answers of a judge whose verdicts are calibrated; they would be read without that.
    """

    def __init__(self, model: Any, tokenizer: Any, info: JudgeInfo, options: JudgeOptions | None = None) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.info = info
        self.options = options or JudgeOptions()
        if not self._forced and info.calibration != UNCALIBRATED and info.prompt.answer_format == "compact":
            todo = "read its answers forced"
            raise ConfigError.at("decoding", "of a judge whose verdicts are calibrated must be forced", "free", todo)
        self._builder = JudgePromptBuilder(tokenizer, info.prompt)

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        *,
        prompt: JudgePromptConfig | None = None,
        options: JudgeOptions | None = None,
        device: str | torch.device | None = None,
        dtype: str = "float32",
        attn_implementation: str | None = None,
        trust_remote_code: bool = False,
    ) -> LocalJudge:
        """Loads a judge that prm trained (full weights or a LoRA adapter), or any causal model.

        Args:
            path: Folder, hub id, or the name of a base model such as ``smollm2-135m``.
            prompt: How it is asked; None = as its checkpoint says, the defaults for a model that says nothing.
            options: How it answers.
            device: "cpu", "cuda" …; None = the GPU where there is one.
            dtype: "float32", "bfloat16" or "float16".
            attn_implementation: As in transformers.
            trust_remote_code: As in transformers.

        Raises:
            DownloadError: The model is not to be had. ModelError: It cannot judge.
            ConfigError: An unknown `dtype`.
        """
        weights = parse_dtype(dtype)
        folder = resolve_model(str(path))
        stored = read_judge_info(folder) or JudgeInfo(JudgePromptConfig())
        info = stored if prompt is None else replace(stored, prompt=prompt)
        model = load_judge_model(folder, LoadOptions(weights, attn_implementation, trust_remote_code))
        with reachable(folder):
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
        return cls(model.to(device or ("cuda" if torch.cuda.is_available() else "cpu")), tokenizer, info, options)

    def judge(self, trajectories: Iterable[Trajectory]) -> Iterator[Prediction]:
        """One prediction for each trajectory, in order; see `Judge.judge`."""
        for chunk in in_chunks(trajectories, CHUNK):
            yield from self.judge_shard(chunk)

    def judge_shard(
        self,
        trajectories: Sequence[Trajectory],
        shard: Shard = ALONE,
        gather: Callable[[dict[int, Prediction]], dict[int, Prediction]] | None = None,
    ) -> list[Prediction]:
        """The predictions of some trajectories that are judged together.

        Args:
            trajectories: What to judge.
            shard: This process's part of the batches; gather: merges the processes' results into all of them.
        """
        questions: dict[int, _Question] = {}
        found: dict[int, Prediction] = {}
        for number, trajectory in enumerate(trajectories):
            try:
                questions[number] = self._question(trajectory)
            except (InputError, LabelLossError) as error:
                found[number] = failed_prediction(trajectory, str(error), self._about())
        judged: dict[int, Prediction] = {}
        for numbers in shard.share(self._batches(questions)):
            readings = self._read([questions[number] for number in numbers], [trajectories[n].key for n in numbers])
            for number, reading in zip(numbers, readings, strict=True):
                judged[number] = reading.prediction(trajectories[number], self._about())
        found |= judged if gather is None else gather(judged)
        return [found[number] for number in range(len(trajectories))]

    def _batches(self, questions: dict[int, _Question]) -> list[list[int]]:
        numbers = list(questions)
        batches = batch_by_tokens([questions[number].tokens for number in numbers], self.options.tokens_per_batch)
        return [[numbers[place] for place in batch] for batch in batches]

    def _question(self, trajectory: Trajectory) -> _Question:
        prompt = self._builder.build(trajectory)
        if not self._forced:
            answers = self.options.samples * self.options.max_answer_tokens
            return _Question(prompt, None, self.options.samples * len(prompt.input_ids) + answers)
        frame = self._form.frame(prompt.message_indices, outcome=self.info.prompt.outcome)
        answer = sum(len(block) + 1 for block in frame.forced)
        return _Question(prompt, frame, len(prompt.input_ids) + self.options.samples * answer)

    @property
    def _forced(self) -> bool:
        return self.info.prompt.answer_format == "compact" and self.options.decoding == "forced"

    @cached_property
    def _form(self) -> CompactForm:
        return compact_form(self.tokenizer, self.info.calibration)

    def _read(self, questions: Sequence[_Question], keys: Sequence[Any]) -> list[Reading]:
        """What the model says to the questions of one batch."""
        if not questions:
            return []
        seed = _seed_of(self.options.seed, keys)
        device = next(self.model.parameters()).device
        kind = self.options.autocast
        with torch.autocast(device.type, dtype=kind) if kind is not None else contextlib.nullcontext():
            return self._read_forced(questions, seed) if self._forced else self._read_free(questions, seed)

    def _read_forced(self, questions: Sequence[_Question], seed: int) -> list[Reading]:
        device = next(self.model.parameters()).device
        frames = [question.frame for question in questions if question.frame is not None]
        rollouts = draw_verdicts_batch(
            self.model,
            [torch.tensor(question.prompt.input_ids, device=device) for question in questions],
            frames,
            self.tokenizer.pad_token_id or 0,
            n=self.options.samples,
            temperature=self.options.temperature,
            generator=torch.Generator().manual_seed(seed),
        )
        return [reading_of_rollout(rollout, frame.slots) for rollout, frame in zip(rollouts, frames, strict=True)]

    def _read_free(self, questions: Sequence[_Question], seed: int) -> list[Reading]:
        limits = GenerationLimits(self.options.samples, self.options.temperature, self.options.max_answer_tokens, seed)
        prompts = [question.prompt.input_ids for question in questions]
        answers = generate_answers(self.model, self.tokenizer, prompts, limits)
        return [
            reading_of_texts(texts, question.prompt, outcome=self.info.prompt.outcome)
            for texts, question in zip(answers, questions, strict=True)
        ]

    def _about(self) -> dict[str, Any]:
        """What every prediction of this judge says of how it came about."""
        decoding = "forced" if self._forced else "free"
        how = {"decoding": decoding, "samples": self.options.samples, "temperature": self.options.temperature}
        return {
            "protocol": self.info.prompt.protocol,
            "prompt_version": self.info.prompt_version,
            "rendering": {"prompt": asdict(self.info.prompt), "plan": "whole", **how},
        }


def _seed_of(seed: int, keys: Sequence[Any]) -> int:
    """A seed of the runs of one batch, so that what was judged before does not matter."""
    digest = hashlib.sha256(repr((seed, list(keys))).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1
