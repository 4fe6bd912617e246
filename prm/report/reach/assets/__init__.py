"""Markup, style and scripts of the reach page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def reach_asset(name: str) -> str:
    """The text of a file in this folder."""
    return files("prm.report.reach.assets").joinpath(name).read_text(encoding="utf-8")
