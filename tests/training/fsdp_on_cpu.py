"""``prm`` under FSDP on CPU processes: accelerate takes that road for accelerators only, so the kind is set by hand.

What follows is accelerate's and torch's own: FSDP2 shards the model over a gloo group of CPU processes.
"""

from __future__ import annotations

from typing import Any

from accelerate import PartialState
from accelerate.utils import DistributedType

from prm.cli import main


def _join_as_accelerator(join: Any) -> Any:
    def joined(self: PartialState, *arguments: Any, **keywords: Any) -> None:
        join(self, *arguments, **keywords)
        if self.distributed_type == DistributedType.MULTI_CPU:
            PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU

    return joined


if __name__ == "__main__":
    PartialState.__init__ = _join_as_accelerator(PartialState.__init__)  # type: ignore[method-assign]
    main()
