"""Writes down a run of a scripted agent: chat messages, and beside each step its label and the reason."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from prm.reach.desk.environment import Call, Envelope, Environment
from prm.reach.desk.phrasing import remark
from prm.reach.desk.variants import Variant
from prm.types import StepLabel

SILENT_SHARE = 0.15
"""How often an agent calls without saying anything."""


class Transcript:
    """One run as it grows.

    Attributes:
        messages: OpenAI-style chat messages.
        labels: Message index → label, one for each assistant message.
        notes: Message index → what gave the label.
    """

    def __init__(self, environment: Environment, variant: Variant, request: str, rng: random.Random) -> None:
        self._environment, self._variant, self._rng = environment, variant, rng
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": variant.system},
            {"role": "user", "content": request},
        ]
        self.labels: dict[int, StepLabel] = {}
        self.notes: dict[int, str] = {}
        self._calls = 0

    def act(
        self, bank: str, calls: Sequence[Call], slots: Mapping[str, str], label: StepLabel, note: str
    ) -> list[Envelope]:
        """One step with calls; returns their results.

        A good step whose results are all outside failures (time-out, truncation) is 0: nothing came of it.

        Raises:
            CallCapReached: The calls would exceed the cap; nothing was written down.
        """
        results = self._environment.execute(calls)
        if label == 1 and all(result.status == "timeout" or result.is_truncated for result in results):
            label, note = 0, "outside_failure"
        text = "" if self._rng.random() < SILENT_SHARE else remark(bank, slots, self._rng)
        tool_calls = [self._tool_call(call) for call in calls]
        self._say({"role": "assistant", "content": text, "tool_calls": tool_calls}, label, note)
        for tool_call, result in zip(tool_calls, results, strict=True):
            content = _compact(result.shown(self._variant))
            name = tool_call["function"]["name"]
            self.messages.append({"role": "tool", "tool_call_id": tool_call["id"], "name": name, "content": content})
        return results

    def report(self, bank: str, slots: Mapping[str, str], label: StepLabel, note: str) -> None:
        """The last message to the user."""
        self._say({"role": "assistant", "content": remark(bank, slots, self._rng)}, label, note)

    def relabel_last(self, label: StepLabel, note: str) -> None:
        """Changes the label of the last step, once its result has shown what it was."""
        last = max(self.labels)
        self.labels[last], self.notes[last] = label, note

    def _say(self, message: dict[str, Any], label: StepLabel, note: str) -> None:
        index = len(self.messages)
        self.messages.append(message)
        self.labels[index], self.notes[index] = label, note

    def _tool_call(self, call: Call) -> dict[str, Any]:
        self._calls += 1
        arguments = _compact(call.arguments)
        function = {"name": call.tool, "arguments": arguments}
        return {"id": f"call_{self._calls}", "type": "function", "function": function}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
