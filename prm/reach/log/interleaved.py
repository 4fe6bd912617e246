"""Rows of many runs in one file, as they come: each run is given out when its last row has been read.

The file is read twice: once for the key of each row, once for the rows. So memory holds the runs that are open at
one place of the file, not the file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

RowT = TypeVar("RowT")
KeyT = TypeVar("KeyT", bound=Hashable)


def grouped(read: Callable[[], Iterable[RowT]], keys: Sequence[KeyT]) -> Iterator[tuple[KeyT, list[RowT]]]:
    """Yields (key, its rows in the file's order), in the order in which the keys' last rows come.

    Args:
        read: Reads the rows, as often as it is called the same ones.
        keys: The key of each row.
    """
    last = {key: number for number, key in enumerate(keys)}
    open_rows: dict[KeyT, list[RowT]] = {}
    # A file that grows between the two readings: its new rows are for the next time.
    for number, (key, row) in enumerate(zip(keys, read(), strict=False)):
        open_rows.setdefault(key, []).append(row)
        if last[key] == number:
            yield key, open_rows.pop(key)
