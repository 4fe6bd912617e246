"""What `build` writes: no leaks, a full manifest, the same bytes for the same request."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prm.data.build import BuildOptions, build
from prm.data.jsonl import read_jsonl
from prm.data.queries import normalise_text
from prm.data.readers.chat import first_user_text
from prm.data.records import read_trajectories
from prm.errors import ConfigError, InputError, ProtocolError, RecordError

Make = Callable[..., dict[str, Any]]
Write = Callable[..., Path]


@pytest.fixture
def source(tmp_path: Path, make_record: Make, write_lines: Write) -> Path:
    """Twenty queries, three runs each by agents a, b and c; one template for every five queries."""
    records = [
        make_record(1, -1, query=q, sample=s, generator="abc"[s], template=f"t{q % 4}", final_label=1 if q % 2 else -1)
        for q in range(20)
        for s in range(3)
    ]
    return write_lines(tmp_path / "runs.jsonl", records)


def keys_in(path: Path) -> set[tuple[str, ...]]:
    return {trajectory.key for trajectory in read_trajectories(path)}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_run_is_in_one_part_and_no_query_in_two(tmp_path: Path, source: Path) -> None:
    manifest = build([str(source)], tmp_path / "out", BuildOptions()).manifest
    parts = [list(read_trajectories(tmp_path / "out" / f"{part}.jsonl")) for part in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [42, 6, 12]
    assert {t.key for part in parts for t in part} == keys_in(source)
    queries = [{t.query for t in part} for part in parts]
    assert not queries[0] & queries[1] | queries[0] & queries[2] | queries[1] & queries[2]
    outcomes = Counter(t.final_label for t in parts[2])
    assert outcomes == {1: 6, -1: 6}, "stratified by outcome"
    assert [manifest["outputs"][f"{part}.jsonl"]["trajectories"] for part in ("train", "validation", "test")] == [
        42,
        6,
        12,
    ]


def test_the_manifest_names_hashes_counts_and_options(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "out"
    build([str(source)], out, BuildOptions(seed=7, label_protocol="independent"))
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["schema"] == "prm.build/1"
    assert manifest["request"]["inputs"] == [{"source": str(source), "sha256": sha256(source.read_bytes()).hexdigest()}]
    assert manifest["request"]["options"]["seed"] == 7
    assert manifest["protocol"] == "independent"
    for name, part in manifest["outputs"].items():
        assert part["sha256"] == sha256((out / name).read_bytes()).hexdigest()
        runs = list(read_trajectories(out / name))
        assert part["label_counts"] == {"-1": len(runs), "0": 0, "1": len(runs), "unknown": 0}
        assert {run.protocol for run in runs} == {"independent"}
    assert not [p for p in out.iterdir() if p.name.startswith(".")]


def test_the_same_request_gives_the_same_bytes_and_is_not_built_twice(tmp_path: Path, source: Path) -> None:
    first = build([str(source)], tmp_path / "a", BuildOptions(folds=3))
    second = build([str(source)], tmp_path / "b", BuildOptions(folds=3))
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")
    assert not first.already_built | second.already_built
    assert build([str(source)], tmp_path / "a", BuildOptions(folds=3)).already_built


@pytest.mark.parametrize("change", ["options", "input", "output", "foreign"])
def test_another_folder_in_the_way_is_refused_and_only_replaced_on_request(
    tmp_path: Path, source: Path, change: str
) -> None:
    out, options = tmp_path / "out", BuildOptions()
    if change == "foreign":
        out.mkdir()
        (out / "precious.txt").write_text("x")
    else:
        build([str(source)], out, options)
    if change == "options":
        options = BuildOptions(seed=1)
    if change == "input":
        source.write_bytes(
            source.read_bytes()
            + source.read_bytes().splitlines(keepends=True)[0].replace(b'"sample_index": 0', b'"sample_index": 9')
        )
    if change == "output":
        (out / "test.jsonl").write_text("")
    before = bytes_of(out)
    with pytest.raises(ConfigError, match="--overwrite"):
        build([str(source)], out, options)
    assert bytes_of(out) == before
    build([str(source)], out, options, overwrite=True)
    assert build([str(source)], out, options).already_built
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "runs.jsonl"]


def test_folds_test_each_run_once(tmp_path: Path, source: Path) -> None:
    build([str(source)], tmp_path / "out", BuildOptions(folds=4))
    tested = Counter(key for fold in range(4) for key in keys_in(tmp_path / "out" / f"fold-{fold}" / "test.jsonl"))
    assert set(tested) == keys_in(source)
    assert set(tested.values()) == {1}
    for fold in range(4):
        folder = tmp_path / "out" / f"fold-{fold}"
        parts = [keys_in(folder / f"{part}.jsonl") for part in ("train", "validation", "test")]
        assert set.union(*parts) == keys_in(source)
        assert sum(map(len, parts)) == 60


def test_generators_left_out_are_tested_on_queries_that_are_not_trained_on(tmp_path: Path, source: Path) -> None:
    build([str(source)], tmp_path / "out", BuildOptions(folds=2, leave_generator_out=True))
    tested: Counter[tuple[str, ...]] = Counter()
    for folder in sorted((tmp_path / "out").glob("generator-*/fold-*")):
        test = list(read_trajectories(folder / "test.jsonl"))
        fitted = [t for part in ("train", "validation") for t in read_trajectories(folder / f"{part}.jsonl")]
        tested.update(t.key for t in test)
        assert {f"generator-{t.identity.generator}" for t in test} == {folder.parent.name}
        assert not {t.identity.generator for t in fitted} & {t.identity.generator for t in test}
        assert not {t.query for t in fitted} & {t.query for t in test}
    assert set(tested) == keys_in(source)
    assert set(tested.values()) == {1}


@pytest.mark.parametrize("folds", [None, 2])
def test_templates_held_out_are_whole(tmp_path: Path, source: Path, folds: int | None) -> None:
    options = BuildOptions(holdout_key="template", folds=folds, test_share=None if folds else 0.25)
    build([str(source)], tmp_path / "out", options)
    for test in (tmp_path / "out").rglob("test.jsonl"):
        held = {t.extra["template"] for t in read_trajectories(test)}
        rest = {
            t.extra["template"]
            for part in ("train", "validation")
            for t in read_trajectories(test.with_name(f"{part}.jsonl"))
        }
        assert held
        assert rest
        assert not held & rest


def test_a_hold_out_key_may_be_nested_and_must_be_there(tmp_path: Path, make_record: Make, write_lines: Write) -> None:
    records = [make_record(1, query=q, label_notes={"family": q % 3}) for q in range(9)]
    path = write_lines(tmp_path / "a.jsonl", records)
    manifest = build([str(path)], tmp_path / "out", BuildOptions(holdout_key="label_notes.family")).manifest
    assert manifest["queries"] == {"named": 9, "after_merging": 9, "kept_whole": 3}
    with pytest.raises(RecordError, match=r"a\.jsonl:1: label_notes\.kind: every record must have the hold-out key"):
        build([str(path)], tmp_path / "other", BuildOptions(holdout_key="label_notes.kind"))
    assert not (tmp_path / "other").exists()


def test_weights_and_diverse_queries_leave_whole_queries_out_and_say_so(
    tmp_path: Path, make_record: Make, write_lines: Write
) -> None:
    one = [make_record(1, query=q, sample=s, question=f"fruit {q}") for q in range(12) for s in range(2)]
    two = [make_record(1, query=q, data_source="b", question=f"metal {q}") for q in range(6)]
    two = [{**r, "messages": [{"role": "user", "content": r["question"]}, *r["messages"][1:]]} for r in two]
    sources = [str(write_lines(tmp_path / "a.jsonl", one)), str(write_lines(tmp_path / "b.jsonl", two))]
    mixed = build(sources, tmp_path / "w", BuildOptions(weights={"shop": 2, "b": 1})).manifest
    total: Counter[str] = Counter()
    for part in mixed["outputs"].values():
        total.update(part["by_source"])
    assert total == {"shop": 12, "b": 6}
    assert mixed["records"]["left_out"]["weight"] == 12
    chosen = build(sources, tmp_path / "q", BuildOptions(queries_per_source=4)).manifest
    assert sum(part["queries"] for part in chosen["outputs"].values()) == 8
    assert sum(part["by_source"].get("shop", 0) for part in chosen["outputs"].values()) == 8, "every run of a query"
    assert chosen["records"]["left_out"]["queries_per_source"] == 24 - 8 + 6 - 4


def test_equal_records_are_left_out_once_and_unequal_ones_of_one_key_refused(
    tmp_path: Path, source: Path, make_record: Make, write_lines: Write
) -> None:
    manifest = build([str(source), str(source)], tmp_path / "out", BuildOptions()).manifest
    assert manifest["records"]["left_out"]["duplicate"] == 60
    assert sum(part["trajectories"] for part in manifest["outputs"].values()) == 60
    clash = write_lines(tmp_path / "clash.jsonl", [make_record(0, query=3)])
    with pytest.raises(RecordError, match=r"clash\.jsonl:1: key: must be unique"):
        build([str(source), str(clash)], tmp_path / "other", BuildOptions())


def test_bad_records_are_set_aside_and_counted(
    tmp_path: Path, source: Path, make_record: Make, write_lines: Write
) -> None:
    bad = write_lines(tmp_path / "bad.jsonl", [make_record(2, query=77), make_record(1, query=78)])
    with pytest.raises(RecordError, match=r"bad\.jsonl:1"):
        build([str(source), str(bad)], tmp_path / "out", BuildOptions())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.jsonl", "runs.jsonl"]
    result = build([str(source), str(bad)], tmp_path / "out", BuildOptions(), skip_bad=tmp_path / "aside.jsonl")
    assert result.manifest["records"]["left_out"]["bad"] == 1
    assert [record["where"] for _, record in read_jsonl(tmp_path / "aside.jsonl")] == [f"{bad}:1"]


def test_label_only_records_are_refused(tmp_path: Path, write_lines: Write) -> None:
    record = {
        "data_source": "a",
        "query_index": 0,
        "sample_index": 0,
        "step_labels": {"2": 1},
        "final_label": 1,
    }
    with pytest.raises(RecordError, match="messages: key must be present"):
        build([str(write_lines(tmp_path / "a.jsonl", [record]))], tmp_path / "out", BuildOptions())


def test_mixed_protocols_are_refused_unless_only_first_errors_are_kept(
    tmp_path: Path, make_record: Make, write_lines: Write
) -> None:
    records = [
        make_record(1, -1, 1, query=q, protocol="independent" if q % 2 else "error_propagation") for q in range(10)
    ]
    path = write_lines(tmp_path / "a.jsonl", records)
    with pytest.raises(ProtocolError, match=r"a\.jsonl:2: protocol: label protocols must not be mixed"):
        build([str(path)], tmp_path / "out", BuildOptions())
    manifest = build([str(path)], tmp_path / "out", BuildOptions(first_errors_only=True)).manifest
    assert manifest["protocol"] == "first_error_only"
    labels = manifest["outputs"]["train.jsonl"]["label_counts"]
    assert labels["unknown"] == labels["-1"] == labels["1"] == 7


def test_strange_text_survives_a_build(tmp_path: Path, make_record: Make, write_lines: Write) -> None:
    strange = "\u2028 \u0085 \ud800 \x00 \r\n </think> <|im_end|>"
    records = [make_record(1, query=q, question=f"{strange} {q}", note=strange) for q in range(5)]
    path = write_lines(tmp_path / "a.jsonl", records)
    build([str(path)], tmp_path / "out", BuildOptions())
    built = [
        t for part in ("train", "validation", "test") for t in read_trajectories(tmp_path / "out" / f"{part}.jsonl")
    ]
    assert sorted(built, key=lambda t: t.key) == list(read_trajectories(path))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"folds": 3, "test_share": 0.2}, "--test-share"),
        ({"test_share": 1.0}, "--test-share"),
        ({"validation_share": -0.1}, "--validation-share"),
        ({"queries_per_source": 0}, "--queries-per-source"),
        ({"embedding_model": "m"}, "--embedding-model"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        BuildOptions(**options)


def test_too_little_data_leaves_nothing_behind(tmp_path: Path, make_record: Make, write_lines: Write) -> None:
    path = write_lines(tmp_path / "a.jsonl", [make_record(1)])
    with pytest.raises(InputError, match="must leave a query to train on"):
        build([str(path)], tmp_path / "out", BuildOptions())
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


runs = st.lists(
    st.tuples(
        st.sampled_from("AB"),
        st.integers(0, 9),
        st.sampled_from(["q1", "q2", "q3", "q4", None]),
        st.integers(0, 9),
    ),
    min_size=6,
    max_size=24,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs, st.integers(0, 5), st.booleans())
def test_no_question_is_ever_on_both_sides(
    tmp_path_factory: pytest.TempPathFactory,
    make_record: Make,
    write_lines: Write,
    given_runs: Any,
    seed: int,
    folds: bool,
) -> None:
    folder = tmp_path_factory.mktemp("build")
    records = [
        make_record(
            1, query=query, sample=number, data_source=source, question=question,
            messages=[
                {"role": "user", "content": f"ask {opening}"},
                {"role": "assistant", "content": str(number)},
            ],
        )
        for number, (source, query, question, opening) in enumerate(given_runs)
    ]  # fmt: skip
    path = write_lines(folder / "a.jsonl", records)
    try:
        build([str(path)], folder / "out", BuildOptions(seed=seed, folds=2 if folds else None))
    except InputError as error:
        if "quer" not in str(error):
            raise
        return
    for test in (folder / "out").rglob("test.jsonl"):
        tested = list(read_trajectories(test))
        others = [t for p in test.parent.glob("*.jsonl") if p != test for t in read_trajectories(p)]
        assert not {t.query for t in tested} & {t.query for t in others}
        assert not {normalise_text(t.question) for t in tested if t.question} & {
            normalise_text(t.question) for t in others if t.question
        }
        for source, other in (("A", "B"), ("B", "A")):
            here = {first_user_text(t.messages) for t in tested if t.source == source}
            assert not here & {first_user_text(t.messages) for t in others if t.source == other}
