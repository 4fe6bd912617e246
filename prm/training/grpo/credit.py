"""Credit for single verdicts within TRL's `GRPOTrainer`: their advantages, and the loss that takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from prm.models.judge.calibration import UNCALIBRATED, Calibration
from prm.models.shared_prefix import answer_logits, separate_answer_logits, supports_shared_prefix
from prm.training.grpo.advantages import (
    Drawn,
    against_group,
    against_policy,
    at_positions,
    dead_groups,
    of_runs,
    scaled,
)
from prm.training.grpo.examples import UNKNOWN, GrpoExample
from prm.training.grpo.log_probs import Batch, Choice, drawn_class, entropy_of, of_class, verdict_log_probs
from prm.training.rewards import answer_statistics


class VerdictCredit:
    """Mixed into a `GRPOTrainer`, before it.

    What is overridden, and why:
        _calculate_rewards                    logs what was answered, whatever is rewarded
        _get_per_token_logps_and_entropies    softmax over three verdicts, the prompt read once for all answers
        _compute_loss                         tells it where the verdicts are; adds cross-entropy where asked

    The trainer holds `task`, the `batch` that its answers are to, and calls `give_credit` and `log_dead_groups`. All
    else here comes from TRL.
    """

    task: Any
    batch: list[GrpoExample]
    args: Any
    model: Any
    accelerator: Any
    reward_weights: torch.Tensor
    num_generations: int
    scale_rewards: str
    temperature: float
    current_gradient_accumulation_steps: int
    _metrics: Any
    _pending_metrics: Any
    _verdict_ids: Sequence[int]
    _calibration: Calibration = UNCALIBRATED
    _slots: torch.Tensor | None = None
    _verdicts: torch.Tensor | None = None
    _rewards_by_term: torch.Tensor | None = None

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
        columns = {name: [row.get(name) for row in inputs] for name in ("step_labels", "answer_prefix")}
        for name, values in answer_statistics(completions, **columns).items():
            self._pending_metrics[f"sampled/{name}"].extend(values)
        self._rewards_by_term = super()._calculate_rewards(  # type: ignore[misc]
            inputs, prompts, completions, completion_ids_list
        )
        return self._rewards_by_term

    def give_credit(self, inputs: list[dict[str, Any]], output: dict[str, Any]) -> None:
        """Adds to TRL's output the advantages of single verdicts, and the true label of each for cross-entropy.

        Args:
            inputs: [B] rows of the data set with the rollout's `verdict_classes` and `verdict_probs`.
            output: Gets `advantages` `[B, T]` in place of those of whole answers, and `gold` `[B, T]` (class ids, −1
                where there is none).
        """
        width = output["completion_ids"].shape[1]
        device = output["completion_ids"].device
        positions = [example.frame.verdict_positions() if example.frame else [] for example in self.batch]
        gold = padded([example.gold for example in self.batch], UNKNOWN).to(device)
        if self.task.rewards.cross_entropy_weight:
            output["gold"] = at_positions(gold + 1, positions, width) - 1
        if self.task.rewards.advantages == "run":
            return
        rewarded = padded([example.rewarded for example in self.batch], False).to(device)
        drawn = Drawn(
            padded([row["verdict_classes"] for row in inputs], 0).to(device),
            gold.masked_fill(~rewarded, UNKNOWN),
            padded([example.worth for example in self.batch], 0.0).to(device),
            padded([row["verdict_probs"] for row in inputs], [0.0, 0.0, 0.0]).to(device),
        )
        values = self._verdict_advantages(self._of_all_processes(drawn))
        mine = slice(self.accelerator.process_index * len(inputs), (self.accelerator.process_index + 1) * len(inputs))
        output["advantages"] = at_positions(values[mine], positions, width)

    def _of_all_processes(self, drawn: Drawn) -> Drawn:
        """The verdicts of all processes, since a group may be spread over them."""
        parts = []
        for values, empty in ((drawn.classes, 0), (drawn.gold, UNKNOWN), (drawn.weights, 0), (drawn.probs, 0)):
            parts.append(self.accelerator.gather(self.accelerator.pad_across_processes(values, 1, empty)))
        return Drawn(*parts)

    def _verdict_advantages(self, drawn: Drawn) -> torch.Tensor:
        """`[N, K]`: each verdict's own, plus that of the whole answer for rewards that look at all of it."""
        group = self.num_generations
        own = against_group if self.task.rewards.advantages == "verdict" else _against_policy
        values = own(drawn, group)
        whole = [i for i, term in enumerate(self.task.terms) if not term.of_verdicts]
        if whole and self._rewards_by_term is not None:
            weights = self.reward_weights.to(values.device)[whole]
            terms = self._rewards_by_term[:, whole]
            runs = (terms * weights).nansum(1).masked_fill(terms.isnan().all(1), torch.nan)
            values = (values + of_runs(runs, group)[:, None]) * drawn.known
        return scaled(values, drawn.known, group, self.scale_rewards)

    def log_dead_groups(self, advantages: torch.Tensor) -> None:
        """The share of groups, over all processes, from which nothing is learnt."""
        mode = "train" if self.model.training else "eval"
        alive = advantages.reshape(len(advantages), -1).abs().amax(1)
        share = dead_groups(self.accelerator.gather(alive), self.num_generations)
        self._metrics[mode]["dead_groups"].append(share)

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        if not self.task.rewards.forced_frame:
            free: torch.Tensor = super()._compute_loss(model, inputs)  # type: ignore[misc]
            return free
        self._slots = (inputs["completion_mask"] * inputs["tool_mask"]).bool()
        loss: torch.Tensor = super()._compute_loss(model, inputs)  # type: ignore[misc]
        if self.task.rewards.cross_entropy_weight and self._verdicts is not None:
            loss = loss + self.task.rewards.cross_entropy_weight * self._cross_entropy(inputs)
        self._verdicts = None
        return loss

    def _cross_entropy(self, inputs: dict[str, Any]) -> torch.Tensor:
        """−log p of the true labels after the drawn verdicts, a mean over the verdicts of the whole update."""
        known = (inputs["gold"] >= 0) & self._slots
        total: torch.Tensor = -(of_class(self._verdicts, inputs["gold"]) * known).sum()  # type: ignore[arg-type]
        share = self.current_gradient_accumulation_steps / self.args.steps_per_generation
        count = inputs["num_items_in_batch"].clamp(min=1.0) / self.accelerator.num_processes * share
        self._metrics["train"]["cross_entropy"].append(float(total.detach() / known.sum().clamp(min=1)))
        mean: torch.Tensor = total / count
        return mean

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        *arguments: Any,
        **keywords: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        if not self.task.rewards.forced_frame or self._slots is None:
            return super()._get_per_token_logps_and_entropies(  # type: ignore[misc, no-any-return]
                model, input_ids, attention_mask, logits_to_keep, *arguments, **keywords
            )
        batch = Batch(input_ids, attention_mask, logits_to_keep)
        slots = self._slots.to(input_ids.device)
        with self.accelerator.autocast():
            how = Choice(self._verdict_ids, self._calibration, self.temperature)
            verdicts = verdict_log_probs(model, batch, slots, how, self._reader(model))
        if torch.is_grad_enabled():
            self._verdicts = verdicts
        drawn = of_class(verdicts, drawn_class(batch, self._verdict_ids))
        return drawn * slots, entropy_of(verdicts).detach() * slots, None

    def _reader(self, model: Any) -> Any:
        shared = self.task.rewards.shared_prefix == "auto" and supports_shared_prefix(model) is None
        return answer_logits if shared else separate_answer_logits


def _against_policy(drawn: Drawn, group: int) -> torch.Tensor:
    return against_policy(drawn)


def padded(rows: Sequence[Sequence[Any]], empty: Any, multiple: int | None = None) -> torch.Tensor:
    """`[N, K]`, or `[N, K, …]` of rows of lists.

    Args:
        rows: `[N][K_i]`.
        empty: What stands where a row has ended.
        multiple: K is rounded up to a multiple of it.
    """
    width = max(len(row) for row in rows)
    if multiple:
        width += -width % multiple
    return torch.tensor([[*row, *[empty] * (width - len(row))] for row in rows])
