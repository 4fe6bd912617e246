"""Cached lower layers: the same logits where a model can go on from the middle, and a refusal where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from prm.data.encode import Encoder, EncodingConfig
from prm.models.backbone import LoadOptions, freeze_below, load_token_classifier
from prm.models.batching import pad_rows
from prm.models.lower_states import frozen_layers, goes_on_from_the_middle, lower_states
from prm.training.frozen_layers import site_outputs
from tests.tiny import byte_level_tokenizer, make_run, save_gpt2, save_llama, save_qwen

_ROWS = [row for i in range(4) for row in Encoder(byte_level_tokenizer(), EncodingConfig()).encode(make_run(i, 1 + i))]


@pytest.mark.parametrize("save", [save_llama, save_qwen])
def test_upper_layers_on_cached_states_give_the_whole_model(save: object, tmp_path: Path) -> None:
    model = load_token_classifier(str(save(tmp_path)), None, LoadOptions()).eval()  # type: ignore[operator]
    freeze_below(model, 1)
    assert frozen_layers(model) == 2
    assert goes_on_from_the_middle(model, _ROWS[3], 2, 0, site_outputs)
    states = lower_states(model, _ROWS, 2, 500, 0, None)
    inputs = pad_rows(_ROWS, 0).model_inputs(torch.device("cpu"))
    with torch.no_grad():
        whole = model(**inputs).logits
        upper = model(**inputs, lower_states=states.padded(range(len(_ROWS))), skipped_layers=2).logits
    torch.testing.assert_close(whole, upper, atol=1e-5, rtol=0)
    assert model.config.num_hidden_layers == len(model.base_model.layers) == 3


def test_a_model_with_learnt_positions_or_dropout_is_not_cached(tmp_path: Path) -> None:
    model = load_token_classifier(str(save_gpt2(tmp_path)), None, LoadOptions())
    freeze_below(model, 1)
    assert frozen_layers(model) == 0  # GPT-2 drops in every layer
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    assert frozen_layers(model) == 2
    assert not goes_on_from_the_middle(model, _ROWS[0], 2, 0, site_outputs)
    assert model.config.num_hidden_layers == len(model.base_model.h) == 3


def test_nothing_is_frozen_in_a_model_that_is_trained_whole(tmp_path: Path) -> None:
    assert frozen_layers(load_token_classifier(str(save_llama(tmp_path)), None, LoadOptions())) == 0
