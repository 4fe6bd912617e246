"""The benchmarks run on tiny models and data, and compare like with like; nothing here looks at a time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import bench
from benchmarks.measure import alternate, launch, ratio, summary
from benchmarks.models import Subject
from benchmarks.runs import evenly_spaced, quantiles, row_lengths, skewed_runs, synthetic_records, ticket_runs
from benchmarks.scoring import max_difference, prefix_probabilities, prefix_rows
from benchmarks.training import sample_rows, token_labels

from prm.data.encode import IGNORED
from prm.data.jsonl import write_jsonl
from prm.data.records import dump_trajectory
from prm.training.targets import TargetOptions, training_rows
from tests.tiny import make_run, save_llama

_RUNS = [make_run(i, steps=1 + i % 4) for i in range(8)]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """A tiny Llama of two layers, one of them trained."""
    return Subject(str(save_llama(tmp_path_factory.mktemp("model"))), num_layers=2, trainable_layers=1)


@pytest.mark.parametrize(("what", "lines"), [("train", 2), ("score", 2), ("check", 1), ("help", 1)])
def test_a_benchmark_prints_a_ratio_first_and_appends_a_json_line(
    what: str,
    lines: int,
    subject: Subject,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench, "SKEWED_RUNS", 5)
    data, out = tmp_path / "tiny.jsonl", tmp_path / "folder" / "bench.jsonl"
    write_jsonl(data, (dump_trajectory(run) for run in _RUNS))
    model = ["--model", subject.name, "--layers", "2", "--trainable-layers", "1", "--data", str(data)]
    bench.main(
        [what, *model, "--repeats", "1", "--tokens", "800", "--limit", "3", "--records", "40", "--out", str(out)]
    )
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == lines
    assert all(float(line.partition("×")[0]) > 0 for line in printed)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["benchmark"] for record in records] == [what] * lines
    assert all({"sizes", "commit", "versions", "machine", "data"} <= record.keys() for record in records)


def test_both_training_sides_have_the_same_weights_and_train_the_same_ones(subject: Subject) -> None:
    ours, stock = (
        {name: (weight.shape, weight.requires_grad) for name, weight in model.named_parameters()}
        for model in (subject.site_model(), subject.stock_model())
    )
    assert ours == stock


def test_the_stock_side_has_a_label_at_each_site_and_nowhere_else(subject: Subject) -> None:
    (row,) = subject.encoder.encode(_RUNS[3])
    labels = token_labels(row)
    assert len(labels) == len(row.input_ids)
    assert {i: label for i, label in enumerate(labels) if label != IGNORED} == {
        site.position: site.class_id for site in row.sites
    }


def test_both_scoring_sides_give_the_same_probabilities_for_every_step_and_outcome(subject: Subject) -> None:
    classifier = subject.classifier()
    found = prefix_probabilities(classifier, _RUNS, lambda site: True)
    assert len(found) == sum(len(run.steps) + 1 for run in _RUNS)
    predictions = classifier.score(_RUNS)
    assert max_difference(predictions, found) < 1e-4
    found[0, None] = found[0, None] + 0.5
    assert max_difference(predictions, found) > 0.4


def test_a_prefix_ends_at_its_site_and_has_the_tokens_of_the_whole_row(subject: Subject) -> None:
    classifier = subject.classifier()
    (whole,) = classifier.encoder.encode(_RUNS[3])
    for _, row in prefix_rows(classifier, _RUNS[3:4], lambda site: site.message_index is not None):
        (site,) = row.sites
        assert len(row.input_ids) == site.position + 1
        assert row.input_ids.tolist() == whole.input_ids[: site.position + 1].tolist()


def test_the_skewed_set_has_a_p90_of_at_least_four_times_its_p50(subject: Subject) -> None:
    rows = [row for run in skewed_runs(50) for row in Subject(subject.name, max_tokens=100_000).encoder.encode(run)]
    assert quantiles(row_lengths(rows))["p90_over_p50"] >= 4


def test_ticket_runs_are_as_long_as_asked() -> None:
    runs = ticket_runs(3, 10)
    assert len(runs) == 3
    assert all(len(run.steps) >= 10 for run in runs)


def test_synthetic_records_differ() -> None:
    assert len({json.dumps(record) for record in synthetic_records(50)}) == 50


def test_a_sample_of_rows_has_about_the_tokens_asked_for_and_short_and_long_rows(subject: Subject) -> None:
    rows, _ = training_rows([make_run(i, steps=1 + i % 4) for i in range(40)], subject.encoder, TargetOptions())
    sample = row_lengths([row.row for row in sample_rows(rows, 2000)])
    assert 1500 < sum(sample) < 2500
    assert max(sample) > 2 * min(sample)


def test_evenly_spaced_takes_the_middle_of_each_part() -> None:
    assert evenly_spaced(range(10), 5) == [1, 3, 5, 7, 9]
    assert evenly_spaced([1, 2], 5) == [1, 2]


def test_sides_are_measured_in_turn_and_ratios_are_of_pairs() -> None:
    seen: list[str] = []
    sides = {name: lambda repeat, name=name: float(seen.append(name) or repeat + 1) for name in ("a", "b")}
    assert alternate(sides, 2) == {"a": [1.0, 2.0], "b": [1.0, 2.0]}
    assert seen == ["a", "b", "a", "b"]
    assert ratio([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == {"median": 2.0, "min": 1.0, "max": 3.0}
    assert summary([1.0, 2.0, 4.0]) == {"median": 2.0, "min": 1.0, "max": 4.0}


def test_the_peak_memory_of_a_launched_command_is_its_own() -> None:
    small, large = (launch([sys.executable, "-c", f"x = b'x' * {size}"])["peak_megabytes"] for size in (1, 200_000_000))
    assert small < 60  # this process, which has torch loaded, has more
    assert 150 < large - small < 250
