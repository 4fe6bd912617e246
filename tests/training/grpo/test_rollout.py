"""Rollouts: one answer a row in the rows' order, forced tokens without loss, the same draws after a resume."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from prm.models.judge.forced_decoding import Rollout
from prm.training.grpo.rollout import Draw, Drawing, as_trl_rollout, draw_answers, seeded_generator, stretches
from tests.training.grpo.toys import tiny_judge, toy_example

FIRST, SECOND = toy_example(1, [1, -1]), toy_example(22, [0, None, 1], final=1)


def _rollout(classes: list[list[int]]) -> Rollout:
    labels = np.array(classes)
    shape = labels.shape
    return Rollout(labels, np.full(shape, -1.0, np.float32), np.full((*shape, 3), 1 / 3, np.float32))


def test_rows_of_one_example_are_one_stretch() -> None:
    found = list(stretches([FIRST, FIRST, SECOND, FIRST]))
    assert [(group.example is FIRST, group.answers) for group in found] == [(True, 2), (False, 1), (True, 1)]
    assert list(stretches([])) == []


def test_answers_are_what_was_drawn_and_only_rewarded_verdicts_carry_loss() -> None:
    groups = list(stretches([FIRST, SECOND, SECOND]))
    draw = Draw([_rollout([[2, 0]]), _rollout([[0, 1, 2, 2], [1, 1, 1, 0]])], 0)
    found = as_trl_rollout(groups, draw)
    assert found["completion_ids"][0] == FIRST.frame.ids([1, -1])  # type: ignore[union-attr]
    assert found["completion_ids"][2] == SECOND.frame.ids([0, 0, 0, -1])  # type: ignore[union-attr]
    assert found["prompt_ids"][1] == list(SECOND.prompt.input_ids)
    places = SECOND.frame.verdict_positions()  # type: ignore[union-attr]
    assert [found["env_mask"][1][place] for place in places] == [1, 0, 1, 0]
    assert sum(found["env_mask"][1]) == 2
    assert found["verdict_classes"][1] == [0, 1, 2, 2]
    assert [found["logprobs"][0][place] for place in FIRST.frame.verdict_positions()] == [-1.0, -1.0]  # type: ignore[union-attr]


def test_a_generator_is_made_by_its_parts_alone() -> None:
    numbers = [torch.rand(3, generator=seeded_generator(*parts)).tolist() for parts in ((1, 2), (1, 2), (2, 1), (12,))]
    assert numbers[0] == numbers[1]
    assert len({tuple(row) for row in numbers}) == 3


def test_drawing_is_reproducible_and_keeps_the_order_of_the_groups() -> None:
    groups = list(stretches([SECOND] * 3 + [FIRST] * 2))
    how = Drawing(1.0, 1)
    model = tiny_judge()
    first, again = (draw_answers(model, groups, how, seeded_generator(5)).rollouts for _ in range(2))
    assert [rollout.labels.shape for rollout in first] == [(3, 4), (2, 2)]
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.labels, other.labels)


def test_where_whole_answers_are_rewarded_only_equal_ones_are_dead() -> None:
    example = replace(FIRST, worth=(0.0, 0.0), whole_answer=True)
    groups = list(stretches([example] * 8))
    alive = draw_answers(tiny_judge(), groups, Drawing(1.0, 1, redraws=2, whole_answers=True), seeded_generator(5))
    assert len({tuple(row) for row in alive.rollouts[0].labels.tolist()}) > 1
    assert alive.redrawn == 0
    cold = draw_answers(tiny_judge(), groups, Drawing(1e-3, 1, redraws=2), seeded_generator(5))
    assert len({tuple(row) for row in cold.rollouts[0].labels.tolist()}) == 1
    assert cold.redrawn == 1


def test_only_dead_groups_are_drawn_again() -> None:
    """A group of one answer earns the same always: it is drawn again until the limit; nothing else is."""
    groups = list(stretches([FIRST]))
    draw = draw_answers(tiny_judge(), groups, Drawing(1.0, 1, redraws=2), seeded_generator(5))
    assert draw.redrawn == 1
    assert draw_answers(tiny_judge(), groups, Drawing(1.0, 1), seeded_generator(5)).redrawn == 0
