"""The comparison of rules and a person as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from prm.evaluation.agreement.agreement_table import decimal
from prm.evaluation.table import one_line, percent, shortened

MAX_LISTED = 10
"""Disagreements that are listed of each rule; the JSON has them all."""


def tables(found: Mapping[str, Any]) -> RenderableType:
    """Steps and outcomes, milestones, rules, and the disagreements by rule."""
    parts = [_overall(found), _rules(found)]
    if found["milestones"]:
        parts.append(_milestones(found))
    if found["disagreements"]:
        parts.append(_disagreements(found))
    return Group(*parts)


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _overall(found: Mapping[str, Any]) -> Table:
    table = _table(f"{found['runs']['compared']} runs", "", "n", "agreement [95 % CI]", "κ [95 % CI]")
    for name in ("steps", "outcomes"):
        block = found[name]
        agreement = percent(block["agreement"]) + _interval(block["ci95"]["agreement"], percent)
        kappa = decimal(block["kappa"]) + _interval(block["ci95"]["kappa"], decimal)
        table.add_row(name, str(block["n"]), escape(agreement), escape(kappa))
    return table


def _interval(bounds: Any, shown: Any) -> str:
    return "" if bounds is None else f" [{shown(bounds[0])}, {shown(bounds[1])}]"


def _rules(found: Mapping[str, Any]) -> Table:
    table = _table("\nPrecision of each rule (Wilson, 95 %)", "rule", "n", "precision", "the person said")
    for rule, block in found["rules"].items():
        said = ", ".join(f"{label}: {count}" for label, count in block["human"].items())
        shown = percent(block["precision"]) + _interval(block["ci95"], percent)
        table.add_row(escape(one_line(rule)), str(block["n"]), escape(shown), said)
    return table


def _milestones(found: Mapping[str, Any]) -> Table:
    table = _table("\nMilestones", "", "n", "agreement", "κ", "apart (person → rules)")
    for name, block in found["milestones"].items():
        apart = ", ".join(f"{pair} {count}" for pair, count in block["apart"].items())
        cells = (str(block["n"]), percent(block["agreement"]), decimal(block["kappa"]), escape(apart))
        table.add_row(escape(one_line(name)), *cells)
    return table


def _disagreements(found: Mapping[str, Any]) -> Table:
    table = Table(title="\nDisagreements, by rule", title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in ("rule", "run", "message", "rules", "person", "why, and the person's note"):
        table.add_column(column, overflow="fold")
    for rule, listed in found["disagreements"].items():
        for step in listed[:MAX_LISTED]:
            key = step.get("id") or " ".join(str(step[name]) for name in ("query_index", "sample_index"))
            why = "; ".join(str(step[name]) for name in ("why", "note") if name in step)
            texts = (rule, key, str(step["message_index"]), str(step["rules"]), str(step["human"]), why)
            table.add_row(*(escape(shortened(one_line(text))) for text in texts))
        if len(listed) > MAX_LISTED:
            table.add_row(escape(one_line(rule)), f"and {len(listed) - MAX_LISTED} more", "", "", "", "")
    return table


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """What a reader must know beside the tables."""
    weighted = found["weighted"]["agreement"]
    if weighted is not None:
        yield f"over all runs, each stratum of the sample at its share: {percent(weighted)} % agreement"
    if found["masked"]:
        said = ", ".join(f"{label}: {count}" for label, count in found["masked"].items())
        yield f"steps that the rules masked, by the person's label: {said}"
    lost = ", ".join(f"{count} {name}" for name, count in found["unplaced"].items() if count)
    if lost:
        yield f"not compared, since the labelled file has none such: {lost}"
