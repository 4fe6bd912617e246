"""What a chat model is asked and what it answers: one protocol with one method. Knows no model and no environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from prm.errors import PrmError
from prm.types import Message

FailureKind = Literal["timeout", "request", "garbage", "context", "exception", "environment"]
"""Why a run broke off: no answer in time · the endpoint refused or failed · an answer or a call that cannot be read ·
the run no longer fits the model · the agent's own code failed · the tools' own code failed."""


class AgentError(PrmError, RuntimeError):
    """An agent (or its tools) broke; the run ends, the job does not.

    Attributes:
        kind: See `FailureKind`.
        about: What is known of the request that failed.
    """

    def __init__(self, kind: FailureKind, message: str, about: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.about = dict(about or {})


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the model gets it.

    Attributes:
        message: role, content, tool_calls, tool_call_id, name; nothing of ours.
        memory: What the model itself kept of the replies that an assistant's message was made of (`Reply.memory`).
    """

    message: Message
    memory: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request.

    Attributes:
        turns: The conversation so far.
        tools: OpenAI-style declarations.
        purpose: ``act``: make calls or answer the user. ``plan``: only state a plan; calls would be ignored.
        timeout_seconds: For one attempt.
        deadline: When the run must be over, on `time.monotonic`.
        seed: Fixes what a model draws, where it can.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...]
    purpose: Literal["act", "plan"] = "act"
    timeout_seconds: float = 120.0
    deadline: float = float("inf")
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call as the model wrote it.

    Attributes:
        id: The model's id for it, if it gave one.
        tool: The tool's name.
        arguments: The arguments' text, whatever it is.
    """

    id: str | None
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    Attributes:
        text: What was said; "" for nothing.
        calls: What is to be called, in parallel; none ends the run.
        memory: Anything that the model wants to see again with this message; see `Turn.memory`.
        about: JSON values that are worth recording: usage, finish_reason, attempts, the verbatim text …
    """

    text: str
    calls: tuple[RequestedCall, ...] = ()
    memory: Any = None
    about: Mapping[str, Any] = field(default_factory=dict)


class ChatModel(Protocol):
    """Something that answers a conversation."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What fixes its answers, as JSON values (model, temperature …), and no secret."""

    def answer(self, request: ChatRequest) -> Reply:
        """The next message of the assistant; asked by several threads at once.

        Raises:
            AgentError: There is none in time, or none that can be read.
            ConfigError: There never will be one: a wrong key, an unknown model. It ends the job.
        """
