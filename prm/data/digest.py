"""Short digests of records, so that sets of a hundred thousand of them stay small."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from prm.types import Trajectory


def digest(value: Any) -> int:
    """64 bits of BLAKE2b over the value's JSON with sorted keys: equal values, equal digests.

    Two of 100,000 different values share one with probability 3e-10.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(blake2b(text.encode("ascii"), digest_size=8).digest(), "big")


def messages_digest(trajectory: Trajectory) -> int:
    """The digest of what the agent did: messages and tools, without labels."""
    return digest([trajectory.messages, trajectory.tools])


def labels_digest(trajectory: Trajectory) -> int:
    """The digest of the labels and the outcome."""
    return digest([list(trajectory.step_labels.items()), trajectory.final_label])
