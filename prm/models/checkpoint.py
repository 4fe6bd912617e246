"""What a step classifier's checkpoint says of itself, under the key ``prm`` of its config.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from prm.data.encode import EncodingConfig
from prm.errors import ModelError


@dataclass(frozen=True, slots=True)
class CheckpointInfo:
    """How the model reads a run and what it was trained to say.

    Attributes:
        encoding: Rendering version and budgets; scoring uses them.
        protocol: The protocol of its training labels, or None where the data named none.
        outcome: Whether the outcome was trained; where not, no outcome is predicted.
        split_sha256: Hash of the training data, as the model card states it.
        version: Version of prm that wrote it.
    """

    encoding: EncodingConfig
    protocol: str | None
    outcome: bool
    split_sha256: str | None
    version: str

    def as_config(self) -> dict[str, Any]:
        """The value of the config's ``prm`` key."""
        return asdict(self)

    @classmethod
    def of_config(cls, config: Any, where: str) -> CheckpointInfo:
        """Reads it back.

        Raises:
            ModelError: The config has no such key: not a checkpoint of prm.
        """
        stored = getattr(config, "prm", None)
        if not isinstance(stored, dict):
            raise ModelError(
                f"{where}: must be a step classifier trained by prm, got a config without the key 'prm'; "
                "train one with `prm train supervised`"
            )
        known = {name: stored[name] for name in ("protocol", "outcome", "split_sha256", "version")}
        return cls(encoding=EncodingConfig(**stored["encoding"]), **known)
