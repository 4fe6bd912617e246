"""Trajectories through a real Arrow table, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prm.data.build import BuildOptions, build
from prm.data.data_card import data_card
from prm.data.hub_dataset import dataset_of, dataset_of_build, trajectories_of
from prm.data.readers.registry import read_all
from prm.data.records import parse_trajectory, read_trajectories
from prm.errors import MissingFileError, RecordError

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

text = st.text(alphabet=st.characters(), max_size=6) | st.sampled_from(["\ud800", "\u2028", ""])
arguments = st.sampled_from(['{"city":"Paris"}', '{"city":7}', '{"n":null}', "{broken", {"a": None}, {"b": 1}, None])
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": text | st.none()}
) | (
    st.builds(
        lambda a: {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": a}}],
        },
        arguments,
    )
)
label = st.sampled_from([-1, 0, 1, None])


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    messages = draw(st.lists(message, min_size=1, max_size=4))
    steps = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    optional = {
        "question": text,
        "tools": st.just([{"function": {"name": "f", "parameters": {"properties": {"a": {}}}}}]),
        "generator": st.sampled_from(["g", "h"]),
        "protocol": st.just("independent"),
        "ground_truth": st.sampled_from([None, 1, {"x": None}, ["y"]]),
        "label_notes": text,
    }
    return {
        "data_source": "s",
        "query_index": draw(st.integers(0, 3) | st.sampled_from(["0", "a"])),
        "sample_index": draw(st.integers(0, 3)),
        "messages": messages,
        "step_labels": {str(i): draw(label) for i in steps},
        "final_label": draw(label),
        **draw(st.fixed_dictionaries({}, optional=optional)),
    }


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(records(), max_size=4))
def test_any_trajectories_come_back_equal(given_records: list[dict[str, Any]]) -> None:
    trajectories = [parse_trajectory(record, "x") for record in given_records]
    assert list(trajectories_of(dataset_of(trajectories))) == trajectories


def test_columns_can_be_read_without_prm(make_record: Make) -> None:
    row = dataset_of([parse_trajectory(make_record(1, None, 0), "x")])[0]
    assert (row["step_index"], row["step_label"], row["final_label"]) == ([1, 2, 3], [1, None, 0], 1)
    assert row["query_index"] == "0"
    assert row["other"] is None


def test_a_row_that_was_edited_into_nonsense_is_refused(make_record: Make) -> None:
    row = dataset_of([parse_trajectory(make_record(1, 0), "x")])[0]
    with pytest.raises(RecordError, match="row 0: step_label: must have as many entries"):
        list(trajectories_of([{**row, "step_label": [1]}]))
    with pytest.raises(RecordError, match="row 0: messages: must be JSON text"):
        list(trajectories_of([{**row, "messages": "[{"}]))


def test_a_name_that_arrow_cannot_hold_is_refused(make_record: Make) -> None:
    with pytest.raises(RecordError, match="generator: must not hold a lone surrogate"):
        dataset_of([parse_trajectory(make_record(1, generator="\ud800"), "x")])


def test_a_build_becomes_splits_with_a_card_and_reads_back_from_a_folder(
    tmp_path: Path, write_lines: Write, make_record: Make
) -> None:
    source = write_lines(tmp_path / "a|b.jsonl", [make_record(1, -1, query=q) for q in range(10)])
    result = build([str(source)], tmp_path / "out", BuildOptions())
    splits = dataset_of_build(tmp_path / "out")
    assert {name: len(rows) for name, rows in splits.items()} == {"train": 7, "validation": 1, "test": 2}
    pushed = tmp_path / "pushed"
    pushed.mkdir()
    for name, rows in splits.items():
        rows.to_parquet(pushed / f"{name}-00000-of-00001.parquet")
    written = [t for part in splits for t in read_trajectories(tmp_path / "out" / f"{part}.jsonl")]
    assert sorted(read_all([str(pushed)]), key=lambda t: t.key) == sorted(written, key=lambda t: t.key)
    card = data_card(result.manifest)
    assert "| train.jsonl | 7 | 7 | 14 | 7 (50.0%) | 0 (0.0%) | 7 (50.0%) |" in card
    assert result.manifest["split_sha256"] in card
    assert "a|b" not in card
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == card


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"must hold train\.jsonl"):
        dataset_of_build(tmp_path)
