"""Each source's records, finding the reader, and one's own readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prm.data.readers.agentprocessbench import complete_record, dataset_of
from prm.data.readers.chat import first_user_text, hash_of_first_user_message
from prm.data.readers.registry import (
    detect_reader,
    iterate_all,
    load_reader,
    read_all,
    read_rows,
    refuse_missing,
)
from prm.data.sources import SetBadAside, handle_bad, load_trajectories
from prm.errors import ConfigError, DownloadError, InputError, MissingFileError, RecordError

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


def own_reader(source: str) -> Iterator[Any]:
    """A reader as a user writes one: pairs, or plain records."""
    for number, text in enumerate(Path(source).read_text().split(";")):
        record = {
            "id": text,
            "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "a"}],
            "step_labels": {"1": 1 if text != "bad" else 7},
        }
        yield record if number % 2 else (f"{source} part {number}", record)


def failing_reader(source: str) -> Iterator[Any]:
    yield {"id": "a", "messages": [{"role": "user", "content": "a"}]}
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("data_source", "dataset"),
    [
        ("searchR1_hotpotqa", "hotpotqa"),
        ("bfcl_multi_turn_base", "bfcl"),
        ("tau2_airline", "tau2"),
        ("gaia_dev", "gaia_dev"),
        ("gaia_level1", "gaia_dev"),
        ("gaiax", None),
        (None, None),
    ],
)
def test_the_subset_follows_from_the_data_source(data_source: Any, dataset: str | None) -> None:
    assert dataset_of(data_source) == dataset


def test_the_benchmark_reader_adds_only_what_is_absent() -> None:
    added = complete_record({"data_source": "tau2_retail", "sample_index": 3}, "x")
    assert {**added} == {
        "data_source": "tau2_retail",
        "sample_index": 3,
        "dataset": "tau2",
        "generator": "sample_3",
        "protocol": "error_propagation",
        "label_source": "human",
    }
    said = {
        "data_source": "tau2_retail",
        "sample_index": 3,
        "dataset": "d",
        "generator": "g",
        "protocol": "independent",
    }
    assert complete_record({**said, "label_source": "model"}, "x") == {**said, "label_source": "model"}


def test_the_benchmark_file_is_found_out_and_read(shared_data: Path) -> None:
    path = str(shared_data / "agentprocessbench" / "hotpotqa.jsonl")
    assert detect_reader(path) == "agentprocessbench"
    trajectories = read_all([path])
    assert {t.source for t in trajectories} == {"hotpotqa"}
    assert {t.identity.generator for t in trajectories} == {f"sample_{k}" for k in range(5)}


def test_tau_bench_runs_have_outcomes_and_no_step_labels(shared_data: Path) -> None:
    path = str(shared_data / "tau_bench" / "gpt-4o-airline.json")
    assert detect_reader(path) == "taubench"
    trajectories = read_all([path])
    runs = json.loads(Path(path).read_text())
    assert [t.final_label for t in trajectories] == [1 if run["reward"] == 1.0 else -1 for run in runs]
    assert len({t.key for t in trajectories}) == 200
    assert len({t.query for t in trajectories}) == 50
    assert {label for t in trajectories for label in t.step_labels.values()} == {None}
    assert {(t.identity.generator, t.source) for t in trajectories} == {("gpt-4o", "tau_bench_airline")}


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        ({"task_id": 1}, "has task_id and traj"),
        ({"traj": []}, "has task_id and traj"),
        (
            {"task_id": 1, "traj": [{"role": "user", "content": "x"}], "reward": "1"},
            "reward: must be a number",
        ),
        ({"task_id": 1, "traj": [], "reward": 1}, "messages: must be a list that is not empty"),
        (7, "must be an object"),
    ],
)
def test_a_broken_tau_bench_run_names_its_place(tmp_path: Path, run: Any, rule: str) -> None:
    path = tmp_path / "a-retail.json"
    path.write_text(json.dumps([{"task_id": 0, "traj": [{"role": "user", "content": "x"}], "reward": 0.5}, run]))
    with pytest.raises(RecordError, match=rule) as caught:
        read_all([str(path)])
    assert str(caught.value).startswith(f"{path}[1]")


def test_a_plain_chat_gets_its_query_from_the_first_user_message(tmp_path: Path, write_lines: Write) -> None:
    def chat(text: str) -> dict[str, Any]:
        return {
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": text},
                {"role": "assistant"},
            ]
        }

    path = str(write_lines(tmp_path / "log.jsonl", [chat("a"), chat("b"), chat("a")]))
    assert detect_reader(path) == "chat"
    first, second, third = read_all([path])
    assert first.query == third.query != second.query
    assert [t.identity.sample_index for t in (first, second, third)] == [0, 0, 1]
    assert first.identity.data_source == "log"
    assert first.identity.query_index == hash_of_first_user_message(first.messages)


def test_the_first_user_text_is_found_in_parts_too() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, "b"]
    assert first_user_text([{"role": "assistant", "content": "x"}, {"role": "user", "content": parts}]) == "a\nb"
    assert first_user_text([]) == first_user_text(None) == first_user_text([{"role": "user"}]) == ""


def test_a_record_that_names_itself_badly_is_not_read_as_a_chat(
    tmp_path: Path, write_lines: Write, make_record: Make
) -> None:
    record = make_record(1)
    del record["query_index"]
    with pytest.raises(RecordError, match="query_index"):
        read_all([str(write_lines(tmp_path / "a.jsonl", [record]))])


def test_stepwise_booleans_are_plus_and_minus_one(tmp_path: Path, write_lines: Write) -> None:
    row = {"prompt": "2+2?", "completions": ["2+2=4", "so 5"], "labels": [True, False]}
    path = str(write_lines(tmp_path / "math.jsonl", [row]))
    assert detect_reader(path) == "stepwise"
    (trajectory,) = read_all([path])
    assert trajectory.step_labels == {1: 1, 2: -1}
    assert trajectory.question == "2+2?"
    assert [m["content"] for m in trajectory.messages] == ["2+2?", "2+2=4", "so 5"]


def test_stepwise_zeros_are_neutral_unless_the_binary_reader_is_named(
    tmp_path: Path, write_lines: Write, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(write_lines(tmp_path / "a.jsonl", [{"prompt": "p", "completions": ["a", "b"], "labels": [1, 0]}]))
    assert read_all([path])[0].step_labels == {1: 1, 2: 0}
    assert "stepwise_binary" in caplog.text
    assert read_all([path], "stepwise_binary")[0].step_labels == {1: 1, 2: -1}


@pytest.mark.parametrize("labels", [[True], [True, 1, 1], None, "11", [2, 1], ["+1", 1]])
def test_broken_stepwise_labels_are_refused(tmp_path: Path, write_lines: Write, labels: Any) -> None:
    path = str(write_lines(tmp_path / "a.jsonl", [{"prompt": "p", "completions": ["a", "b"], "labels": labels}]))
    with pytest.raises(RecordError, match="label"):
        read_all([path])


def test_ones_own_reader_is_named_by_module_and_function(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x;y;z")
    trajectories = read_all([str(tmp_path / "a.txt")], f"{__name__}:own_reader")
    assert [t.key for t in trajectories] == [("id", "x"), ("id", "y"), ("id", "z")]


def test_bad_records_of_ones_own_reader_are_named_and_can_be_set_aside(tmp_path: Path) -> None:
    source, aside = tmp_path / "a.txt", tmp_path / "bad.jsonl"
    source.write_text("x;bad;z")
    with pytest.raises(RecordError, match=r"a\.txt: record 2: step_labels"):
        read_all([str(source)], f"{__name__}:own_reader")
    with handle_bad(aside) as bad:
        kept = [item.trajectory.key[1] for item in load_trajectories([str(source)], f"{__name__}:own_reader", bad)]
    assert (kept, isinstance(bad, SetBadAside) and bad.count) == (["x", "z"], 1)
    assert json.loads(aside.read_text())["raw"]["id"] == "bad"


def test_a_reader_that_fails_is_one_line_and_says_where() -> None:
    with pytest.raises(InputError, match=r"any: record 2: the reader must not fail, got .*KeyError.*oops"):
        list(read_rows("any", f"{__name__}:failing_reader"))


@pytest.mark.parametrize("name", ["nothing", "no.such.module:read", f"{__name__}:nothing", f"{__name__}:Make.x"])
def test_an_unknown_reader_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="--reader"):
        load_reader(name)


def test_the_installed_readers_are_found_by_name() -> None:
    for name in ("trajectory", "agentprocessbench", "chat", "hub", "stepwise", "stepwise_binary", "taubench"):
        assert callable(load_reader(name))


def test_an_empty_source_is_refused(tmp_path: Path) -> None:
    for text in ("", "\n \n"):
        (tmp_path / "a.jsonl").write_text(text)
        with pytest.raises(InputError, match="at least one record"):
            read_all([str(tmp_path / "a.jsonl")])


def test_missing_files_are_named() -> None:
    for source in ("none.jsonl", "folder/none.jsonl"):
        with pytest.raises(MissingFileError, match=source):
            read_all([source])
        with pytest.raises(MissingFileError, match=source):
            refuse_missing([source])


def test_hub_names_are_no_missing_files_and_offline_is_one_line() -> None:
    source = "LulaCola/AgentProcessBench:no_such_config"
    refuse_missing([source])
    assert detect_reader(source) == "agentprocessbench"
    assert detect_reader("someone/else") == "hub"
    with pytest.raises(DownloadError, match="Hugging Face hub") as caught:
        read_all([source])
    assert "\n" not in str(caught.value)


def test_bad_lines_are_set_aside_with_their_text_and_the_rest_is_read(
    tmp_path: Path, write_lines: Write, make_record: Make
) -> None:
    path, aside = tmp_path / "a.jsonl", tmp_path / "bad.jsonl"
    good = json.dumps(make_record(1)).encode()
    path.write_bytes(good + b'\n{"a": \xff}\n' + good.replace(b'"1": 1', b'"1": 2') + b"\n" + good + b"\n")
    with handle_bad(aside) as bad:
        places = [item.where for item in load_trajectories([str(path)], bad=bad)]
    assert places == [f"{path}:1", f"{path}:4"]
    lines = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [line["where"] for line in lines] == [f"{path}:2", f"{path}:3"]
    assert lines[0]["raw"].encode("utf-8", "surrogateescape") == b'{"a": \xff}'
    assert "step label must be -1, 0 or 1, got 2" in lines[1]["reason"]
    with pytest.raises(RecordError, match=rf"{path}:2"):
        list(iterate_all([str(path)]))
