"""What is going on, on stderr, for what takes longer than a second; nothing of it stays on the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_DELAY_SECONDS = 1.0


def track(items: Iterable[T], what: str) -> Iterator[T]:
    """Yields the items; after a second shows how many have passed. Leaves nothing behind on the terminal."""
    start = time.monotonic()
    source = iter(items)
    for count, item in enumerate(source, start=1):
        yield item
        if time.monotonic() - start > _DELAY_SECONDS:
            yield from _shown(source, what, count)
            return


def _shown(items: Iterator[T], what: str, count: int) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}: {task.completed:.0f} records"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None, completed=count)
        for item in items:
            progress.advance(task)
            yield item


@contextmanager
def stages() -> Iterator[Callable[[str], None]]:
    """A spinner with the name of the stage; call what is yielded with the name of each."""
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda name: status.update(name)
