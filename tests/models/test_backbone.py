"""Backbones: cut, frozen, causal, with a float32 head, and ordinary checkpoints after saving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForTokenClassification, BertConfig, BertForTokenClassification

from prm.errors import ConfigError, ModelError
from prm.models.backbone import LoadOptions, freeze_below, load_token_classifier
from prm.models.site_head import head_name
from tests.tiny import save_gpt2, save_llama, save_qwen

_SAVERS = {"llama": save_llama, "qwen": save_qwen, "gpt2": save_gpt2}


def _load(folder: Path, layers: int | None = None, dtype: torch.dtype = torch.float32) -> Any:
    return load_token_classifier(str(folder), layers, LoadOptions(dtype))


@pytest.mark.parametrize("family", sorted(_SAVERS))
def test_a_cut_model_saves_and_loads_as_a_plain_token_classifier(family: str, tmp_path: Path) -> None:
    model = _load(_SAVERS[family](tmp_path / "base"), layers=2).eval()
    model.save_pretrained(tmp_path / "cut")
    plain = AutoModelForTokenClassification.from_pretrained(tmp_path / "cut", dtype=torch.float32).eval()
    assert type(plain).__name__ == type(model).__name__
    assert plain.config.num_hidden_layers == 2
    assert plain.config.id2label == {0: "-1", 1: "0", 2: "+1"}
    ids = torch.arange(3, 15)[None]
    sites = {"site_rows": torch.tensor([0, 0]), "site_positions": torch.tensor([4, 11])}
    with torch.no_grad():
        torch.testing.assert_close(model(ids, **sites).logits, plain(ids).logits[0, [4, 11]])


@pytest.mark.parametrize("family", sorted(_SAVERS))
def test_the_first_k_layers_are_those_of_the_base(family: str, tmp_path: Path) -> None:
    base = _SAVERS[family](tmp_path / "base")
    whole, cut = _load(base), _load(base, layers=1)
    for name, weight in cut.base_model.state_dict().items():
        torch.testing.assert_close(weight, whole.base_model.state_dict()[name])


def test_more_layers_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="num_layers: must be between 1 and the model's 3, got 4"):
        _load(save_llama(tmp_path / "base"), layers=4)


def test_a_bidirectional_backbone_is_refused(tmp_path: Path) -> None:
    config = BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=99)
    BertForTokenClassification(config).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="must be causal"):
        _load(tmp_path)


def test_the_head_is_float32_over_a_bfloat16_backbone_also_after_reload(tmp_path: Path) -> None:
    model = _load(save_llama(tmp_path / "base"), dtype=torch.bfloat16)
    assert model.score.weight.dtype == torch.float32
    assert model.base_model.embed_tokens.weight.dtype == torch.bfloat16
    model.save_pretrained(tmp_path / "saved")
    again = _load(tmp_path / "saved", dtype=torch.bfloat16)
    assert torch.equal(again.score.weight, model.score.weight)
    logits = model(torch.arange(5)[None], torch.tensor([0]), torch.tensor([4])).logits
    assert logits.dtype == torch.float32
    assert logits.shape == (1, 3)  # of five tokens only the site's logits are made


@pytest.mark.parametrize(("family", "head"), [("llama", "score"), ("qwen", "score"), ("gpt2", "classifier")])
def test_the_head_is_found_by_what_it_is(family: str, head: str, tmp_path: Path) -> None:
    assert head_name(_load(_SAVERS[family](tmp_path))) == head


@pytest.mark.parametrize("family", sorted(_SAVERS))
def test_only_the_top_layers_and_the_head_are_trained(family: str, tmp_path: Path) -> None:
    model = _load(_SAVERS[family](tmp_path))
    freeze_below(model, 1)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert any(".2." in name for name in trained)
    assert not any(".0." in name or ".1." in name or "embed" in name or "wte" in name for name in trained)
    assert any(name.startswith(head_name(model)) for name in trained)


def test_freezing_all_layers_trains_the_head_alone(tmp_path: Path) -> None:
    model = _load(save_llama(tmp_path))
    freeze_below(model, 0)
    assert {name for name, w in model.named_parameters() if w.requires_grad} == {"score.weight", "score.bias"}
