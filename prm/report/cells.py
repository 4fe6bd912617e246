"""How a table's raw value reads: one rule for the page, for Markdown and for the words."""

from __future__ import annotations

from prm.report.elements import Cell, CellKind, Column, Estimate

UNDEFINED = "–"
"""Stands where a value is undefined."""

_MINUS = "−"
_UNITS: dict[CellKind, str] = {"percent": "%", "points": "points"}


def cell_text(cell: Cell, kind: CellKind) -> str:
    """A cell as people read it.

    Args:
        cell: A raw value, None = undefined.
        kind: percent: a fraction as per cent with one decimal. points: a difference of fractions as signed
            percentage points. count: a whole number with thousands separated. number: three decimals, one from 3 on.
            decimal: one decimal. p_value: three decimals, "< 0.001" below them. text: itself.

    Returns:
        "62.8"; with an interval "62.8 [58.8, 67.1]"; "–" where undefined.
    """
    if not isinstance(cell, Estimate):
        return _value(cell, kind)
    if cell.value is None or cell.low is None or cell.high is None:
        return _value(cell.value, kind)
    return f"{_value(cell.value, kind)} [{_value(cell.low, kind)}, {_value(cell.high, kind)}]"


def unit(column: Column) -> str:
    """What a column's numbers are in: "%", "points", or "" where there is no unit or its title names it."""
    return "" if "%" in column.title else _UNITS.get(column.kind, "")


def _value(value: str | float | None, kind: CellKind) -> str:
    if value is None:
        return UNDEFINED
    if isinstance(value, str):
        return value
    return _number(value, kind)


def _number(value: float, kind: CellKind) -> str:
    if kind == "percent":
        return decimal(100 * value, 1)
    if kind == "points":
        return signed(100 * value, 1)
    if kind == "count":
        return f"{value:,.0f}".replace("-", _MINUS)
    if kind == "decimal":
        return decimal(value, 1)
    if kind == "p_value":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return decimal(value, 3 if abs(value) < 3 else 1)


def decimal(value: float, places: int) -> str:
    """−1.2 as "−1.2"; what rounds to zero has no sign."""
    text = f"{value:,.{places}f}"
    is_zero = not text.strip("-0.,")
    return text.lstrip("-") if is_zero else text.replace("-", _MINUS)


def signed(value: float, places: int) -> str:
    """+1.2, −1.2, and 0.0 without a sign."""
    text = decimal(value, places)
    return text if text.startswith(_MINUS) or not text.strip("0.,") else f"+{text}"


def counted(number: int, one: str, several: str | None = None) -> str:
    """ "1 judge", "1,200 judges"; `several` where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"
