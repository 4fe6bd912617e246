"""The plan that ``--plan json`` asks for before every batch of calls.

It is asked for in a request of its own, so that it is there before the calls and any model can give it. The recorded
assistant message begins with it, as ``{"plan": {…}}``, where `prm.reach.log.plan` finds it; the question itself is no
message of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prm.reach.log.plan import plan_in

ASK = (
    "Before you go on: what is your next step? Call no tool yet. Answer with one JSON object and nothing else: "
    '{"plan": {"why": "one sentence", "calls": [{"tool": "name", "arguments": {}}], '
    '"missing": ["what you would need and do not have"]}}. '
    "`calls` holds the calls you will make at once, and is empty if you will answer the user."
)
"""The question."""

ACT = "Now do as you planned: make these calls, or answer the user."
"""What follows the plan, before the calls."""


def stated_plan(text: str) -> Mapping[str, Any] | None:
    """The plan in the answer to `ASK`; None where it holds none."""
    return plan_in(text, True)


def plan_text(plan: Mapping[str, Any]) -> str:
    """A plan as it stands at the beginning of a message."""
    return json.dumps({"plan": plan}, ensure_ascii=False)
