from __future__ import annotations

from typing import Any

import pytest

from prm.reach.judging.low_information import is_low_information


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        0,
        7,
        -99,
        12,
        0.5,
        "7",
        "a",
        "北",
        "yes",
        "dog",
        "unknown",
        "Unknown",
        "n/a",
        "N/A",
        "not provided",
        "no no",
        "AND",
        "none",
        "ok",
    ],
)
def test_these_say_too_little(value: Any) -> None:
    assert is_low_information(value)


@pytest.mark.parametrize(
    "value",
    ["T41", "C7", "JFK", "Li", "Amy", 100, 1134, 12.5, "lamp-4", "lamp", "北京", "12 Elm St", "economy", "2024-05-19"],
)
def test_these_say_enough(value: Any) -> None:
    assert not is_low_information(value)
