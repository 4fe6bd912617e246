"""A local model as an agent: calls, thoughts, limits, and whole runs at the desk."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from prm.cli.main import app
from prm.data.jsonl import read_jsonl
from prm.errors import ConfigError
from prm.models.chat_agent import LocalChat, LocalChatOptions
from prm.reach.agents.chat import AgentError, ChatRequest, Turn
from prm.reach.desk.variants import load_variant
from tests.models import chat_templates as templates
from tests.models.judge.templates import CHATML
from tests.reach.agents.toys import converse, desk_task
from tests.tiny import byte_level_tokenizer, save_llama

TOOLS = load_variant("plain").tools
ASKED = (Turn({"role": "system", "content": "s"}), Turn({"role": "user", "content": "u"}))


class Speaker(torch.nn.Module):
    """A model that says what it is given to say, token by token as any other."""

    def __init__(self, tokenizer: Any, *texts: str, window: int = 100_000) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.config = SimpleNamespace(max_position_embeddings=window)
        self.generation_config = SimpleNamespace(eos_token_id=tokenizer.eos_token_id)
        self._tokenizer, self._texts = tokenizer, list(texts)
        self.prompts: list[list[int]] = []
        self.asked: list[dict[str, Any]] = []

    def generate(self, input_ids: torch.Tensor, **options: Any) -> torch.Tensor:
        self.prompts.append(input_ids[0].tolist())
        self.asked.append(options)
        text = self._texts.pop(0) if len(self._texts) > 1 else self._texts[0]
        ids = [*self._tokenizer(text, add_special_tokens=False)["input_ids"], self._tokenizer.eos_token_id]
        new = torch.tensor([ids[: options["max_new_tokens"]]])
        return torch.cat([input_ids, new], dim=1)


def speaking(*texts: str, template: str | None = templates.HERMES, window: int = 100_000, **options: Any) -> LocalChat:
    tokenizer = byte_level_tokenizer()
    tokenizer.chat_template = template
    return LocalChat(Speaker(tokenizer, *texts, window=window), tokenizer, LocalChatOptions(**options))


READ = '<tool_call>{"name": "read_ticket", "arguments": {"ticket_id": "T57"}}</tool_call>'


@pytest.mark.parametrize("template", [templates.HERMES, templates.LLAMA, CHATML, templates.ALTERNATING, None])
def test_a_whole_run_in_every_manner(template: str | None) -> None:
    agent = speaking(
        f"Reading. {READ}", '{"name": "check_inventory", "parameters": {"sku": "corn-8"}}', "Done.", template=template
    )
    log = converse(agent, task=desk_task("ship_simple"))
    assert (log.end, log.error) == ("final", None)
    assert [m["role"] for m in log.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert log.messages[2]["content"] == "Reading."
    assert json.loads(log.messages[3]["content"])["record"]["sku"] == "corn-8"
    assert json.loads(log.messages[5]["content"])["record"]["stock"] == 32
    assert log.requests[0]["text"] == f"Reading. {READ}"
    assert log.requests[0]["usage"]["completion_tokens"] > 10


def test_the_model_sees_its_own_words_again_as_it_wrote_them() -> None:
    agent = speaking(f"Reading. {READ}", "Done.")
    converse(agent)
    first, second = agent._model.prompts
    wrote = agent._tokenizer(f"Reading. {READ}", add_special_tokens=False)["input_ids"]
    assert any(second[i : i + len(wrote)] == wrote for i in range(len(second)))
    assert second[: len(first)] == first


def test_a_draft_in_a_thought_is_no_call() -> None:
    reply = speaking(f"<think>{READ}</think>No need.").answer(ChatRequest(ASKED, TOOLS))
    assert (reply.calls, reply.text) == ((), f"<think>{READ}</think>No need.")


def test_a_thought_that_the_prompt_began_belongs_to_the_answer() -> None:
    agent = speaking(f"hm {READ}</think>{READ}", template=templates.NO_SYSTEM)
    reply = agent.answer(ChatRequest(ASKED, TOOLS))
    assert len(reply.calls) == 1
    assert reply.text.startswith("<think>hm")
    unfinished = speaking(f"hm {READ}", template=templates.NO_SYSTEM).answer(ChatRequest(ASKED, TOOLS))
    assert unfinished.calls == ()


def test_a_model_without_a_template_stops_at_the_next_heading() -> None:
    reply = speaking(f"{READ}\n### user\nThanks!", template=None).answer(ChatRequest(ASKED, TOOLS))
    assert len(reply.calls) == 1
    assert "Thanks" not in reply.text


def test_a_plan_is_text() -> None:
    reply = speaking('{"plan": {"calls": []}}').answer(ChatRequest(ASKED, TOOLS, "plan"))
    assert (reply.text, reply.calls) == ('{"plan": {"calls": []}}', ())


@pytest.mark.parametrize("template", [templates.HERMES, templates.ALTERNATING, templates.NO_SYSTEM, None])
def test_a_run_with_plans_in_every_manner(template: str | None) -> None:
    plan = '</think>{"plan": {"why": "w", "calls": [{"tool": "read_ticket"}]}}'
    agent = speaking(plan, f"</think>{READ}", plan, "</think>Done.", template=template)
    log = converse(agent, planning="json")
    assert (log.end, log.error) == ("final", None)
    assert [m["role"] for m in log.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert log.messages[2]["content"].startswith('{"plan": {"why": "w"')


def test_garbage_ends_the_run_and_is_recorded() -> None:
    log = converse(speaking("<tool_call>what?</tool_call>"))
    assert log.error is not None
    assert log.error["kind"] == "garbage"
    assert log.requests[0]["text"] == "<tool_call>what?</tool_call>"


def test_a_run_that_no_longer_fits_ends_with_an_error_and_nothing_is_cut() -> None:
    agent = speaking(READ, window=2600)
    log = converse(agent)
    assert log.error is not None
    assert log.error["kind"] == "context"
    assert "2600" in log.error["message"]
    assert len(log.calls) >= 1


def test_the_answer_gets_what_room_there_is() -> None:
    agent = speaking("Done.", window=100_000, max_answer_tokens=40)
    agent.answer(ChatRequest(ASKED, TOOLS))
    assert agent._model.asked[0]["max_new_tokens"] == 40
    length = len(agent._model.prompts[0])
    narrow = speaking("Done.", window=length + 20, max_answer_tokens=40)
    narrow.answer(ChatRequest(ASKED, TOOLS))
    assert narrow._model.asked[0]["max_new_tokens"] == 20


def test_time_limits_reach_the_generation() -> None:
    agent = speaking("Done.")
    agent.answer(ChatRequest(ASKED, TOOLS, timeout_seconds=7))
    assert 0 < agent._model.asked[0]["max_time"] <= 7
    with pytest.raises(AgentError) as caught:
        agent.answer(ChatRequest(ASKED, TOOLS, deadline=time.monotonic() - 1))
    assert caught.value.kind == "timeout"


def test_threads_are_answered_one_after_the_other() -> None:
    agent = speaking("Done.")
    replies: list[str] = []
    threads = [
        threading.Thread(target=lambda: replies.append(agent.answer(ChatRequest(ASKED, TOOLS)).text)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == ["Done."] * 8


@pytest.mark.parametrize("options", [{"temperature": -1}, {"temperature": float("nan")}, {"max_answer_tokens": 0}])
def test_wrong_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        LocalChatOptions(**options)  # type: ignore[arg-type]


def test_a_real_tiny_model_is_fixed_by_its_seed(tmp_path: Path) -> None:
    agent = LocalChat.from_pretrained(save_llama(tmp_path / "m"), options=LocalChatOptions(0.9, 20), device="cpu")

    def said(seed: int) -> str:
        return str(agent.answer(ChatRequest(ASKED, (), seed=seed)).about["text"])

    assert said(1) == said(1)
    assert len({said(seed) for seed in range(4)}) > 1
    assert agent.settings["weights"]


def test_a_tiny_model_from_the_command_line(tmp_path: Path) -> None:
    save_llama(tmp_path / "m")
    out = tmp_path / "o.jsonl"
    words = ["--agent", f"tiny=local:{tmp_path / 'm'}", "--scenarios", "gift", "--max-answer-tokens", "8"]
    result = CliRunner().invoke(
        app, ["reach", "run", *words, "--repeats", "2", "--device", "cpu", "--out", str(out)], catch_exceptions=False
    )
    assert result.exit_code in (0, 1), result.output
    runs = [record for _, record in read_jsonl(out)]
    assert [run["generator"] for run in runs] == ["tiny"] * 2
    assert all(run["reach"]["end"] in ("final", "cap", "error") for run in runs)
    assert runs[0]["reach"]["model"]["max_answer_tokens"] == 8
