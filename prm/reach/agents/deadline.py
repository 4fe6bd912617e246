"""A time limit for code that is not ours, and the time of day as it is written down."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timezone
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` returns, if it does in time; its exceptions are raised here.

    It runs in a thread of its own. One that hangs is left behind (Python cannot end it) and does not keep the process
    from ending; neither does it end the process where it exits.

    Raises:
        TimeoutError: It took longer.
        RuntimeError: It exited, or raised an interrupt itself.
    """
    if seconds <= 0:
        raise TimeoutError("no time is left")
    returned: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(call())
        except BaseException as error:  # noqa: BLE001 (raised again below)
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    # A lock cannot wait for ever longer than this.
    thread.join(min(seconds, threading.TIMEOUT_MAX))
    if raised and not isinstance(raised[0], Exception):
        raise RuntimeError(f"{type(raised[0]).__name__}: {raised[0]}") from raised[0]
    if raised:
        raise raised[0]
    if not returned:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return returned[0]


def now() -> str:
    """The time of day in UTC, ISO 8601 with milliseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
