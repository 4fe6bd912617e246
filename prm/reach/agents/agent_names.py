"""What ``--agent`` names.

    scripted:careful                         an agent of the ticket desk, whose labels are known
    openai:MODEL                             a model behind an OpenAI-compatible endpoint
    openai:MODEL@http://localhost:8000/v1    the same, at an endpoint of its own
    local:smollm2-135m  local:path/to/model  a Hugging Face model that runs here
    function:module:name                     one's own Python function

``NAME=`` before it is what the records call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from prm.errors import ConfigError

AgentKind = Literal["scripted", "openai", "local", "function"]


@dataclass(frozen=True, slots=True)
class AgentName:
    """One agent.

    Attributes:
        name: In the records.
        target: The scripted agent, the model, or ``module:name``.
        base_url: The endpoint, where the name says one.
    """

    name: str
    kind: AgentKind
    target: str
    base_url: str | None = None


def parse_agents(texts: Sequence[str]) -> tuple[AgentName, ...]:
    """The agents that the command line names.

    Raises:
        ConfigError: One has another form, or two would be called the same.
    """
    agents = tuple(parse_agent(text) for text in texts)
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError.at("--agent", "names must differ", name, "write NAME=… before one of them")
    return agents


def parse_agent(text: str) -> AgentName:
    """One agent.

    Raises:
        ConfigError: It has another form.
    """
    before, equals, after = text.partition("=")
    given, spec = (before, after) if equals and ":" not in before else (None, text)
    kind, _, target = spec.partition(":")
    if kind not in get_args(AgentKind) or not target or given == "":
        todo = "write it as in scripted:careful, openai:MODEL, local:PATH or function:module:name"
        raise ConfigError.at("--agent", f"must begin with one of {', '.join(get_args(AgentKind))}", text, todo)
    base_url = None
    if kind == "openai" and "@http" in target:
        target, _, address = target.partition("@http")
        base_url = f"http{address}"
    return AgentName(given or _usual_name(kind, target), cast(AgentKind, kind), target, base_url)


def _usual_name(kind: str, target: str) -> str:
    if kind == "local":
        return target.rstrip("/").rpartition("/")[2]
    return target.rpartition(":")[2] if kind == "function" else target
