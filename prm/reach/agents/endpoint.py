"""An agent behind an OpenAI-compatible endpoint (``/chat/completions``): a server of one's own, or a provider's.

Refused and failed requests that may pass (no connection, no answer in time, 408, 409, 425, 429, 5xx) are tried again
with growing pauses, or after as long as the server asks for; every attempt is recorded, the key nowhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import tenacity

from prm.data.jsonl import parse_json
from prm.errors import ConfigError, RecordError
from prm.reach.agents.chat import AgentError, ChatRequest, Reply
from prm.reach.agents.deadline import now, within
from prm.reach.agents.function_agent import reply_of_message
from prm.reach.agents.text_calls import calls_in, text_turns

if TYPE_CHECKING:
    import openai

_MAY_PASS = frozenset({408, 409, 425, 429})
_MAX_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """What is asked, and how.

    Attributes:
        model: The model's name there.
        base_url: The endpoint, up to ``/v1``; None = OpenAI's own.
        api_key: Its key; shown nowhere.
        temperature, max_answer_tokens: None = the server's default.
        extra_body: Further keys of the request, such as ``{"seed": 1, "reasoning_effort": "low"}``.
        call_format: ``native``: the server's tools. ``text``: declarations and calls as text, for one without.
        attempts: How often a request that may pass is made at most.
        first_pause_seconds: Before the second attempt, on average; it doubles from there.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = None
    max_answer_tokens: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    call_format: Literal["native", "text"] = "native"
    attempts: int = 5
    first_pause_seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigError.at("--attempts", "must be at least 1", self.attempts, "raise it")
        if self.call_format not in ("native", "text"):
            raise ConfigError.at("--call-format", "must be native or text", self.call_format, "choose one of them")
        if self.temperature is not None and not 0 <= self.temperature < float("inf"):
            raise ConfigError.at("--temperature", "must be 0 (greedy) or more", self.temperature, "change it")
        if self.max_answer_tokens is not None and self.max_answer_tokens < 1:
            raise ConfigError.at("--max-answer-tokens", "must be at least 1", self.max_answer_tokens, "raise it")


class Endpoint:
    """Implements `prm.reach.agents.chat.ChatModel`; one serves all threads."""

    def __init__(self, options: EndpointOptions) -> None:
        self._options = options

    @property
    def settings(self) -> Mapping[str, Any]:
        """The options but for the key, attempts and pauses, which do not change an answer."""
        options = self._options
        return {
            "model": options.model,
            "base_url": _without_user(options.base_url),
            "temperature": options.temperature,
            "max_answer_tokens": options.max_answer_tokens,
            "extra_body": dict(options.extra_body),
            "call_format": options.call_format,
        }

    def answer(self, request: ChatRequest) -> Reply:
        """See `ChatModel.answer`."""
        attempts: list[dict[str, Any]] = []
        try:
            content = self._content(request, attempts)
        except AgentError as error:
            raise AgentError(error.kind, self._without_key(str(error)), {"attempts": attempts}) from None
        return self._reply(content, request, attempts)

    def _content(self, request: ChatRequest, attempts: list[dict[str, Any]]) -> bytes:
        """The answer's bytes, after as many attempts as it takes."""
        import openai

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_may_pass),
            stop=self._is_enough(request.deadline),
            wait=self._pause(request.deadline),
            reraise=True,
        )
        try:
            content: bytes = retrying(self._attempt, request, attempts)
            return content
        except (openai.AuthenticationError, openai.NotFoundError) as error:
            raise self._hopeless(error) from None
        except (TimeoutError, openai.APITimeoutError) as error:
            raise AgentError("timeout", str(error)) from None
        except openai.OpenAIError as error:
            raise AgentError("request", f"{type(error).__name__}: {error}") from None

    def _attempt(self, request: ChatRequest, attempts: list[dict[str, Any]]) -> bytes:
        """One attempt; what became of it is put behind `attempts`."""
        seconds = min(request.timeout_seconds, request.deadline - time.monotonic())
        record: dict[str, Any] = {"started": now()}
        attempts.append(record)
        start = time.monotonic()
        body = {**self._body(request), "timeout": seconds}
        try:
            raw = within(seconds, lambda: self._client.chat.completions.with_raw_response.create(**body))
            content: bytes = raw.http_response.content
            return content
        except Exception as error:
            record["error"] = self._without_key(f"{type(error).__name__}: {error}")[:500]
            raise
        finally:
            record["seconds"] = round(time.monotonic() - start, 3)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        options = self._options
        native = options.call_format == "native"
        turns = request.turns if native else text_turns(request.turns, request.tools)
        body: dict[str, Any] = {"model": options.model, "messages": [dict(turn.message) for turn in turns]}
        if native and request.tools:
            body["tools"] = list(request.tools)
            if request.purpose == "plan":
                body["tool_choice"] = "none"
        if options.temperature is not None:
            body["temperature"] = options.temperature
        if options.max_answer_tokens is not None:
            body["max_tokens"] = options.max_answer_tokens
        return {**body, "extra_body": dict(options.extra_body)} if options.extra_body else body

    def _reply(self, content: bytes, request: ChatRequest, attempts: list[dict[str, Any]]) -> Reply:
        """What the answer's bytes say.

        Raises:
            AgentError: They are no chat completion.
        """
        about: dict[str, Any] = {"attempts": attempts}
        try:
            completion = parse_json(content, "answer")
            choice = completion["choices"][0]
            message = choice["message"]
        except (RecordError, LookupError, TypeError):
            about["answer"] = self._without_key(content[:2000].decode("utf-8", "replace"))
            raise AgentError("garbage", "the endpoint's answer is no chat completion", about) from None
        about |= {key: completion[key] for key in ("id", "model", "usage") if completion.get(key) is not None}
        about |= {"finish_reason": choice.get("finish_reason"), "message": message}
        try:
            reply = reply_of_message(message)
            if self._options.call_format == "text" and request.purpose == "act" and not reply.calls:
                names = [tool["function"]["name"] for tool in request.tools]
                calls, text = calls_in(reply.text, names)
                reply = Reply(text, calls)
        except AgentError as error:
            raise AgentError(error.kind, str(error), about) from None
        return Reply(reply.text, reply.calls, about=about)

    def _is_enough(self, deadline: float) -> Callable[[tenacity.RetryCallState], bool]:
        attempts = self._options.attempts
        return lambda state: state.attempt_number >= attempts or time.monotonic() >= deadline

    def _pause(self, deadline: float) -> Callable[[tenacity.RetryCallState], float]:
        growing = tenacity.wait_random_exponential(multiplier=self._options.first_pause_seconds, max=_MAX_PAUSE_SECONDS)

        def pause(state: tenacity.RetryCallState) -> float:
            asked = _asked_pause(state.outcome.exception() if state.outcome is not None else None)
            seconds = growing(state) if asked is None else min(asked, _MAX_PAUSE_SECONDS)
            return max(0.0, min(seconds, deadline - time.monotonic()))

        return pause

    def _hopeless(self, error: openai.APIStatusError) -> ConfigError:
        """A wrong key or an unknown model: no later run would fare better."""
        where = _without_user(self._options.base_url) or "OpenAI"
        todo = "check --agent, --base-url and the key (OPENAI_API_KEY or --api-key)"
        shown = self._without_key(f"HTTP status {error.status_code}: {error.message}")
        return ConfigError.at(where, f"must serve the model {self._options.model!r} with this key", shown, todo)

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        # A server of one's own often has no key; the client demands some text.
        key = self._options.api_key or "none"
        return openai.OpenAI(api_key=key, base_url=self._options.base_url, max_retries=0)

    def _without_key(self, text: str) -> str:
        return text.replace(self._options.api_key, "…") if self._options.api_key else text


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in _MAY_PASS or error.status_code >= 500
    return isinstance(error, TimeoutError | openai.APIConnectionError)


def _asked_pause(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait (``Retry-After``); None where it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def _without_user(url: str | None) -> str | None:
    """An address without the name and password that may stand in it."""
    if url is None or "@" not in url:
        return url
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
