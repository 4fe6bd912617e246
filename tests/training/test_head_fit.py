"""The fitted head: the optimum, the choice by inner folds, and the model it leaves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from prm.data.records import read_trajectories
from prm.errors import ConfigError
from prm.models.step_classifier import StepClassifier
from prm.training.arguments import parse_recipe
from prm.training.head_fit import Candidate, Sites, choose_candidate, fit_linear_head
from prm.training.supervised import train_supervised


def _sites(noise: float = 0.5) -> Sites:
    torch.manual_seed(0)
    labels = torch.randint(3, (300,))
    features = torch.cat([torch.eye(3)[labels] + noise * torch.randn(300, 3), torch.randn(300, 4)], dim=1)
    groups = torch.arange(300) // 10
    return Sites(features, torch.eye(3)[labels], labels, groups, torch.arange(300) // 5)


def test_the_head_is_the_optimum_that_scikit_learn_finds() -> None:
    sites = _sites()
    head = fit_linear_head(sites.features, sites.targets, 0.01, torch.ones(7))
    standard = ((sites.features - head.center) / head.scale).numpy()
    other = LogisticRegression(C=1 / (0.01 * len(standard)), tol=1e-8, max_iter=2000).fit(standard, sites.labels)
    ours = torch.softmax(head.logits(sites.features), -1).numpy()
    np.testing.assert_allclose(ours, other.predict_proba(standard), atol=2e-3)


def test_unknown_sites_do_not_move_the_head() -> None:
    sites = _sites()
    blank = torch.cat([sites.targets, torch.zeros(50, 3)])
    wild = torch.cat([sites.features, 100 * torch.randn(50, 7)])
    first = fit_linear_head(sites.features, sites.targets, 0.01, torch.ones(7))
    second = fit_linear_head(wild, blank, 0.01, torch.ones(7))
    torch.testing.assert_close(first.weight, second.weight, atol=1e-5, rtol=0)


def test_inner_folds_choose_the_columns_that_tell() -> None:
    told, noise = Candidate("told", (0, 1, 2), 0.01), Candidate("noise", (3, 4, 5, 6), 0.01)
    assert choose_candidate(_sites(), [noise, told], torch.ones(7), 5) is told


def test_more_inner_folds_than_queries_are_refused() -> None:
    candidates = [Candidate("a", (0,), 1.0), Candidate("b", (1,), 1.0)]
    with pytest.raises(ConfigError, match="head_folds: must be at most the 30 training queries, got 31"):
        choose_candidate(_sites(), candidates, torch.ones(7), 31)


def test_a_fitted_head_is_saved_cut_and_scores_as_it_was_measured(backbone: Path, data: Path, tmp_path: Path) -> None:
    arguments = [
        *("--model", str(backbone), "--train_data", str(data / "train.jsonl"), "--output_dir", str(tmp_path / "run")),
        *("--validation_data", str(data / "validation.jsonl"), "--trainable_layers", "0", "--head", "mixed"),
        *("--head_reads", "site:1+mean:1", "site:3+text:2", "--head_l2", "1e-3", "1e-2", "--device", "cpu"),
        *("--states_cache", str(tmp_path / "states")),
    ]
    result = train_supervised(parse_recipe(None, arguments))
    runs = list(read_trajectories(data / "validation.jsonl"))
    classifier = StepClassifier.from_pretrained(tmp_path / "run", device="cpu")
    predictions = classifier.score(runs)
    hits = [p.step_labels[i] == v for run, p in zip(runs, predictions, strict=True) for i, v in run.step_labels.items()]
    assert sum(hits) / len(hits) == pytest.approx(result["eval_step_acc"])
    assert classifier.model.config.num_hidden_layers == (1 if result["head_reads"].startswith("site:1") else 3)
    assert list((tmp_path / "states").glob("*.safetensors"))
    again = train_supervised(parse_recipe(None, [*arguments[:5], str(tmp_path / "again"), *arguments[6:]]))
    assert again["eval_loss"] == pytest.approx(result["eval_loss"], abs=1e-6)
