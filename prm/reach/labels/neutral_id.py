"""The id under which a run stands in a sample file: it says nothing, where a run's own may name its agent."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from prm.types import RunIdentity

_DIGITS = 16


def neutral_identity(identity: RunIdentity) -> RunIdentity:
    """An identity without the agent: no generator, and a digest for an id, the same whenever the file is written.

    A run without an id is known by its source, query and sample, which name no agent; it gets none.
    """
    digest = None if identity.id is None else sha256(identity.id.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(identity, id=None if digest is None else f"run-{digest[:_DIGITS]}", generator=None)
