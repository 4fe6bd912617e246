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
        frozen_backbone: The backbone, where no weight of it was trained: its states may be shared.
    """

    encoding: EncodingConfig
    protocol: str | None
    outcome: bool
    split_sha256: str | None
    version: str
    frozen_backbone: str | None = None

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
        names = ("protocol", "outcome", "split_sha256", "version", "frozen_backbone")
        known: dict[str, Any] = {name: stored.get(name) for name in names}
        return cls(encoding=EncodingConfig(**stored["encoding"]), **known)
