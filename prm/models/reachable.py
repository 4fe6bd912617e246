"""One line instead of a traceback where a model is neither a folder nor on the hub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prm.errors import DownloadError, complaint


@contextmanager
def reachable(model: str) -> Iterator[None]:
    """While open, a failure of transformers to find or reach `model` becomes a `DownloadError`."""
    try:
        yield
    except OSError as error:
        if isinstance(error, DownloadError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        rule = "must be a folder with a model, or an id that the hub or the cache has"
        raise DownloadError(complaint(model, rule, reason, "check the name and the connection")) from None
