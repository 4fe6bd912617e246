"""Several processes of `accelerate launch`: which one this is, its device, and how results are merged."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prm.models.scoring import Shard


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among all.

    Attributes:
        shard: Its rank and how many there are.
        device: Its device, or None to choose.
        gather: Merges the dicts of all processes into one on each, or None where there is one process.
    """

    shard: Shard
    device: Any
    gather: Callable[[dict[int, Any]], dict[int, Any]] | None


def start_processes(device: str | None) -> Processes:
    """Joins the process group where a launcher made one.

    Args:
        device: What the user asked for; None = this process's GPU, else the CPU.
    """
    from accelerate import PartialState

    state = PartialState(cpu=device == "cpu")
    if state.num_processes == 1:
        return Processes(Shard(), device, None)
    return Processes(Shard(state.process_index, state.num_processes), device or state.device, gathered)


def gathered(found: dict[int, Any]) -> dict[int, Any]:
    """What all processes have found, merged, on each of them."""
    from accelerate.utils import gather_object

    return {number: value for part in gather_object([found]) for number, value in part.items()}


def leave_processes(code: int) -> None:
    """Ends this process where it is one of several on CPUs; called when all is done.

    gloo's threads may still run while the interpreter takes itself apart, and abort a process that has done its work
    (seen on a rank without rows). So all ranks meet, exit handlers run, and the process ends without that.
    """
    import torch.distributed as distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return
    if distributed.get_backend() != "gloo":
        distributed.destroy_process_group()
        return
    if code == 0:
        distributed.barrier()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
