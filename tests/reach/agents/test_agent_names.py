"""What ``--agent`` names."""

from __future__ import annotations

import pytest

from prm.errors import ConfigError
from prm.reach.agents.agent_names import AgentName, parse_agent, parse_agents


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("scripted:careful", AgentName("careful", "scripted", "careful")),
        ("openai:gpt-x", AgentName("gpt-x", "openai", "gpt-x")),
        ("openai:org/m:free", AgentName("org/m:free", "openai", "org/m:free")),
        ("openai:m@http://h:80/v1", AgentName("m", "openai", "m", "http://h:80/v1")),
        ("a b=openai:m@https://h/v1?x=1", AgentName("a b", "openai", "m", "https://h/v1?x=1")),
        ("local:smollm2-135m", AgentName("smollm2-135m", "local", "smollm2-135m")),
        ("local:runs/model/", AgentName("model", "local", "runs/model/")),
        ("function:mine.agents:fast", AgentName("fast", "function", "mine.agents:fast")),
    ],
)
def test_every_form(text: str, agent: AgentName) -> None:
    assert parse_agent(text) == agent


@pytest.mark.parametrize("text", ["careful", "scripted:", "gpt:4", "=openai:m", "", ":", "x=careful"])
def test_other_forms_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_agent(text)
    assert "\n" not in str(caught.value)


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="NAME="):
        parse_agents(["openai:m@http://a/v1", "openai:m@http://b/v1"])
    assert len(parse_agents(["a=openai:m@http://a/v1", "b=openai:m@http://b/v1"])) == 2
