"""Labels become targets: weights, soft labels, unknown labels, and no run without a label."""

from __future__ import annotations

import numpy as np
import pytest

from prm.data.encode import Encoder, EncodingConfig, Row, Site
from prm.data.protocol import mask_after_first_error
from prm.errors import ConfigError, InputError
from prm.training.targets import TargetOptions, class_weights, site_targets, training_rows
from prm.types import RunIdentity, Trajectory
from tests.tiny import byte_level_tokenizer, make_run

_ENCODER = Encoder(byte_level_tokenizer(), EncodingConfig())


def _row(*class_ids: int) -> Row:
    sites = [Site(i, i, i, i, class_id) for i, class_id in enumerate(class_ids[:-1])]
    return Row(np.arange(9, dtype=np.int32), (*sites, Site(8, 8, 8, None, class_ids[-1])))


def test_class_ids_become_one_hot_rows_and_unknown_ones_zeros() -> None:
    targets = site_targets(_row(0, -100, 2, 1), TargetOptions())
    assert targets.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_class_weights_scale_steps_and_the_outcome_weight_the_outcome() -> None:
    targets = site_targets(_row(0, 2, 2), TargetOptions((2.0, 1.0, 0.5), outcome_weight=0.25))
    assert targets.tolist() == [[2, 0, 0], [0, 0, 0.5], [0, 0, 0.25]]


def test_label_smoothing_spreads_its_share_evenly() -> None:
    targets = site_targets(_row(2, -100), TargetOptions(label_smoothing=0.3))
    np.testing.assert_allclose(targets[0], [0.1, 0.1, 0.8], rtol=1e-6)


def test_soft_labels_are_trained_on_as_given() -> None:
    run = make_run(1, steps=1)
    soft = Trajectory(run.identity, run.messages, {1: None}, None, {1: (0.2, 0.3, 0.5)})
    rows, account = training_rows([soft], _ENCODER, TargetOptions())
    np.testing.assert_allclose(rows[0].targets[0], [0.2, 0.3, 0.5], rtol=1e-6)
    assert rows[0].labelled == 1
    assert account.labelled == {}


def test_what_follows_the_first_error_is_masked_for_first_error_only_data() -> None:
    run = make_run(1, steps=3)
    marked = Trajectory(run.identity, run.messages, {1: 1, 3: -1, 5: 1}, None)
    rows, _ = training_rows([mask_after_first_error(marked)], _ENCODER, TargetOptions())
    assert rows[0].targets.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert rows[0].labelled == 2


def test_a_run_without_a_label_is_refused() -> None:
    run = make_run(1, steps=2)
    blank = Trajectory(run.identity, run.messages, {1: None, 3: None}, None)
    with pytest.raises(InputError, match="tiny:1:1: a run to train on must have a label, got none"):
        training_rows([blank], _ENCODER, TargetOptions())


def test_a_window_of_unknown_steps_is_left_out_and_no_label_is_lost() -> None:
    messages = [{"role": "assistant", "content": "good " * 60} for _ in range(30)]
    labels = {i: (1 if i < 3 else None) for i in range(30)}
    run = Trajectory(RunIdentity("t", 0, 0), tuple(messages), labels, None)  # type: ignore[arg-type]
    rows, account = training_rows([run], Encoder(byte_level_tokenizer(), EncodingConfig(256)), TargetOptions())
    assert sum(row.labelled for row in rows) == 3 == account.labelled["1"]
    assert len(rows) < account.rows


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    run = Trajectory(RunIdentity("t", 0, 0), (), {0: 1, 1: 1, 2: 1, 3: -1, 4: 0, 5: 1})
    assert class_weights("balanced", [run]) == (2.0, 2.0, 0.5)
    assert class_weights("1,2,3", [run]) == (1.0, 2.0, 3.0)
    assert class_weights(None, [run]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("option", ["often", "1,2", "1,2,x", "1,-2,3", "nan,1,1"])
def test_other_class_weights_are_refused(option: str) -> None:
    with pytest.raises(ConfigError, match="class_weights: must be balanced or three positive numbers"):
        class_weights(option, [])
