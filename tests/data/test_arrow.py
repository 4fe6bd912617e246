"""Foreign keys that a real Arrow table adds go; real values, nulls among them, stay."""

from __future__ import annotations

from typing import Any

import datasets
import pytest

from prm.data.readers.agentprocessbench import record_of_hub_row
from prm.data.readers.arrow import undo_arrow
from prm.data.records import parse_trajectory
from prm.errors import RecordError


def tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
    }


def run(query: int, messages: list[dict[str, Any]], labels: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "data_source": "bfcl_multi_turn_base",
        "query_index": query,
        "sample_index": 0,
        "total_index": query,
        "messages": messages,
        "step_labels": labels,
        "final_label": 1,
        **keys,
    }


def calls(arguments: Any, name: str = "weather") -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "1", "function": {"name": name, "arguments": arguments}}],
    }


USER = {"role": "user", "content": "q"}


def test_labels_keep_only_their_own_message_indices() -> None:
    first = run(0, [USER, calls("{}")], {"1": -1})
    second = run(1, [USER, USER, calls("{}"), calls("{}")], {"2": None, "3": 0})
    table = datasets.Dataset.from_list([first, second])
    assert table[0]["step_labels"] == {"1": -1, "2": None, "3": None}, "Arrow unites keys: what this undoes"
    parsed = [parse_trajectory(record_of_hub_row(row, "x"), "x") for row in table]
    assert [trajectory.step_labels for trajectory in parsed] == [{1: -1}, {2: None, 3: 0}]
    assert parsed[0].protocol == "error_propagation"
    assert (parsed[0].identity.dataset, parsed[0].identity.generator) == ("bfcl", "sample_0")


def test_a_label_under_a_foreign_key_is_no_artefact_and_is_refused() -> None:
    row = run(0, [USER, calls("{}")], {"0": 1, "1": -1})
    with pytest.raises(RecordError, match=r'step_labels\["0"\]'):
        parse_trajectory(record_of_hub_row(row, "x"), "x")


def test_argument_objects_lose_foreign_keys_and_keep_real_nulls() -> None:
    tools = [tool("weather", "city", "n"), tool("book", "seat")]
    rows = [
        run(0, [USER, calls({"city": "Paris"})], {"1": 1}, tools=tools),
        run(1, [USER, calls({"n": None})], {"1": 1}, tools=tools),
        run(2, [USER, calls({"seat": 7}, name="book")], {"1": 1}, tools=tools),
    ]
    table = datasets.Dataset.from_list(rows)
    read = [undo_arrow(row)["messages"][1]["tool_calls"][0]["function"]["arguments"] for row in table]
    assert "seat" not in read[0] | read[1]
    assert read[0]["city"] == "Paris"
    assert read[1]["n"] is None
    assert read[2] == {"seat": 7}


@pytest.mark.parametrize("arguments", ['{"city":"Paris"}', '{"city":7}', '{"n":null}', "not JSON {", ""])
def test_argument_strings_come_back_verbatim(arguments: str) -> None:
    table = datasets.Dataset.from_list([run(0, [USER, calls(arguments)], {"1": 1}), run(1, [USER], {})])
    message = undo_arrow(table[0])["messages"][1]
    assert message["tool_calls"][0]["function"] == {"name": "weather", "arguments": arguments}
    assert "tool_calls" not in undo_arrow(table[0])["messages"][0]


def test_json_text_columns_are_parsed_and_broken_ones_refused() -> None:
    row = run(0, '[{"role": "user", "content": "q"}]', "{}", ground_truth="plain text")  # type: ignore[arg-type]
    record = record_of_hub_row(row, "x")
    assert record["messages"] == [USER]
    assert record["step_labels"] == {}
    assert record["ground_truth"] == "plain text"
    with pytest.raises(RecordError, match="messages: must be JSON text"):
        record_of_hub_row({**row, "messages": "[{"}, "x")
