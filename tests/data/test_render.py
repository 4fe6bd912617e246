"""Rendering: nothing that was recorded is dropped, nothing that is a label gets in."""

from __future__ import annotations

from typing import Any

from prm.data.render import BlockKind, render
from prm.types import RunIdentity, Trajectory


def _text(*messages: dict[str, Any], tools: tuple[dict[str, Any], ...] = ()) -> str:
    labels = {i: -1 for i, message in enumerate(messages) if message["role"] == "assistant"}
    run = Trajectory(
        RunIdentity("secret_source", 0, 0, generator="secret_agent"),
        messages,
        labels,  # type: ignore[arg-type]
        -1,
        tools=tools,
        label_notes={"0": "secret_note"},
        extra={"reach": "secret_extra"},
    )
    return "".join(block.opening + block.body + block.closing for block in render(run))


def test_text_calls_thinking_and_results_all_stand() -> None:
    call = {"id": "c", "function": {"name": "search", "arguments": '{"city": 7, "n": null}'}}
    text = _text(
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "where?"}, {"type": "image", "url": "x"}]},
        {
            "role": "assistant",
            "content": "<think>hm</think> I look",
            "tool_calls": [call, call],
            "reasoning_content": "deep",
        },
        {"role": "tool", "name": "search", "content": None},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{broken"}},
    )
    for part in (
        "be kind",
        "where?",
        '"image"',
        "<think>hm</think> I look",
        "deep",
        "### Result search",
        "-> old({broken)",
    ):
        assert part in text
    assert text.count('-> search({"city": 7, "n": null})') == 2


def test_labels_notes_sources_and_agents_never_enter_the_text() -> None:
    assert "secret" not in _text({"role": "assistant", "content": "hello"})


def test_each_step_ends_in_the_closing_frame_and_the_outcome_comes_last() -> None:
    run = Trajectory(
        RunIdentity("t", 0, 0),
        ({"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}, {"role": "assistant", "content": ""}),
        {0: 1, 2: 1},
    )
    blocks = render(run)
    assert [block.kind for block in blocks] == [BlockKind.STEP, BlockKind.TOOL, BlockKind.STEP, BlockKind.OUTCOME]
    assert [block.message_index for block in blocks] == [0, 1, 2, None]
    assert all(block.closing == "\n=>" for block in blocks if block.kind is not BlockKind.TOOL)


def test_tools_are_listed_by_name_parameters_and_description() -> None:
    tool = {
        "type": "function",
        "function": {"name": "f", "description": "Does.", "parameters": {"properties": {"a": {}}}},
    }
    text = _text({"role": "assistant", "content": "x"}, tools=(tool, {"name": "g"}))
    assert "f(a): Does.\ng()" in text
