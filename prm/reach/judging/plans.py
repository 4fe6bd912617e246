"""Calls that contradict the plan stated beside them: how free text becomes checkable.

What a plan says of the calls to come is read from these keys, as far as it has them:

    calls      a list of {"tool", "arguments"}: all that will be called at once; empty = nothing will be called
    tool       the one tool, with `arguments` beside it
    missing    names of what the agent says it does not have
    any other  a key that is a parameter of the call, with a scalar: the value that it says it will pass

A planned call that is not made contradicts nothing: no call does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prm.reach.judging.json_leaves import leaves_of, path_text
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.normal_forms import is_same
from prm.reach.judging.verdict import Diagnosis, Evidence
from prm.reach.judging.wording import shown
from prm.reach.log.run import ToolCall

_OWN_KEYS = frozenset({"calls", "tool", "arguments", "missing", "why"})
_MAX_PLANNED = 100


def plan_contradictions(judged: JudgedRun) -> Iterator[Diagnosis]:
    """One diagnosis for each call that contradicts the plan of its message."""
    for event in judged.run.batches:
        if event.plan is None:
            continue
        for call in event.calls:
            why = _contradiction(event.plan, call)
            if why is not None:
                evidence = Evidence(event.index, why, call.id)
                yield Diagnosis("plan_contradiction", event.index, call.id, call.tool, evidence=(evidence,))


def _contradiction(plan: Mapping[str, Any], call: ToolCall) -> str | None:
    """What of a call contradicts the plan, in words."""
    planned = _planned_calls(plan)
    if planned is not None:
        if not planned:
            return f"the plan was to call nothing, and {call.tool} was called"
        own = [arguments for tool, arguments in planned if tool == call.tool]
        if not own:
            named = ", ".join(dict.fromkeys(tool for tool, _ in planned))
            return f"the plan was to call {named}, and {call.tool} was called"
        differences = [_difference(arguments, call) for arguments in own]
        if all(differences):
            return differences[0]
    return _missing_yet_given(plan, call) or _difference(
        {key: value for key, value in plan.items() if key not in _OWN_KEYS and _is_scalar(value)}, call
    )


def _planned_calls(plan: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]] | None:
    """The calls that a plan names; None where it does not say."""
    stated = plan.get("calls")
    if not isinstance(stated, list):
        stated = [plan] if isinstance(plan.get("tool"), str) else None
    if stated is None:
        return None
    planned: list[tuple[str, Mapping[str, Any]]] = []
    for item in stated[:_MAX_PLANNED]:
        if isinstance(item, str):
            item = {"tool": item}
        if not isinstance(item, Mapping) or not isinstance(item.get("tool"), str):
            return None
        arguments = item.get("arguments")
        planned.append((item["tool"], arguments if isinstance(arguments, Mapping) else {}))
    return planned


def _difference(planned: Mapping[str, Any], call: ToolCall) -> str | None:
    """The first argument that is passed with another value than planned."""
    given = dict(leaves_of(call.arguments or {}))
    for path, value in leaves_of(planned):
        if path in given and not _agree(value, given[path]):
            return (
                f"the plan was to pass {path_text(path)}={shown(value)} to {call.tool}, and it got {shown(given[path])}"
            )
    return None


def _agree(planned: Any, given: Any) -> bool:
    return planned in (None, "") or is_same(planned, given)


def _missing_yet_given(plan: Mapping[str, Any], call: ToolCall) -> str | None:
    missing = plan.get("missing")
    names = {_plain(item) for item in missing if isinstance(item, str)} if isinstance(missing, list) else set()
    for name, value in (call.arguments or {}).items():
        if _plain(str(name)) in names and value not in (None, "", [], {}):
            return f"the plan says that {name} is missing, and {call.tool} got {shown(value)}"
    return None


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ").strip()


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)
