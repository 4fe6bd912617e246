"""A judge whose model runs here: forced and free answers, votes, failures, checkpoints."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from prm.data.label_account import LabelAccount
from prm.data.records import dump_prediction, parse_prediction
from prm.errors import ConfigError, DownloadError, ModelError
from prm.models.judge.answer import verdict_frame
from prm.models.judge.calibration import Calibration
from prm.models.judge.checkpoint import JUDGE_FILE, JudgeInfo, read_judge_info, write_judge_info
from prm.models.judge.generation import GeneratedAnswer, GenerationLimits, generate_answers
from prm.models.judge.interface import Judge
from prm.models.judge.local_judge import CHUNK, JudgeOptions, LocalJudge
from prm.models.judge.prompt import JudgePrompt, JudgePromptBuilder, JudgePromptConfig
from prm.models.judge.rubric import PROMPT_VERSION
from prm.models.judge.verdicts import reading_of_texts
from prm.models.scoring import Shard
from prm.types import LABELS, Prediction, RunIdentity, Trajectory
from tests.models.judge.templates import CHATML
from tests.tiny import make_run, save_llama

CONFIG = JudgePromptConfig(max_prompt_tokens=1500)
RUNS = [make_run(number, steps=1 + number % 4) for number in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model whose verdicts differ from step to step."""
    made = save_llama(tmp_path_factory.mktemp("model"), layers=2)
    model = AutoModelForCausalLM.from_pretrained(made)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4.0)
    model.save_pretrained(made)
    return made


def load(folder: Path, options: JudgeOptions | None = None, config: JudgePromptConfig = CONFIG) -> LocalJudge:
    return LocalJudge.from_pretrained(folder, prompt=config, options=options, device="cpu")


def test_forced_verdicts_are_the_most_probable_tokens_of_a_plain_forward(folder: Path) -> None:
    judge = load(folder)
    (prediction,) = judge.judge(RUNS[3:4])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt = JudgePromptBuilder(tokenizer, CONFIG).build(RUNS[3])
    frame = verdict_frame(tokenizer, prompt.message_indices)
    labels = [*prediction.step_labels.values(), prediction.final_label]
    ids = torch.tensor([[*prompt.input_ids, *frame.ids(labels)]])  # type: ignore[arg-type]
    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(folder)(ids).logits[0]
    probs = torch.stack(
        [
            logits[len(prompt.input_ids) + position - 1, list(frame.verdict_ids)].softmax(-1)
            for position in frame.verdict_positions()
        ]
    ).numpy()
    assert [LABELS[i] for i in probs.argmax(1)] == labels
    assert list(prediction.step_probs) == list(prediction.step_labels) == list(RUNS[3].step_labels)
    np.testing.assert_allclose(list(prediction.step_probs.values()), probs[:-1], atol=2e-6)
    assert prediction.final_prob == pytest.approx(probs[-1, 2], abs=2e-6)
    assert prediction.status == "ok"


def test_a_record_says_how_it_came_about_and_survives_writing(folder: Path) -> None:
    (prediction,) = load(folder).judge(RUNS[:1])
    assert (prediction.protocol, prediction.prompt_version) == ("error_propagation", PROMPT_VERSION)
    assert prediction.rendering["prompt"]["max_prompt_tokens"] == 1500
    assert prediction.rendering["decoding"] == "forced"
    assert parse_prediction(dump_prediction(prediction), "here") == prediction


def test_predictions_do_not_depend_on_batches_and_come_in_order(folder: Path) -> None:
    runs = [make_run(number, steps=1 + number % 5) for number in range(CHUNK + 3)]
    whole = list(load(folder).judge(runs))
    alone = list(load(folder, JudgeOptions(tokens_per_batch=1)).judge(runs))
    assert [p.key for p in whole] == [run.key for run in runs]
    for one, other in zip(whole, alone, strict=True):
        assert one.step_labels == other.step_labels
        np.testing.assert_allclose(list(one.step_probs.values()), list(other.step_probs.values()), atol=1e-5)


def test_two_processes_share_the_batches_and_give_what_one_gives(folder: Path) -> None:
    judge = load(folder, JudgeOptions(tokens_per_batch=2500, samples=3, temperature=1.0))
    found: list[dict[int, Prediction]] = []

    def keep(part: dict[int, Prediction]) -> dict[int, Prediction]:
        found.append(part)
        return {number: part.get(number) for number in range(len(RUNS))}  # type: ignore[misc]

    for rank in range(2):
        judge.judge_shard(RUNS, Shard(rank, 2), keep)
    assert found[0].keys().isdisjoint(found[1])
    merged = {**found[0], **found[1]}
    assert [merged[number] for number in range(len(RUNS))] == judge.judge_shard(RUNS)


def test_sampled_answers_vote_and_the_same_seed_gives_the_same(folder: Path) -> None:
    options = JudgeOptions(samples=7, temperature=1.5, seed=3)
    first = list(load(folder, options).judge(RUNS))
    assert first == list(load(folder, options).judge(RUNS))
    assert first != list(load(folder, replace(options, seed=4)).judge(RUNS))
    for prediction in first:
        shares = prediction.extra["vote_share"]
        assert shares.keys() == {*map(str, prediction.step_labels), "final"}
        # Seven votes for three labels: the winner has at least three of them.
        assert all(3 / 7 - 1e-6 <= share <= 1 for share in shares.values())
        assert all(abs(sum(vector) - 1) < 1e-5 for vector in prediction.step_probs.values())


def test_many_samples_vote_as_the_mean_of_their_probabilities_says(folder: Path) -> None:
    (prediction,) = load(folder, JudgeOptions(samples=400, temperature=1.0, tokens_per_batch=10**6)).judge(RUNS[:1])
    (index,) = prediction.step_labels
    share = prediction.extra["vote_share"][str(index)]
    assert share == pytest.approx(max(prediction.step_probs[index]), abs=0.1)


def test_a_run_that_does_not_fit_is_a_failed_record_and_the_others_are_judged(folder: Path) -> None:
    config = JudgePromptConfig(max_prompt_tokens=1500)
    long = make_run(90, steps=400)
    predictions = list(load(folder, config=config).judge([RUNS[0], long, RUNS[1]]))
    assert [p.status for p in predictions] == ["ok", "failed", "ok"]
    assert predictions[1].key == long.key
    assert predictions[1].step_labels == {}
    assert "max_prompt_tokens" in str(predictions[1].reason)


def test_a_run_without_steps_gets_an_outcome_alone(folder: Path) -> None:
    run = Trajectory(RunIdentity("tiny", 1, 1), ({"role": "user", "content": "hello"},), {})
    (prediction,) = load(folder).judge([run])
    assert (prediction.status, prediction.step_labels) == ("ok", {})
    assert prediction.final_label in LABELS


def test_an_unasked_outcome_is_not_predicted(folder: Path) -> None:
    (prediction,) = load(folder, config=replace(CONFIG, outcome=False)).judge(RUNS[:1])
    assert prediction.final_label is None
    assert prediction.final_prob is None


@pytest.mark.parametrize("answer_format", ["compact", "json"])
def test_an_untrained_model_that_answers_freely_fails_with_a_reason(folder: Path, answer_format: Any) -> None:
    config = replace(CONFIG, answer_format=answer_format, max_prompt_tokens=2048)
    options = JudgeOptions(decoding="free", max_answer_tokens=8, samples=2, temperature=1.0)
    first = list(load(folder, options, config).judge(RUNS[:2]))
    assert [p.status for p in first] == ["failed", "failed"]
    assert all(p.reason for p in first)
    assert first == list(load(folder, options, config).judge(RUNS[:2]))


def test_generated_answers_do_not_depend_on_what_else_is_in_the_batch(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).train()
    limits = GenerationLimits(1, 0.0, 6, 0)
    prompts = [tokenizer("stock of a lamp")["input_ids"], tokenizer("search the blue lamp for Anna")["input_ids"]]
    together = generate_answers(model, tokenizer, prompts, limits)
    assert together == [generate_answers(model, tokenizer, [prompt], limits)[0] for prompt in prompts]
    assert model.training
    state = torch.get_rng_state()
    generate_answers(model, tokenizer, prompts, GenerationLimits(2, 1.0, 3, 0))
    assert torch.equal(state, torch.get_rng_state())


ASKED = JudgePrompt("", (5,), (1, 4), LabelAccount(), 0)
"""A prompt about the steps of messages 1 and 4."""


def _said(*texts: str) -> list[GeneratedAnswer]:
    return [GeneratedAnswer(text, True) for text in texts]


def test_free_answers_vote_and_bad_ones_count_against_consistency() -> None:
    answers = _said("1:+ 2:- final:-", "1:+ 2:0 final:-", "1:- 2:- final:+", "no idea")
    prediction = reading_of_texts(answers, ASKED, outcome=True).prediction(RUNS[0], {})
    assert prediction.step_labels == {1: 1, 4: -1}
    assert prediction.final_label == -1
    assert prediction.extra["vote_share"] == {"1": 0.5, "4": 0.5, "final": 0.5}
    assert prediction.extra["failed_answers"] == 1
    assert prediction.step_probs[1] == pytest.approx((1 / 3, 0, 2 / 3), abs=1e-6)
    assert prediction.status == "ok"


def test_one_free_answer_keeps_its_reasons_and_has_no_probabilities() -> None:
    text = (
        '{"steps": [{"step": 1, "label": 1, "reason": "found it"}, {"step": 2, "label": -1}],'
        ' "final": {"label": -1, "reason": "wrong"}}'
    )
    prediction = reading_of_texts(_said(text), ASKED, outcome=True).prediction(RUNS[0], {})
    assert prediction.explanations == {"steps": {"1": "found it"}, "final": "wrong"}
    assert prediction.step_probs == {}
    assert "vote_share" not in prediction.extra


def test_a_missing_verdict_makes_a_record_partial_with_its_reason() -> None:
    reading = reading_of_texts([GeneratedAnswer("1:+ 2:", False)], ASKED, outcome=True)
    assert reading.status == "partial"
    assert "step 2" in str(reading.reason)
    assert "max_answer_tokens" in str(reading.reason)
    several = reading_of_texts(_said("1:+ final:+", "1:+ 2:- final:+"), ASKED, outcome=True)
    assert several.status == "ok"


def test_a_draft_in_a_thought_that_the_prompt_opened_and_the_limit_cut_is_no_answer() -> None:
    thinking = replace(ASKED, answer_prefix="<think>")
    draft = "Perhaps so:\n1:+ 2:+ final:+\nbut then"
    reading = reading_of_texts([GeneratedAnswer(draft, False)], thinking, outcome=True)
    assert (reading.status, dict(reading.votes)) == ("failed", {})
    assert str(reading.reason) == "the reasoning does not end; it ran into max_answer_tokens"
    ended = reading_of_texts(_said(f"{draft}</think>1:- 2:0 final:-"), thinking, outcome=True)
    assert [vote.label for vote in ended.votes.values()] == [-1, 0, -1]


def test_a_judge_reads_free_answers_with_what_its_template_has_begun(tmp_path: Path) -> None:
    """Whatever a model writes behind an open thought is no answer until it ends; it never writes that here."""
    made = save_llama(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(made)
    tokenizer.chat_template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
    tokenizer.save_pretrained(made)
    options = JudgeOptions(decoding="free", max_answer_tokens=4)
    (prediction,) = load(made, options, JudgePromptConfig(answer_format="json")).judge(RUNS[:1])
    assert str(prediction.reason).startswith("the reasoning does not end")


def test_a_stored_judge_is_asked_as_it_was_trained(folder: Path, tmp_path: Path) -> None:
    copy = save_llama(tmp_path / "judge")
    config = JudgePromptConfig(max_prompt_tokens=1777, protocol="independent", outcome=False)
    info = JudgeInfo(config, training={"runs": 3}, calibration=Calibration(8.0, (1.0, 0.0, -2.5)))
    write_judge_info(copy, info)
    judge = LocalJudge.from_pretrained(copy, device="cpu")
    assert judge.info == info
    asked_otherwise = LocalJudge.from_pretrained(copy, prompt=JudgePromptConfig(), device="cpu")
    assert asked_otherwise.info.calibration == info.calibration
    assert read_judge_info(folder) is None
    stored = (copy / JUDGE_FILE).read_text()
    (copy / JUDGE_FILE).write_text(stored.replace(f'"prompt_version": "{PROMPT_VERSION}"', '"prompt_version": "0"'))
    with pytest.raises(ModelError, match=f"prompt version '{PROMPT_VERSION}', got '0'"):
        LocalJudge.from_pretrained(copy, device="cpu")
    (copy / JUDGE_FILE).write_text(stored.replace('"temperature": 8.0', '"temperature": 0'))
    with pytest.raises(ModelError, match="the temperature must be above 0"):
        LocalJudge.from_pretrained(copy, device="cpu")
    (copy / JUDGE_FILE).write_text("{}")
    with pytest.raises(ModelError, match="train it again"):
        read_judge_info(copy)


def test_the_verdicts_temperature_flattens_probabilities_and_changes_no_label(folder: Path, tmp_path: Path) -> None:
    warm = tmp_path / "warm"
    shutil.copytree(folder, warm)
    write_judge_info(warm, JudgeInfo(JudgePromptConfig(), calibration=Calibration(10.0)))
    for plain, flat in zip(load(folder).judge(RUNS), load(warm).judge(RUNS), strict=True):
        assert plain.step_labels == flat.step_labels
        for index, probs in plain.step_probs.items():
            logits = torch.tensor(probs).log() / 10
            assert flat.step_probs[index] == pytest.approx(logits.softmax(-1).tolist(), abs=1e-5)


def test_a_calibrated_judge_is_not_read_freely(folder: Path, tmp_path: Path) -> None:
    warm = tmp_path / "warm"
    shutil.copytree(folder, warm)
    write_judge_info(warm, JudgeInfo(JudgePromptConfig(), calibration=Calibration(10.0)))
    with pytest.raises(ConfigError, match="decoding: of a judge whose verdicts are calibrated must be forced"):
        LocalJudge.from_pretrained(warm, options=JudgeOptions(decoding="free"), device="cpu")


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="must be a folder with a model"):
        LocalJudge.from_pretrained(tmp_path / "nothing", device="cpu")


def test_options_that_cannot_work_are_refused() -> None:
    for wrong in ({"samples": 3}, {"samples": 0}, {"temperature": -1.0}, {"decoding": "strict"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            JudgeOptions(**wrong)  # type: ignore[arg-type]


def test_the_local_judge_is_a_judge(folder: Path) -> None:
    judge: Judge = load(folder)
    assert len(list(judge.judge(iter(RUNS[:2])))) == 2
