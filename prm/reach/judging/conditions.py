"""Whether a condition holds of one call: what it was given, what it returned, and what was visible to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prm.reach.judging.bindings import Places
from prm.reach.judging.logic import Truth, every, negation, some
from prm.reach.judging.values import exists, passes, values_at
from prm.reach.judging.wording import shown
from prm.reach.log.run import ToolCall, ToolResult
from prm.reach.spec.conditions import Condition, ValueTest


@dataclass(frozen=True, slots=True)
class Seen:
    """One call as conditions see it.

    Attributes:
        call: The call.
        result: None = it is not in the log.
        is_grounded: Whether every `ref` argument comes from somewhere; None = unknown.
        places: The values visible to it.
        damage_marks: See the envelope of the spec.
    """

    call: ToolCall
    result: ToolResult | None
    is_grounded: Truth
    places: Places
    damage_marks: Sequence[str] = ()


def holds(condition: Condition, seen: Seen) -> Truth:
    """Whether everything that a condition asks for holds."""
    return every(truth for _, truth in _truths(condition, seen))


def first_failure(condition: Condition, seen: Seen) -> str:
    """What of a condition fails first, in words: the path with its value; "" where nothing fails."""
    for name, truth in _truths(condition, seen):
        if truth is False:
            return _failure(condition, name, seen)
    return ""


def _failure(condition: Condition, name: str, seen: Seen) -> str:
    if name == "all" and condition.every is not None:
        return next((text for part in condition.every if (text := first_failure(part, seen))), name)
    if name == "any" and condition.some is not None:
        parts = [first_failure(part, seen) for part in condition.some]
        return next((text for text in parts if text), name)
    if name == "grounded":
        return "an argument comes from nowhere" if condition.grounded else "every argument comes from somewhere"
    if name == "not":
        return "it is what it must not be"
    found = _values(name, seen)
    return f"{name} is {shown(found[0]) if found else 'absent'}"


def _truths(condition: Condition, seen: Seen) -> Iterator[tuple[str, Truth]]:
    """Each part of a condition with its truth, one after the other."""
    for path, test in condition.tests.items():
        yield path, _test_holds(path, test, seen)
    if condition.grounded is not None:
        yield "grounded", seen.is_grounded if condition.grounded else negation(seen.is_grounded)
    if condition.every is not None:
        yield "all", every(holds(part, seen) for part in condition.every)
    if condition.some is not None:
        yield "any", some(holds(part, seen) for part in condition.some)
    if condition.no is not None:
        yield "not", negation(holds(condition.no, seen))


def _test_holds(path: str, test: ValueTest, seen: Seen) -> Truth:
    if test.no is None:
        return _holds_at(path, test, seen)
    return every((negation(_test_holds(path, test.no, seen)), _holds_at(path, test, seen)))


def _holds_at(path: str, test: ValueTest, seen: Seen) -> Truth:
    """Whether a test holds, leaving aside what it must not be."""
    if _is_open(path, seen):
        return None
    values = _values(path, seen)
    if not values and path.startswith("result") and _is_cut(seen.result):
        return None
    if path in ("ok", "status") and values == [None]:
        return None
    truths = (_value_passes(test, value, seen) for value in values or [None])
    return every(truths) if path.startswith("args") else some(truths)


def _is_open(path: str, seen: Seen) -> bool:
    return seen.call.arguments is None if path.startswith("args") else seen.result is None


def _is_cut(result: ToolResult | None) -> bool:
    return result is not None and (result.truncated or result.incomplete)


def _values(path: str, seen: Seen) -> list[Any]:
    root, *keys = path.split(".")
    if root == "args":
        return values_at(seen.call.arguments, keys)
    if seen.result is None:
        return []
    return values_at(seen.result.value, keys) if root == "result" else [getattr(seen.result, root)]


def _value_passes(test: ValueTest, value: Any, seen: Seen) -> Truth:
    if test.exists is not None and exists(value, seen.damage_marks) is not test.exists:
        return False
    if not passes(test, value):
        return False
    return True if test.flow is None else seen.places.holds(test.flow, value, seen.call.arguments)
