from __future__ import annotations

from typing import Any

import pytest

from prm.reach.log.instants import seconds_of


@pytest.mark.parametrize(
    ("recorded", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T01:01:00+01:00", 60.0),
        ("1970-01-01 00:01:00", 60.0),
        (60, 60.0),
        ("60.5", 60.5),
        (1_700_000_000_000, 1_700_000_000.0),
        (1_700_000_000_000_000, 1_700_000_000.0),
        ("1700000000000000000", 1_700_000_000.0),
    ],
)
def test_times_become_seconds(recorded: Any, seconds: float) -> None:
    assert seconds_of(recorded) == seconds


@pytest.mark.parametrize("recorded", [None, True, "", "soon", "nan", "inf", [], 10**400, "9" * 400, "-"])
def test_what_is_no_time_is_none(recorded: Any) -> None:
    assert seconds_of(recorded) is None
