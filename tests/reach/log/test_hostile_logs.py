"""Every reader on hostile logs: a run or one clear line, in a moment, and nothing made up."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prm.data.jsonl import write_jsonl
from prm.errors import InputError
from prm.reach.log.read import read_runs
from prm.reach.log.run import Run
from prm.reach.log.to_flat import flat_log
from tests.reach.log.messages import call, result, says
from tests.reach.log.spans import document, said, span, tool_call
from tests.reach.work import growth

READERS = ("trajectory", "chat", "flat", "otel", "operations", "agentprocessbench", "taubench")
LOG_READERS = ("trajectory", "flat", "otel", "operations")

Calls = list[tuple[str, Any, Any]]
"""(tool, arguments, result) of each call; None = not recorded."""


def as_trajectory(calls: Calls) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, (tool, arguments, content) in enumerate(calls):
        messages.append(says("", call(tool, arguments, f"c{number}")))
        if content is not None:
            messages.append(result(content, f"c{number}"))
    return [{"id": "r", "messages": messages, "step_labels": None, "final_label": None}]


def as_flat(calls: Calls) -> list[dict[str, Any]]:
    return [{"round_id": "r", "tool": tool, "input": a, "result": content} for tool, a, content in calls]


def as_otel(calls: Calls) -> list[dict[str, Any]]:
    return [
        document(
            *(
                span("execute_tool", n, n + 1, tool=t, arguments=a, result=r)
                for n, (t, a, r) in enumerate(calls, start=1)
            )
        )
    ]


def as_operations(calls: Calls) -> list[dict[str, Any]]:
    return [
        {"time": n, "actor": "a", "operation": t, "params": a, "outcome": r}
        for n, (t, a, r) in enumerate(calls, start=1)
    ]


FORMS: dict[str, Callable[[Calls], list[dict[str, Any]]]] = {
    "trajectory": as_trajectory,
    "flat": as_flat,
    "otel": as_otel,
    "operations": as_operations,
}


def run_of(tmp_path: Path, form: str, calls: Calls) -> Run:
    path = tmp_path / f"{form}.jsonl"
    write_jsonl(path, FORMS[form](calls))
    (run,) = read_runs(path, form)
    return run


@pytest.mark.parametrize("form", LOG_READERS)
def test_a_missing_result_is_absent(tmp_path: Path, form: str) -> None:
    run = run_of(tmp_path, form, [("read", {"id": "T1"}, None), ("read", {"id": "T2"}, {"sku": "x"})])
    assert [call.id in run.results for call in run.calls] == [False, True]


@pytest.mark.parametrize("form", LOG_READERS)
def test_cut_off_json_stays_text_and_says_nothing(tmp_path: Path, form: str) -> None:
    run = run_of(tmp_path, form, [("read", '{"id": "T', '{"status": "ok", "record": {"sk')])
    back = run.results[run.calls[0].id]
    assert (run.calls[0].arguments, run.calls[0].raw) == (None, '{"id": "T')
    assert (back.ok, back.incomplete, back.value) == (None, True, '{"status": "ok", "record": {"sk')


@pytest.mark.parametrize("form", LOG_READERS)
def test_null_arguments_are_unknown(tmp_path: Path, form: str) -> None:
    assert run_of(tmp_path, form, [("read", None, "x")]).calls[0].arguments is None


@pytest.mark.parametrize("form", LOG_READERS)
def test_arguments_nested_fifty_deep_full_width_digits_and_chinese_come_through(tmp_path: Path, form: str) -> None:
    deep: Any = "１２３"
    for _ in range(50):
        deep = {"层": deep}
    run = run_of(tmp_path, form, [("查询", {"编号": "Ｔ１", "深": deep}, {"库存": "０", "说明": "没有"})])
    assert run.calls[0].tool == "查询"
    assert run.calls[0].arguments == {"编号": "Ｔ１", "深": deep}
    assert run.results[run.calls[0].id].value == {"库存": "０", "说明": "没有"}


@pytest.mark.parametrize("form", LOG_READERS)
def test_five_thousand_calls_are_read_and_written_in_linear_time(tmp_path: Path, form: str) -> None:
    def calls(size: int) -> Calls:
        return [("read", {"n": n % 7}, {"value": n}) for n in range(size)]

    def reading_and_writing(size: int) -> Callable[[], object]:
        return lambda: list(flat_log([(run_of(tmp_path, form, calls(size)), None, None)]))

    run = run_of(tmp_path, form, calls(5_000))
    assert [run.results[call.id].value for call in run.calls] == [{"value": n} for n in range(5_000)]
    assert sum(1 for _ in flat_log([(run, None, None)])) == 5_000
    assert growth(reading_and_writing, 100) < 2.5


def test_repeated_ids_and_results_before_calls_in_spans_and_rows_are_told_apart(tmp_path: Path) -> None:
    rows = [
        {"round_id": "r", "tool": "read", "call_id": "c", "step": 2, "input": {}, "result": "second"},
        {"round_id": "r", "tool": "read", "call_id": "c", "step": 1, "input": {}, "result": "first"},
    ]
    spans = document(
        span("execute_tool", 1, 2, tool="read", call_id="c", result="first"),
        span("chat", 3, 4, output=[said("assistant", tool_call("read", {}, "c"))]),
        span("execute_tool", 5, 6, tool="read", call_id="c", result="second"),
    )
    for form, records in (("flat", rows), ("otel", [spans])):
        path = tmp_path / f"{form}.jsonl"
        write_jsonl(path, records)
        (run,) = read_runs(path, form)
        assert [run.results[call.id].value for call in run.calls] == ["first", "second"]


# Garbage

KEYS = st.sampled_from(
    [
        *("round_id", "tool", "input", "result", "batch", "step", "call_id", "result_status", "timestamp", "outcome"),
        *("time", "actor", "operation", "object_id", "params", "messages", "role", "content", "tool_calls", "reach"),
        *("resourceSpans", "scopeSpans", "spans", "attributes", "key", "value", "stringValue", "traceId", "task_id"),
        *("traj", "function", "name", "arguments", "id", "data_source", "query_index", "sample_index", "tools"),
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["assistant", "tool", "user", "{", "[[", '{"a": 1}', "ok", "execute_tool", "chat"])
)
GARBAGE = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=6),
    max_leaves=30,
)
VALID: dict[str, Any] = {
    "trajectory": as_trajectory([("read", {"id": 1}, {"a": 1}), ("read", None, None)])[0],
    "flat": {**as_flat([("read", {"id": 1}, {"a": 1})])[0], "step": 1, "batch": 2, "call_id": "c", "outcome": 1},
    "otel": document(
        span("invoke_agent", 1, 9, id="a", agent="x", conversation="c"),
        span("chat", 1, 2, parent="a", input=[said("user")], output=[said("assistant", tool_call("read", {}, "c"))]),
        span("execute_tool", 2, 3, parent="a", tool="read", call_id="c", result={"a": 1}, error_type="no"),
    ),
    "operations": as_operations([("read", {"id": 1}, {"a": 1})])[0],
    "taubench": [{"task_id": 1, "reward": 1.0, "traj": as_trajectory([("read", {}, "x")])[0]["messages"]}],
}
FUZZ = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_or_refuse(path: Path, reader: str | None) -> None:
    """Reads all runs, or is refused in one line; any other error fails the test."""
    try:
        runs = list(read_runs(path, reader))
    except InputError as error:
        refusal = str(error)
    else:
        refusal = ""
        assert all(isinstance(run, Run) for run in runs)
        assert sum(1 for _ in flat_log((run, None, None) for run in runs)) == sum(len(run.calls) for run in runs)
    assert "\n" not in refusal


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in items for place in places_of(inner, (*path, key)))]


@FUZZ
@given(lines=st.lists(GARBAGE, min_size=1, max_size=3), reader=st.sampled_from([None, *READERS]))
def test_any_json_is_read_or_refused_in_one_line(tmp_path: Path, lines: list[Any], reader: str | None) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    read_or_refuse(path, reader)


@FUZZ
@given(form=st.sampled_from(sorted(VALID)), data=st.data(), garbage=GARBAGE)
def test_any_value_put_anywhere_into_a_log_is_read_or_refused_in_one_line(
    tmp_path: Path, form: str, data: st.DataObject, garbage: Any
) -> None:
    record = copy.deepcopy(VALID[form])
    place = data.draw(st.sampled_from(places_of(record)[1:]))
    holder = record
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = garbage
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    read_or_refuse(path, form)
    read_or_refuse(path, None)


@FUZZ
@given(
    content=st.binary(max_size=60), reader=st.sampled_from([None, *READERS]), ending=st.sampled_from(["jsonl", "csv"])
)
def test_any_bytes_are_read_or_refused_in_one_line(
    tmp_path: Path, content: bytes, reader: str | None, ending: str
) -> None:
    path = tmp_path / f"log.{ending}"
    path.write_bytes(content)
    read_or_refuse(path, reader)


@FUZZ
@given(form=st.sampled_from(sorted(VALID)), cut=st.integers(1, 400))
def test_a_log_that_breaks_off_anywhere_is_refused_in_one_line(tmp_path: Path, form: str, cut: int) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(VALID[form])[:cut], encoding="utf-8")
    read_or_refuse(path, form)
    read_or_refuse(path, None)
