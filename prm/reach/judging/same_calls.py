"""When two calls are the same call, and when two results say the same."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

from prm.reach.judging.json_leaves import leaves_of
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.normal_forms import normal_form
from prm.reach.judging.patterns import act_keys
from prm.reach.log.run import ToolCall, ToolResult


class SameCalls:
    """Gives every call of a run, and every result, the key that equal ones share."""

    def __init__(self, judged: JudgedRun) -> None:
        self._judged = judged
        self._questions = _question_calls(judged)

    def call_key(self, call: ToolCall) -> Hashable:
        """The tool with its arguments in normal form.

        Free text counts only where a call has nothing else: another note makes no other call.
        """
        if call.arguments is None:
            return (call.tool, call.raw)
        leaves = self._judged.leaves(call)
        telling = [leaf for leaf in leaves if leaf.kind != "free"] or leaves
        return (call.tool, tuple((leaf.path, type(leaf.value).__name__, _written(leaf.value)) for leaf in telling))

    def result_key(self, call: ToolCall, result: ToolResult) -> Hashable:
        """What a result says. A person's answer is what it names (its numbers and identifiers), whatever its words."""
        said = (result.ok, result.status)
        if self.is_question(call):
            return (said, named_in(result))
        return (said, _written(result.value))

    def is_question(self, call: ToolCall) -> bool:
        """Whether the call asks a person."""
        return call.id in self._questions


def named_in(result: ToolResult) -> frozenset[str]:
    """What a result names: its numbers and identifiers."""
    words = (word for _, leaf in leaves_of(result.value) for word in normal_form(leaf).split())
    return frozenset(word for word in words if any(character.isdigit() for character in word))


def _written(value: Any) -> str:
    if isinstance(value, str):
        return normal_form(value) or value
    return json.dumps(value, sort_keys=True, default=str)


def _question_calls(judged: JudgedRun) -> frozenset[str]:
    """The ids of the calls that ask somebody: questions of the spec, by a tool that only looks."""
    keys = list(act_keys("questions", judged.spec.questions))
    for name, information in judged.spec.information.items():
        keys += act_keys(f"information.{name}", information.questions)
    calls = (call for key in keys for call in judged.swept.certain(key))
    return frozenset(call.id for call in calls if judged.effect(call) == "read")
