"""Scoring: one pass, independent of batch and padding, the same after save, reload and merge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from prm.data.encode import Encoder, EncodingConfig
from prm.errors import MissingFileError, ModelError
from prm.models.backbone import LoadOptions, load_token_classifier
from prm.models.checkpoint import CheckpointInfo
from prm.models.lora import with_lora
from prm.models.step_classifier import ScoreOptions, StepClassifier
from prm.types import Prediction
from tests.tiny import make_run, save_gpt2, save_llama, save_qwen

_RUNS = [make_run(i, steps=1 + i % 6) for i in range(12)]
_SAVERS = {"llama": save_llama, "qwen": save_qwen, "gpt2": save_gpt2}


def _info(max_tokens: int = 1536) -> CheckpointInfo:
    return CheckpointInfo(EncodingConfig(max_tokens=max_tokens), "error_propagation", True, None, "0")


def _model(folder: Path, family: str = "llama") -> Any:
    torch.manual_seed(3)
    model = load_token_classifier(str(_SAVERS[family](folder)), 2, LoadOptions())
    torch.nn.init.normal_(model.get_submodule("score" if family != "gpt2" else "classifier").weight, std=0.5)
    model.config.prm = _info().as_config()
    return model


def _classifier(model: Any, max_tokens: int = 1536) -> StepClassifier:
    # As from a checkpoint: transformers chooses the tokenizer's class by the folder's model type.
    tokenizer = AutoTokenizer.from_pretrained(model.config._name_or_path)
    return StepClassifier(model, tokenizer, _info(max_tokens))


def _vectors(predictions: list[Prediction]) -> np.ndarray[Any, Any]:
    return np.array([v for p in predictions for v in [*p.step_probs.values(), (p.final_prob or 0.0,) * 3]])


@pytest.mark.parametrize("family", sorted(_SAVERS))
def test_scores_do_not_depend_on_the_batch(family: str, tmp_path: Path) -> None:
    classifier = _classifier(_model(tmp_path, family))
    alone = [classifier.score([run])[0] for run in _RUNS]
    together = classifier.score(_RUNS, ScoreOptions(tokens_per_batch=100_000))
    np.testing.assert_allclose(_vectors(alone), _vectors(together), atol=2e-5)


def test_scores_do_not_depend_on_the_pad_token(tmp_path: Path) -> None:
    classifier = _classifier(_model(tmp_path))
    expected = _vectors(classifier.score(_RUNS))
    classifier.pad_token_id = 77
    np.testing.assert_allclose(_vectors(classifier.score(_RUNS)), expected, atol=2e-5)


def test_every_step_gets_probabilities_that_sum_to_one_and_their_likeliest_label(tmp_path: Path) -> None:
    for run, prediction in zip(_RUNS, _classifier(_model(tmp_path)).score(_RUNS), strict=True):
        assert prediction.key == run.key
        assert sorted(prediction.step_labels) == [step.index for step in run.steps]
        for index, vector in prediction.step_probs.items():
            assert sum(vector) == pytest.approx(1.0, abs=2e-6)
            assert vector[prediction.step_labels[index] + 1] == max(vector)


def test_a_step_is_scored_from_its_past_alone(tmp_path: Path) -> None:
    """One pass over the run gives what a pass over each prefix gives."""
    classifier = _classifier(_model(tmp_path))
    run = make_run(5, steps=6)
    (whole,) = classifier.score([run])
    for step in run.steps:
        messages = run.messages[: step.index + 1]
        labels = {i: v for i, v in run.step_labels.items() if i <= step.index}
        (prefix,) = classifier.score([type(run)(run.identity, messages, labels)])
        np.testing.assert_allclose(prefix.step_probs[step.index], whole.step_probs[step.index], atol=1e-5)


def test_online_scores_are_those_of_each_prefix_under_its_own_plan(tmp_path: Path) -> None:
    classifier = _classifier(_model(tmp_path), max_tokens=256)
    run = make_run(6, steps=8)
    (online,) = classifier.score([run], ScoreOptions(online=True))
    assert online.rendering["plan"] == "online"
    for step in run.steps:
        prefix = type(run)(
            run.identity,
            run.messages[: step.index + 1],
            {i: v for i, v in run.step_labels.items() if i <= step.index},
        )
        (last,) = classifier.score([prefix], ScoreOptions(online=True))
        np.testing.assert_allclose(last.step_probs[step.index], online.step_probs[step.index], atol=1e-5)


def _saved(model: Any, folder: Path) -> StepClassifier:
    base = model.config._name_or_path
    model.save_pretrained(folder)
    model.config._name_or_path = base
    getattr(model, "base_model", model).config.save_pretrained(folder) if hasattr(model, "peft_config") else None
    _classifier(model).tokenizer.save_pretrained(folder)
    return StepClassifier.from_pretrained(folder, device="cpu")


def test_scores_are_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    model = _model(tmp_path / "base")
    expected = _vectors(_classifier(model).score(_RUNS))
    np.testing.assert_array_equal(_vectors(_saved(model, tmp_path / "saved").score(_RUNS)), expected)


@pytest.mark.parametrize("family", sorted(_SAVERS))
def test_lora_scores_are_the_same_after_reload_on_a_fresh_base_and_after_merging(family: str, tmp_path: Path) -> None:
    model = with_lora(_model(tmp_path / "base", family), 4, 8, 0.0, (), None)
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        if "lora_B" in name or "modules_to_save" in name:
            torch.nn.init.normal_(weight, std=0.2)
    expected = _vectors(_classifier(model).score(_RUNS))
    torch.manual_seed(123)  # the head of the fresh base is another one
    reloaded = _saved(model, tmp_path / "adapter")
    np.testing.assert_allclose(_vectors(reloaded.score(_RUNS)), expected, atol=2e-6)
    merged = model.merge_and_unload()
    np.testing.assert_allclose(_vectors(_saved(merged, tmp_path / "merged").score(_RUNS)), expected, atol=2e-5)


def test_a_plain_model_is_refused_as_a_judge(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="must be a step classifier trained by prm"):
        StepClassifier.from_pretrained(save_llama(tmp_path / "base"))
    with pytest.raises(MissingFileError, match="must exist"):
        StepClassifier.from_pretrained(tmp_path / "nothing")


def test_the_encoder_of_a_checkpoint_uses_its_stored_budget(tmp_path: Path) -> None:
    model = _model(tmp_path / "base")
    model.config.prm = _info(300).as_config()
    classifier = _saved(model, tmp_path / "saved")
    assert isinstance(classifier.encoder, Encoder)
    assert classifier.encoder.config.max_tokens == 300


def test_a_fresh_process_knows_the_richer_head_by_the_name_in_its_config() -> None:
    code = (
        "import prm.models.step_classifier; from transformers.models.auto.configuration_auto import CONFIG_MAPPING; "
        "print('prm_step_classifier' in CONFIG_MAPPING)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "True"
