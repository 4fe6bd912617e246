from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from prm.reach.agents.deadline import within


def interrupt() -> None:
    raise KeyboardInterrupt


def test_what_comes_in_time_is_returned_and_an_exception_is_raised_here() -> None:
    assert within(5.0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 // 0)


def test_what_comes_too_late_is_a_time_out() -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
        within(0.01, threading.Event().wait)
    with pytest.raises(TimeoutError, match="no time is left"):
        within(0.0, lambda: 3)


@pytest.mark.parametrize(("call", "shown"), [(lambda: sys.exit(3), "SystemExit: 3"), (interrupt, "KeyboardInterrupt")])
def test_code_that_exits_does_not_end_the_process(call: Callable[[], None], shown: str) -> None:
    with pytest.raises(RuntimeError, match=shown):
        within(5.0, call)
