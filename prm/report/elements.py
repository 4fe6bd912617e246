"""What a report is made of: sections that hold text, tables and figures. Values only; nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

CellKind: TypeAlias = Literal["text", "percent", "points", "count", "number", "decimal", "p_value"]
"""How a column's values are shown: a fraction as per cent, a difference of fractions as points, …"""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; sorts by the value. Both bounds are None where there is no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


Cell: TypeAlias = "str | int | float | Estimate | None"
"""A raw value (fractions, not per cent); None = undefined, shown as "–"."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, how its values are shown, and what the heading means (a tooltip)."""

    title: str
    kind: CellKind = "text"
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of raw values.

    Attributes:
        name: File name without suffix, unique in a report.
        title: One line above it.
        columns: C columns; the first names the row.
        rows: C cells each, best first.
        emphasis: Numbers of the rows that are a yardstick (baselines), not a judge.
        note: One or two sentences below it, or "".
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    emphasis: frozenset[int] = frozenset()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure.

    Attributes:
        name: File name without suffix, unique in a report.
        title: One line above it.
        alt: What a reader who cannot see it must know.
        svg: A complete ``<svg>`` element whose colours are CSS variables of the page (light and dark) and whose
            ids are unique in the page.
        svg_file: The same as a file of its own, in light colours.
        png: The same as pixels.
        caption: How to read it.
    """

    name: str
    title: str
    alt: str
    svg: str
    svg_file: bytes
    png: bytes
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter: `id` is its anchor, `text` says in plain words what it answers."""

    id: str
    title: str
    text: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
