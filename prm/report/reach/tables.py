"""The tables of the reach page: agents × variants, milestones, repeats, missing information, what was compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from prm.reach.judging.verdict import Standing
from prm.reach.metrics.comparison_values import Comparison, PairedDifference
from prm.reach.metrics.estimate import Estimate as Measured
from prm.reach.metrics.node_values import NodeReport
from prm.reach.metrics.report_values import ArmReport, MissingInformationReport, Report
from prm.report.elements import Cell, Estimate, Table
from prm.report.reach.figures.chain import ends, main_cause
from prm.report.reach.shares import share, with_interval
from prm.report.tables.build import Field, field, table

MAX_ROWS = 400
"""A longer table helps no reader; reach.json holds the rest."""

_MAX_MILESTONES = 20

Row = TypeVar("Row")


def arms_table(report: Report) -> Table | None:
    """A row an agent × variant: how far its runs get."""
    cap = report.settings.cap

    def outcome(name: str) -> Callable[[ArmReport], Cell]:
        return lambda arm: with_interval(arm.outcomes[name])

    ranked = sorted(report.arms, key=lambda arm: -(arm.reach.value or 0.0))
    fields: list[Field[ArmReport]] = [
        _arm_field(),
        field("runs", "count", lambda arm: arm.runs),
        field(
            f"Reach@{cap}",
            "percent",
            lambda arm: with_interval(arm.reach),
            f"Share of a run's required milestones reached within {cap} tool calls, mean over scenarios.",
        ),
        field("all reached", "percent", outcome("all_reached"), "Runs that reach every required milestone."),
        field("covered", "percent", outcome("covered"), "Runs that reach all of them and hit no minefield."),
        field("right state", "percent", outcome("final_success"), "Runs that end in the right final state."),
        field("legal success", "percent", outcome("legal_success"), "Right final state and no minefield, by any path."),
        field(
            "fabricated",
            "percent",
            lambda arm: with_interval(arm.fabricated),
            "Share of a run's reference arguments that nothing before them holds.",
        ),
    ]
    return _capped("agents-variants", "Agents × variants", fields, ranked)


def _arm_field() -> Field[ArmReport]:
    return field("agent / variant", "text", lambda arm: arm.arm.name)


def milestones_table(report: Report) -> Table | None:
    """A row an agent × variant, a column a milestone: how often it is reached."""
    names = list(dict.fromkeys(node.name for arm in report.arms for node in arm.nodes))[:_MAX_MILESTONES]
    if len(report.arms) < 2 or not names:
        return None

    def reached(name: str) -> Field[ArmReport]:
        return field(name, "percent", lambda arm: _reached(arm, name), f"Runs that reach {name}.")

    ranked = sorted(report.arms, key=lambda arm: -(arm.reach.value or 0.0))
    fields = [_arm_field(), *map(reached, names)]
    return _capped("milestones-reached", "Milestones reached", fields, ranked)


def _reached(arm: ArmReport, name: str) -> Cell:
    found = next((node for node in arm.nodes if node.name == name), None)
    return None if found is None else with_interval(found.reached)


def nodes_table(report: Report) -> Table | None:
    """A row a milestone of an agent × variant: everything known of it."""
    rows = [(arm, node) for arm in report.arms for node in arm.nodes]
    several = len(report.arms) > 1
    fields: list[Field[tuple[ArmReport, NodeReport]]] = [
        field("milestone", "text", lambda row: row[1].name + ("" if row[1].required else " (optional)")),
        *([field("agent / variant", "text", _arm_name)] if several else []),
        field("touched", "percent", lambda row: with_interval(row[1].touched), "Its tool was called, however."),
        field("reached", "percent", lambda row: with_interval(row[1].reached), "What it returned was used."),
        field("gap", "points", lambda row: with_interval(row[1].gap), "Touched minus reached."),
        field(
            "if prepared",
            "percent",
            lambda row: with_interval(row[1].reached_given_prerequisites),
            "Reached, of the runs that reach all that comes before it.",
        ),
        field("end here", "percent", lambda row: ends(row[0]).get(row[1].name), "Runs that get to it and no further."),
        field(
            "found in misses",
            "text",
            lambda row: _cause(row[1]),
            "What is found most often in the runs that do not reach it, and in how many of them.",
        ),
        *(_unscored("n/a", "Runs in which it does not apply.", report)),
        *(_unscored("unscorable", "Runs whose log does not say.", report)),
    ]
    return _capped("milestones", "Every milestone", fields, rows)


def _unscored(standing: Standing, meaning: str, report: Report) -> Iterator[Field[tuple[ArmReport, NodeReport]]]:
    """A column of the runs that are no part of the shares, where there are any."""
    if any(node.standings.get(standing) for arm in report.arms for node in arm.nodes):
        yield field(standing, "count", lambda row: row[1].standings.get(standing, 0), meaning)


def _arm_name(row: tuple[ArmReport, NodeReport]) -> str:
    return row[0].arm.name


def _cause(node: NodeReport) -> str:
    cause = main_cause(node)
    return "–" if cause is None else f"{cause.words} ({share(cause.share.value)})"


def first_reach_table(report: Report) -> Table | None:
    """A row a milestone of an agent × variant: when it is first reached."""
    rows = [(arm, node) for arm in report.arms for node in arm.nodes]
    cap = report.settings.cap

    def quartile(number: int) -> Callable[[tuple[ArmReport, NodeReport]], Cell]:
        return lambda row: None if (found := row[1].first_reach.quartiles) is None else found[number]

    fields: list[Field[tuple[ArmReport, NodeReport]]] = [
        field("milestone", "text", lambda row: row[1].name),
        *([field("agent / variant", "text", _arm_name)] if len(report.arms) > 1 else []),
        field("median calls", "decimal", quartile(1), "Of the runs that reach it."),
        field("first quartile", "decimal", quartile(0)),
        field("third quartile", "decimal", quartile(2)),
        field(
            "restricted mean",
            "decimal",
            lambda row: with_interval(row[1].first_reach.restricted_mean),
            f"Mean calls to reach it; a run that never does counts as {cap}.",
        ),
    ]
    return _capped("first-reach", "Calls to first reach", fields, rows)


def stability_table(report: Report) -> Table | None:
    """A row an agent × variant: coverage over repeats."""
    repeats = max((len(arm.outcome_stability["covered"].curve) for arm in report.arms), default=0)
    if repeats < 2:
        return None

    def all_of(k: int) -> Field[ArmReport]:
        return field(
            f"all of {k}", "percent", lambda arm: _of(arm, k, "all_of"), f"{k} runs of a scenario are covered."
        )

    def any_of(k: int) -> Field[ArmReport]:
        return field(f"any of {k}", "percent", lambda arm: _of(arm, k, "any_of"), f"At least one of {k} runs is.")

    shown = [k for k in range(1, repeats + 1) if k <= 4 or k == repeats]
    flips: Field[ArmReport] = field(
        "flip rate",
        "percent",
        lambda arm: with_interval(arm.outcome_stability["covered"].flip_rate),
        "How often two runs of one scenario differ in it.",
    )
    fields: list[Field[ArmReport]] = [_arm_field(), *map(all_of, shown), any_of(shown[-1]), flips]
    return _capped("covered-over-repeats", "Covered, over repeated runs", fields, report.arms)


def _of(arm: ArmReport, k: int, which: str) -> Cell:
    curve = arm.outcome_stability["covered"].curve
    point = next((point for point in curve if point.k == k), None)
    return None if point is None else with_interval(getattr(point, which))


def missing_information_table(report: Report) -> Table | None:
    """A row an agent × variant and missing fact: what the agent does about it."""
    rows = [(arm, found) for arm in report.arms for found in arm.missing_information if found.asks.runs]

    def response(name: str, meaning: str) -> Field[tuple[ArmReport, MissingInformationReport]]:
        return field(name, "percent", lambda row: with_interval(getattr(row[1], name)), meaning)

    fields: list[Field[tuple[ArmReport, MissingInformationReport]]] = [
        field("agent / variant", "text", lambda row: row[0].arm.name),
        field("missing", "text", lambda row: row[1].fact or "anything"),
        field("runs", "count", lambda row: row[1].asks.runs),
        response("asks", "The agent asks for it."),
        response("refuses", "It says that it cannot go on."),
        response("invents", "It makes it up."),
        response("other", "Anything else."),
    ]
    return _capped("missing-information", "Where information was missing", fields, rows)


def minefields_table(report: Report) -> Table | None:
    """A row an agent × variant and minefield that it hits: how often."""
    rows = [(arm.arm.name, name, found) for arm in report.arms for name, found in arm.minefields.items() if found.value]
    rows.sort(key=lambda row: -(row[2].value or 0.0))
    fields: list[Field[tuple[str, str, Measured]]] = [
        field("minefield", "text", lambda row: row[1]),
        field("agent / variant", "text", lambda row: row[0]),
        field("hit", "percent", lambda row: with_interval(row[2]), "Runs that hit it."),
    ]
    return _capped("minefields", "Minefields that were hit", fields, rows)


def comparisons_table(report: Report) -> Table | None:
    """A row a metric of two agents × variants on the same scenarios: what differs, the surest first."""
    rows = [(one, name, found) for one in report.comparisons for name, found in _moved(one)]
    rows.sort(key=lambda row: (2.0 if row[2].p_holm is None else row[2].p_holm, row[2].p_value or 0.0))
    fields: list[Field[tuple[Comparison, str, PairedDifference]]] = [
        field("new", "text", lambda row: row[0].new.name),
        field("old", "text", lambda row: row[0].old.name),
        field("compared in", "text", lambda row: row[1]),
        field("old value", "percent", lambda row: row[2].old),
        field("new value", "percent", lambda row: row[2].new),
        field("difference", "points", lambda row: _difference(row[2]), "New minus old, mean over the same scenarios."),
        field("p (Holm)", "p_value", lambda row: row[2].p_holm, "Sign-flip test on paired means, corrected."),
        field("verdict", "text", lambda row: row[2].verdict or "–"),
        field("scenarios", "count", lambda row: row[2].pairs, "With a value on both sides."),
    ]
    return _capped("comparisons", "On the same scenarios", fields, rows)


def _moved(one: Comparison) -> Iterator[tuple[str, PairedDifference]]:
    yield from ((name.replace("_", " "), found) for name, found in one.metrics.items())
    yield from ((f"{change.name} reached", change.reached) for change in one.milestones)


def _difference(found: PairedDifference) -> Estimate:
    low, high = found.ci95 or (None, None)
    return Estimate(found.difference, low, high)


def _capped(name: str, title: str, fields: Sequence[Field[Row]], rows: Sequence[Row]) -> Table | None:
    left_out = len(rows) - MAX_ROWS
    note = f"{left_out:,} further rows are in reach.json." if left_out > 0 else ""
    return table(name, title, fields, rows[:MAX_ROWS], note=note)
