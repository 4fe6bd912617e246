"""The data files of the ticket desk, ``ticket/*.yaml``, each read once. Knows nothing of their meaning."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def ticket_data(name: str) -> dict[str, Any]:
    """The content of ``ticket/<name>.yaml``; read it, don't change it."""
    text = files("prm.reach.desk").joinpath("ticket", f"{name}.yaml").read_text(encoding="utf-8")
    value: dict[str, Any] = yaml.safe_load(text)
    return value
