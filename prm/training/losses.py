"""Losses: one short function each."""

from __future__ import annotations

import torch


def site_cross_entropy(logits: torch.Tensor, targets: torch.Tensor, total: torch.Tensor | float) -> torch.Tensor:
    """Cross-entropy at the labelled sites, normalised over the global batch.

        L = −(1 / total) Σ_m Σ_c targets[m, c] · log softmax(logits[m])_c

    With `total` the labelled sites of all micro-batches of all processes, batch 8 × 1 and 1 × accumulation 8 give the
    same update. Sites with a target of zeros add nothing, and a batch without a label has loss 0, not NaN.

    Args:
        logits: `[M, 3] float`.
        targets: `[M, 3] float`, weighted distributions (`prm.training.targets`).
        total: Labelled sites of the global batch.

    Returns:
        A scalar, float32.
    """
    log_probabilities = torch.log_softmax(logits.float(), dim=-1)
    summed = -(targets * log_probabilities).sum()
    return summed / torch.clamp(torch.as_tensor(total, dtype=summed.dtype, device=summed.device), min=1.0)
