"""How often each diagnosis is made, over all agents × variants and by each of them."""

from __future__ import annotations

from dataclasses import dataclass

from prm.reach.metrics.estimate import Arm
from prm.reach.metrics.report_values import ArmReport, DiagnosisReport, Report
from prm.report.elements import Cell, Table
from prm.report.reach.shares import with_interval
from prm.report.reach.tables import MAX_ROWS
from prm.report.tables.build import Field, field, table

_MAX_ARMS = 6
"""More agents × variants than this have no column of their own."""

_KEY = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Row:
    words: str
    name: str
    subject: str
    kind: str
    runs: int
    times: int
    by_arm: dict[Arm, DiagnosisReport]


def causes_table(report: Report) -> Table | None:
    """A row a diagnosis (with its subject and kind), most runs first."""
    rows = _rows(report)
    several = 1 < len(report.arms) <= _MAX_ARMS
    alone = len(report.arms) == 1
    fields: list[Field[_Row]] = [
        field("found", "text", lambda row: row.words),
        field("diagnosis", "text", lambda row: " · ".join(filter(None, (row.name, row.kind))).replace("_", " ")),
        field("about", "text", lambda row: row.subject or "–"),
        field("runs", "count", lambda row: row.runs, "Runs that have it at least once."),
        field("times", "count", lambda row: row.times, "How often in all."),
        *([_share(report.arms[0], "share")] if alone else []),
        *([_share(arm, arm.arm.name) for arm in report.arms] if several else []),
    ]
    left_out = len(rows) - MAX_ROWS
    note = f"{left_out:,} rarer ones are in reach.json." if left_out > 0 else ""
    return table("diagnoses", "Diagnoses", fields, rows[:MAX_ROWS], note=note)


def _share(arm: ArmReport, title: str) -> Field[_Row]:
    def value(row: _Row) -> Cell:
        found = row.by_arm.get(arm.arm)
        return 0.0 if found is None else with_interval(found.share)

    return field(title, "percent", value, "Share of the runs that have it at least once.")


def _rows(report: Report) -> list[_Row]:
    found: dict[_KEY, dict[Arm, DiagnosisReport]] = {}
    for arm in report.arms:
        for one in arm.diagnoses:
            found.setdefault((one.name, one.subject, one.kind), {})[arm.arm] = one
    divided = {name for name, subject, kind in found if subject or kind}
    rows = [_row(by_arm) for (name, subject, kind), by_arm in found.items() if subject or kind or name not in divided]
    return sorted(rows, key=lambda row: (-row.runs, -row.times, row.words))


def _row(by_arm: dict[Arm, DiagnosisReport]) -> _Row:
    first = next(iter(by_arm.values()))
    runs, times = (sum(getattr(one, key) for one in by_arm.values()) for key in ("runs", "times"))
    return _Row(first.words, first.name, first.subject, first.kind, runs, times, by_arm)
