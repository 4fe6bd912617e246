"""An agent whose model runs here: any causal language model of Hugging Face, handed to `prm.reach` as a `ChatModel`.

A model that knows tools by its chat template is asked by it, any other one is told them in text; calls are read from
the answer's text (`prm.reach.agents.text_calls`) in both cases.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer

from prm.data.digest import digest
from prm.errors import ConfigError, ModelError
from prm.models.backbone import LoadOptions
from prm.models.chat_rendering import NEXT_HEADING, ChatRenderer
from prm.models.fetch import resolve_model
from prm.models.judge.checkpoint import load_judge_model
from prm.models.judge.generation import GeneratedAnswer, GenerationLimits, generate_answers
from prm.models.reachable import reachable
from prm.models.step_classifier import parse_dtype
from prm.reach.agents.chat import AgentError, ChatRequest, Reply
from prm.reach.agents.text_calls import calls_in

_FEWEST_ANSWER_TOKENS = 16
_CLOSED_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LocalChatOptions:
    """How answers come about.

    Attributes:
        temperature: 0 = greedy, which makes all repeats of a task the same run.
        max_answer_tokens: Tokens of one answer at most.
    """

    temperature: float = 0.7
    max_answer_tokens: int = 1024

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ConfigError.at("--temperature", "must be 0 (greedy) or more", self.temperature, "change it")
        if self.max_answer_tokens < 1:
            raise ConfigError.at("--max-answer-tokens", "must be at least 1", self.max_answer_tokens, "raise it")


class LocalChat:
    """A causal language model that works with tools; implements `prm.reach.agents.chat.ChatModel`.

    One request is answered at a time, whatever the number of threads.

    Attributes:
        renderer: How conversations become tokens; its `manner` says how tools are told.
    """

    def __init__(
        self, model: Any, tokenizer: Any, options: LocalChatOptions | None = None, name: str = "", weights: str = ""
    ) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._options = options or LocalChatOptions()
        self._name, self._weights = name, weights
        self._lock = threading.Lock()
        self.renderer = ChatRenderer(tokenizer)

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        *,
        options: LocalChatOptions | None = None,
        device: str | None = None,
        dtype: str = "float32",
        trust_remote_code: bool = False,
    ) -> LocalChat:
        """Loads a model, or a LoRA adapter with its base.

        Args:
            path: Folder, hub id, or the name of a base model such as ``smollm2-135m``.
            options: How it answers.
            device: "cpu", "cuda" …; None = the GPU where there is one.
            dtype: "float32", "bfloat16" or "float16".
            trust_remote_code: As in transformers.

        Raises:
            DownloadError: The model is not to be had.
            ModelError: It is no causal language model, or its chat template can render no conversation.
            ConfigError: An unknown `dtype`.
        """
        weights = parse_dtype(dtype)
        folder = resolve_model(str(path))
        model = load_judge_model(folder, LoadOptions(weights, None, trust_remote_code))
        with reachable(folder):
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
        placed = model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(placed, tokenizer, options, str(path), _stamp(Path(folder)))

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name, a stamp of the weights' files, the weights' type, options and how tools are told."""
        kind = str(next(self._model.parameters()).dtype).removeprefix("torch.")
        about = {"model": self._name, "weights": self._weights, "dtype": kind, "tools": self.renderer.manner}
        return {**about, **asdict(self._options)}

    def answer(self, request: ChatRequest) -> Reply:
        """See `ChatModel.answer`."""
        with self._lock:
            start = time.monotonic()
            seconds = min(request.timeout_seconds, request.deadline - start)
            if seconds <= 0:
                raise AgentError("timeout", "no time is left for this request")
            ids, begun = self._prompt(request)
            answer = self._generate(ids, request.seed, seconds)
            about = _about(ids, answer, begun)
            if not answer.complete and time.monotonic() - start >= seconds:
                raise AgentError("timeout", f"no whole answer within {seconds:g} s", about)
        return self._reply(answer, begun, request, about)

    def _prompt(self, request: ChatRequest) -> tuple[list[int], str]:
        try:
            return self.renderer.encode(request.turns, request.tools)
        except ModelError as error:
            raise AgentError("context", str(error)) from None

    def _generate(self, ids: list[int], seed: int, seconds: float) -> GeneratedAnswer:
        room = self._window() - len(ids)
        if room < _FEWEST_ANSWER_TOKENS:
            about = {"usage": {"prompt_tokens": len(ids)}}
            raise AgentError("context", f"the run no longer fits the model's {self._window()} tokens", about)
        tokens = min(room, self._options.max_answer_tokens)
        limits = GenerationLimits(1, self._options.temperature, tokens, seed % 2**63, seconds)
        return generate_answers(self._model, self._tokenizer, [ids], limits)[0][0]

    def _window(self) -> int:
        config = getattr(self._model.config, "get_text_config", lambda: self._model.config)()
        return int(getattr(config, "max_position_embeddings", None) or 2**31)

    def _reply(self, answer: GeneratedAnswer, begun: str, request: ChatRequest, about: dict[str, Any]) -> Reply:
        text = f"{begun}{answer.text}"
        memory: list[int] | None = [*self.renderer.control_ids(begun), *answer.ids]
        if not self.renderer.has_template and NEXT_HEADING in text:
            text, memory = text.partition(NEXT_HEADING)[0], None
        if request.purpose == "plan":
            return Reply(text.strip(), (), memory, about)
        names = [tool["function"]["name"] for tool in request.tools]
        try:
            calls, said = calls_in(_with_opened_thought(text), names)
        except AgentError as error:
            raise AgentError(error.kind, str(error), about) from None
        return Reply(said.strip(), calls, memory, about)


def _stamp(folder: Path) -> str:
    """Names, sizes and times of the weights' files, as one word; the same for every hub id."""
    files = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in folder.glob("*.safetensors"))
    return f"{digest(files):016x}"


def _with_opened_thought(text: str) -> str:
    """A text that ends a thought it did not begin, with its beginning: else the draft would pass for the answer."""
    end = _CLOSED_THOUGHT.search(text)
    return text if end is None or "<think" in text[: end.start()].lower() else f"<think>{text}"


def _about(ids: list[int], answer: GeneratedAnswer, begun: str) -> dict[str, Any]:
    usage = {"prompt_tokens": len(ids), "completion_tokens": len(answer.ids)}
    return {"usage": usage, "finish_reason": "stop" if answer.complete else "length", "text": begun + answer.text}
