"""What becomes of labels between the file and the model, counted per class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from prm.types import LABELS


@dataclass(slots=True)
class LabelAccount:
    """What became of the labelled steps, counted per class ("-1", "0", "1").

    Attributes:
        labelled: Labelled steps in the file.
        kept: Read with their own text whole.
        elided: Read with the middle of their own text left out.
        windowed: Read in a row that does not begin with the run's first step (these count in `kept` or `elided` too).
        dropped: Not read at all; 0 by construction, counted from the rows all the same.
        tokens: Tokens of the runs in full; tokens_left_out: of which the budget left out.
        tool_results: Tool results; tool_results_elided: of which the middle was left out.
        rows: Rows made; longest_row: tokens of the longest.
    """

    labelled: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    elided: Counter[str] = field(default_factory=Counter)
    windowed: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    tokens_left_out: int = 0
    tool_results: int = 0
    tool_results_elided: int = 0
    rows: int = 0
    longest_row: int = 0

    def add(self, other: LabelAccount) -> None:
        """Adds another account to this one."""
        for name in ("labelled", "kept", "elided", "windowed", "dropped"):
            getattr(self, name).update(getattr(other, name))
        for name in ("tokens", "tokens_left_out", "tool_results", "tool_results_elided", "rows"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest_row = max(self.longest_row, other.longest_row)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, every class named."""
        plain: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            plain[name] = {str(label): value[str(label)] for label in LABELS} if isinstance(value, Counter) else value
        return plain
