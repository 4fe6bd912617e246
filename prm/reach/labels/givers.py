"""Which results gave an argument its value. A result that only repeats what its call was given gives nothing."""

from __future__ import annotations

from prm.reach.judging.provenance_records import Leaf, Source


def givers(leaf: Leaf) -> tuple[Source, ...]:
    """The places in results that hold the value, in the order of the log; empty where it came from elsewhere."""
    if leaf.origin != "result":
        return ()
    found = (source for source in leaf.sources if source.call_id is not None and not source.echo)
    return tuple(sorted(found, key=lambda source: source.index))


def first_giver(leaf: Leaf) -> str:
    """The id of the call that was the first to return the value; "" where none did."""
    return next((source.call_id or "" for source in givers(leaf)), "")
