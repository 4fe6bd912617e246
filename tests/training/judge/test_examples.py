"""What a judge is trained on: every verdict has its token and its weight, unknown ones have no loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from prm.errors import ConfigError, InputError
from prm.models.judge.answer import verdict_frame
from prm.models.judge.parse import parse_answer
from prm.models.judge.prompt import JudgePromptBuilder, JudgePromptConfig
from prm.training.judge.examples import AnswerTargets, judge_rows, reasons_of, verdict_weights
from prm.training.judge.prompts import build_prompts
from prm.types import LABELS, StepLabel, Trajectory
from tests.tiny import byte_level_tokenizer, make_run
from tests.training.judge.judge_runs import save_judge_backbone

TOKENIZER = byte_level_tokenizer()
COMPACT = JudgePromptConfig(max_prompt_tokens=3000)
JSON = JudgePromptConfig(max_prompt_tokens=6000, answer_format="json")


def _rows(run: Trajectory, config: JudgePromptConfig = COMPACT, **targets: Any) -> Any:
    prompted = build_prompts([run], JudgePromptBuilder(TOKENIZER, config))
    rows, _ = judge_rows(prompted, config, TOKENIZER, AnswerTargets(**targets))
    return rows[0]


def _labelled(labels: list[StepLabel | None], final: StepLabel | None = 1) -> Trajectory:
    run = make_run(1, steps=len(labels))
    return replace(run, step_labels=dict(zip(run.step_labels, labels, strict=True)), final_label=final)


def test_a_row_is_the_prompt_and_the_whole_answer_to_the_end_of_its_turn() -> None:
    run = make_run(3, steps=3)
    row = _rows(run)
    prompt = JudgePromptBuilder(TOKENIZER, COMPACT).build(run)
    frame = verdict_frame(TOKENIZER, prompt.message_indices)
    assert row.prompt_ids == prompt.input_ids
    assert list(row.answer_ids) == frame.ids([*run.step_labels.values(), run.final_label])  # type: ignore[list-item]
    assert row.answer_ids[-1] == TOKENIZER.eos_token_id
    assert row.weights == (1.0,) * len(row.answer_ids)


def test_the_prompt_has_no_loss_and_every_token_of_the_answer_has() -> None:
    row = _rows(make_run(3, steps=3))
    columns = row.columns()
    blank = len(row.prompt_ids)
    assert columns["input_ids"] == [*row.prompt_ids, *row.answer_ids]
    assert columns["labels"] == [-100] * blank + list(row.answer_ids)
    assert columns["weights"] == [0.0] * blank + [1.0] * len(row.answer_ids)
    assert row.trained == len(row.answer_ids)


def test_verdicts_have_the_weight_of_their_class_and_unknown_ones_none() -> None:
    run = _labelled([1, None, -1, 0], final=None)
    row = _rows(run, class_weights=(5.0, 3.0, 2.0), loss_on="verdicts")
    frame = verdict_frame(TOKENIZER, list(run.step_labels))
    assert [row.weights[i] for i in frame.verdict_positions()] == [2.0, 0.0, 5.0, 3.0, 0.0]
    assert sum(row.weights) == 10.0
    # A neutral verdict stands where nothing is known.
    assert row.answer_ids[frame.verdict_positions()[1]] == frame.verdict_ids[1]


def test_a_closing_line_is_trained_on_the_verdict_of_its_own_step() -> None:
    run = _labelled([1, None, -1, 0])
    row = _rows(run, class_weights=(5.0, 3.0, 0.0), loss_on="verdicts", closing_weight=0.5, outcome_weight=0.4)
    prompt = JudgePromptBuilder(TOKENIZER, COMPACT).build(run)
    bad, neutral, good = verdict_frame(TOKENIZER, prompt.message_indices).verdict_ids
    ends = JudgePromptBuilder(TOKENIZER, COMPACT).answer_places(prompt)
    # Nothing is known of step 2, and +1 has no weight.
    assert row.closings == ((ends[2], bad, 2.5), (ends[3], neutral, 1.5), (ends[4], good, 0.2))
    columns = row.columns()
    inside = [i for i, label in enumerate(columns["labels"][: len(row.prompt_ids)]) if label != -100]
    assert inside == [ends[2] + 1, ends[3] + 1, ends[4] + 1]
    assert [columns["labels"][i] for i in inside] == [bad, neutral, good]
    assert [columns["weights"][i] for i in inside] == [2.5, 1.5, 0.2]
    assert columns["input_ids"][: len(row.prompt_ids)] == list(prompt.input_ids)
    assert row.trained == sum(weight > 0 for weight in row.weights) + 3


def test_with_noise_later_verdicts_see_random_ones_and_the_targets_stay() -> None:
    labels: list[StepLabel | None] = [1, 1, None, -1, 1, 1, 1, 1]
    clean = _rows(_labelled(labels), loss_on="verdicts")
    noisy = _rows(_labelled(labels), loss_on="verdicts", verdict_noise=1.0)
    assert clean.shown_ids is None
    assert noisy.columns()["labels"] == clean.columns()["labels"]
    places = verdict_frame(TOKENIZER, list(_labelled(labels).step_labels)).verdict_positions()
    differing = [i for i, (a, b) in enumerate(zip(noisy.shown_ids, clean.answer_ids, strict=True)) if a != b]
    assert set(differing) <= set(places)
    assert 2 <= len(differing) < len(places)
    assert noisy.columns()["input_ids"] == [*clean.prompt_ids, *noisy.shown_ids]
    assert noisy == _rows(_labelled(labels), loss_on="verdicts", verdict_noise=1.0)
    assert noisy.shown_ids != _rows(_labelled(labels), loss_on="verdicts", verdict_noise=1.0, seed=1).shown_ids
    some = [_rows(_labelled(labels), loss_on="verdicts", verdict_noise=0.3, seed=i).shown_ids for i in range(60)]
    kept = sum(ids[place] == clean.answer_ids[place] for ids in some for place in places) / (60 * len(places))
    # A drawn verdict is the true one in a third of the draws: 1 − 0.3 · 2/3.
    assert kept == pytest.approx(0.8, abs=0.06)


def test_the_outcome_has_a_weight_of_its_own() -> None:
    row = _rows(_labelled([1]), outcome_weight=0.25, loss_on="verdicts")
    assert [weight for weight in row.weights if weight] == [1.0, 0.25]
    untrained = _rows(_labelled([1]), outcome_weight=0.0, loss_on="verdicts")
    assert untrained.trained == 1


@given(st.lists(st.sampled_from((*LABELS, None)), min_size=1, max_size=14), st.sampled_from((*LABELS, None)))
def test_every_label_of_any_run_is_trained_exactly_once(
    labels: list[StepLabel | None], final: StepLabel | None
) -> None:
    known = sum(label is not None for label in [*labels, final])
    if known:
        row = _rows(_labelled(labels, final), loss_on="verdicts")
        assert row.trained == known


def test_a_run_without_a_label_is_refused_and_one_with_an_outcome_alone_is_not() -> None:
    with pytest.raises(InputError, match="must have a label"):
        _rows(_labelled([None, None], final=None))
    assert _rows(_labelled([None], final=-1), loss_on="verdicts").trained == 1
    with pytest.raises(InputError, match="must have a label"):
        _rows(_labelled([None], final=-1), outcome_weight=0.0)


def test_the_account_counts_every_label() -> None:
    runs = [make_run(number, steps=4) for number in range(5)]
    prompted = build_prompts(runs, JudgePromptBuilder(TOKENIZER, COMPACT))
    rows, account = judge_rows(prompted, COMPACT, TOKENIZER, AnswerTargets())
    assert len(rows) == account.rows == 5
    assert sum(account.labelled.values()) == 20
    assert not any(account.dropped.values())


def test_a_json_answer_has_the_reasons_that_the_labels_came_with() -> None:
    run = replace(_labelled([1, -1], final=-1), label_notes={"steps": {"1": 'it "helps"'}, "final": "not done"})
    row = _rows(run, JSON)
    text = TOKENIZER.decode(row.answer_ids[:-1])
    assert row.weights == (1.0,) * len(row.answer_ids)
    parsed = parse_answer(text, list(run.step_labels))
    assert (parsed.step_labels, parsed.final_label, parsed.status) == (dict(run.step_labels), -1, "ok")
    assert parsed.explanations == {"steps": {"1": 'it "helps"'}, "final": "not done"}


def test_unknown_entries_of_a_json_answer_have_no_loss_and_the_answer_stays_whole() -> None:
    run = replace(
        _labelled([0, None, 1, None], final=None),
        label_notes={"steps": {"1": '{"step": 2, "label": 0}', "3": "why should one know"}, "final": "no"},
    )
    row = _rows(run, JSON)
    text = TOKENIZER.decode(row.answer_ids[:-1])
    assert parse_answer(text, list(run.step_labels)).status == "ok"
    masked = TOKENIZER.decode([i for i, weight in zip(row.answer_ids, row.weights, strict=True) if not weight])
    assert masked == '{"step": 2, "label": 0}{"step": 4, "label": 0}"final": {"label": 0}'
    assert "why should" not in text


def test_reasons_are_read_in_both_shapes() -> None:
    assert reasons_of({"3": "a", "5": " ", "note": "b"}) == {3: "a"}
    assert reasons_of({"steps": {"3": "a"}, "final": "b"}) == {3: "a", None: "b"}
    assert reasons_of("text") == reasons_of(None) == {}


def test_inverse_square_root_weights_by_hand() -> None:
    # 1, 4 and 4 steps: n^−½ = 1, ½, ½; the mean over 9 steps is (1 + 4·½ + 4·½) / 9 = 5/9, so × 9/5.
    runs = [_labelled([-1, 0, 0, 0, 0, 1, 1, 1, 1])]
    assert verdict_weights("inverse_sqrt", runs) == pytest.approx((1.8, 0.9, 0.9))
    assert verdict_weights("inverse_sqrt", [_labelled([1, 1, None])]) == (1.0, 1.0, 1.0)
    assert verdict_weights(None, runs) == (1.0, 1.0, 1.0)
    assert verdict_weights("1,2,3", runs) == (1.0, 2.0, 3.0)
    with pytest.raises(ConfigError, match="class_weights"):
        verdict_weights("sqrt", runs)


def test_the_tiny_judge_of_the_tests_has_one_token_verdicts(tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(save_judge_backbone(tmp_path))
    assert len({*verdict_frame(tokenizer, [1]).verdict_ids}) == 3
