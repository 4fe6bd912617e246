"""The loss against numbers computed by hand."""

from __future__ import annotations

import math

import pytest
import torch

from prm.training.losses import site_cross_entropy


def test_loss_is_the_mean_of_minus_log_p_over_the_labelled_sites() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0.2, 0.2, 0.6]]))
    targets = torch.tensor([[1.0, 0, 0], [0, 0, 1.0], [0, 0, 0]])
    expected = (math.log(2) - math.log(0.8)) / 2
    assert site_cross_entropy(logits, targets, 2).item() == pytest.approx(expected, rel=1e-6)


def test_soft_targets_and_weights_are_linear() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25]]))
    soft = torch.tensor([[0.5, 0.5, 0.0]])
    expected = 0.5 * math.log(2) + 0.5 * math.log(4)
    assert site_cross_entropy(logits, soft, 1).item() == pytest.approx(expected, rel=1e-6)
    assert site_cross_entropy(logits, 3 * soft, 1).item() == pytest.approx(3 * expected, rel=1e-6)


def test_a_batch_without_a_label_has_loss_zero_and_finite_gradients() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    loss = site_cross_entropy(logits, torch.zeros(2, 3), 0)
    loss.backward()
    assert loss.item() == 0.0
    assert logits.grad is not None
    assert torch.equal(logits.grad, torch.zeros(2, 3))


def test_micro_batches_under_one_total_add_up_to_the_whole_batch() -> None:
    torch.manual_seed(0)
    logits, targets = torch.randn(12, 3), torch.eye(3)[torch.randint(3, (12,))]
    whole = site_cross_entropy(logits, targets, 12)
    parts = [site_cross_entropy(logits[a:b], targets[a:b], 12) for a, b in ((0, 1), (1, 9), (9, 10), (10, 12))]
    torch.testing.assert_close(torch.stack(parts).sum(), whole)
