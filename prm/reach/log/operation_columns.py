"""Which column of an operation log says what: declared by name, in code or inside a reader's name.

In a reader's name the columns are declared as in the query of a URL, with the names of the attributes:
``operations?run=session&time=ts&object_id=ticket&gap_minutes=15``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import parse_qsl

from prm.errors import ConfigError


@dataclass(frozen=True, slots=True)
class OperationColumns:
    """The columns of an operation log.

    Attributes:
        time: When: ISO 8601, or a number (of seconds; of milli-, micro- or nanoseconds where it is too large).
        actor: Who.
        operation: What was done: becomes the tool.
        object_id: What it was done to: becomes an argument of this name.
        params: The other arguments: an object, JSON text, or any text.
        outcome: What came of it: JSON, text, or a bare word such as ok or failed.
        run: Which run a row belongs to, one column or several with "+" between; "" = by actor and pause.
        scenario: The task, which repeats share, where the log has it.
        request: What the user asked for, where the log has it.
        gap_minutes: Without `run`: a pause of an actor that is longer begins a new run.
    """

    time: str = "time"
    actor: str = "actor"
    operation: str = "operation"
    object_id: str = "object_id"
    params: str = "params"
    outcome: str = "outcome"
    run: str = ""
    scenario: str = "scenario"
    request: str = "request"
    gap_minutes: float = 30.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.gap_minutes) and self.gap_minutes > 0):
            todo = "give the longest pause inside one run"
            raise ConfigError.at("gap_minutes", "must be a number above 0", self.gap_minutes, todo)

    @property
    def run_columns(self) -> tuple[str, ...]:
        """The columns that name a run; none = by actor and pause."""
        return tuple(name for name in self.run.split("+") if name)


def columns_of_query(query: str) -> OperationColumns:
    """The columns that a reader's name declares after its ``?``.

    Raises:
        ConfigError: An unknown name, or a value that it cannot have.
    """
    known = [field.name for field in fields(OperationColumns)]
    # "+" joins columns here; in a URL it would be a space.
    given: dict[str, Any] = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))
    for name in given:
        if name not in known:
            raise ConfigError.at("--reader operations", f"must declare one of {', '.join(known)}", name, "fix it")
    if "gap_minutes" in given:
        given["gap_minutes"] = _number(given["gap_minutes"])
    return OperationColumns(**given)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        todo = "give the longest pause inside one run"
        raise ConfigError.at("--reader operations: gap_minutes", "must be a number", text, todo) from None
