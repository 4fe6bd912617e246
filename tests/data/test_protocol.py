"""Protocols are named, never mixed, and hiding what follows the first error is no conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.data.protocol import (
    OneProtocol,
    first_error,
    has_labels,
    mask_after_first_error,
    name_protocol,
    parse_protocol,
    protocol_of,
)
from prm.data.records import parse_trajectory
from prm.errors import ConfigError, ProtocolError

Make = Callable[..., dict[str, Any]]


def test_labels_after_the_first_error_become_unknown(make_record: Make) -> None:
    trajectory = parse_trajectory(make_record(1, 0, -1, 1, -1, protocol="independent"), "x")
    masked = mask_after_first_error(trajectory)
    assert masked.step_labels == {1: 1, 2: 0, 3: -1, 4: None, 5: None}
    assert masked.protocol == "first_error_only"
    assert masked.final_label == trajectory.final_label


def test_soft_labels_after_the_first_error_go_too(make_record: Make) -> None:
    soft = {"1": [0, 0, 1], "2": [1, 0, 0], "3": [0, 1, 0]}
    masked = mask_after_first_error(parse_trajectory(make_record(1, -1, 1, step_label_probs=soft), "x"))
    assert set(masked.step_label_probs) == {1, 2}


@given(st.lists(st.sampled_from([-1, 0, 1, None]), max_size=8))
def test_masking_keeps_every_label_up_to_the_first_error_and_is_idempotent(
    make_record: Make, labels: list[Any]
) -> None:
    trajectory = parse_trajectory(make_record(*labels), "x")
    masked = mask_after_first_error(trajectory)
    end = labels.index(-1) + 1 if -1 in labels else len(labels)
    assert list(masked.step_labels.values()) == labels[:end] + [None] * (len(labels) - end)
    assert first_error(masked.step_labels.items()) == first_error(trajectory.step_labels.items())
    assert mask_after_first_error(masked) == masked


def test_a_protocol_is_named_only_where_there_are_labels_and_no_name(make_record: Make) -> None:
    unnamed = parse_trajectory(make_record(1), "x")
    assert name_protocol(unnamed, "independent").protocol == "independent"
    named = parse_trajectory(make_record(1, protocol="error_propagation"), "x")
    assert name_protocol(named, "independent") == named
    unlabelled = parse_trajectory(make_record(None, None), "x")
    assert not has_labels(unlabelled)
    assert name_protocol(unlabelled, "independent") == unlabelled


@pytest.mark.parametrize("other", ["independent", None, "first_error_only"])
def test_a_mix_is_refused_and_unlabelled_runs_go_with_any(make_record: Make, other: str | None) -> None:
    first = parse_trajectory(make_record(1, protocol="error_propagation"), "x")
    unlabelled = parse_trajectory(make_record(None, query=1), "x")
    second = parse_trajectory(make_record(1, query=2, protocol=other), "x")
    assert protocol_of([unlabelled, first, unlabelled]) == "error_propagation"
    with pytest.raises(ProtocolError, match="must not be mixed"):
        protocol_of([first, unlabelled, second])
    one = OneProtocol()
    one.admit(first, "a.jsonl:1")
    with pytest.raises(ProtocolError, match=r"b\.jsonl:9: protocol.*a\.jsonl:1 has error_propagation"):
        one.admit(second, "b.jsonl:9")


def test_protocols_are_known_by_name() -> None:
    assert parse_protocol("independent", "x") == "independent"
    assert parse_protocol(None, "x") is None
    with pytest.raises(ConfigError, match="--label-protocol: must be one of error_propagation, independent"):
        parse_protocol("mine", "--label-protocol")
