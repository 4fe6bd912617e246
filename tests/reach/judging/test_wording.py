from __future__ import annotations

from prm.reach.judging.wording import MAX_CALL, MAX_VALUE, shown, shown_call
from prm.reach.log.run import ToolCall


def call(arguments: dict[str, object] | None, raw: str = "") -> ToolCall:
    return ToolCall(0, 1, "c", "t", arguments, raw)


def test_values_are_cut() -> None:
    assert shown("a") == "'a'"
    assert len(shown("x" * 10_000_000)) == MAX_VALUE
    assert shown(None) == "None"


def test_arguments_are_shown_leaf_by_leaf_and_cut() -> None:
    assert shown_call(call({"a": {"b": [1]}, "c": "x"})) == "t(a.b[0]=1, c='x')"
    assert len(shown_call(call({str(n): "x" * 99 for n in range(99)}))) == MAX_CALL + len("t()")


def test_broken_arguments_are_shown_as_recorded() -> None:
    assert shown_call(call(None, '{"a": ')) == 't({"a": )'
