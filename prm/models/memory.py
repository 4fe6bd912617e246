"""Gives memory back between two heavy stages of one process."""

from __future__ import annotations

import ctypes
import gc
import sys

import torch


def release_memory() -> None:
    """Drops what is unreachable and hands freed pages to the system."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    trim_heap()


def trim_heap() -> None:
    """Hands freed pages of the C heap to the system; glibc keeps them otherwise, the more the shapes vary."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
