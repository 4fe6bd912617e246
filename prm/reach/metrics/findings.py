"""What to read first of a report, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prm.reach.metrics.estimate import Estimate
from prm.reach.metrics.node_values import EdgeReport, NodeReport
from prm.reach.metrics.report_values import ArmReport, MissingInformationReport
from prm.reach.metrics.words import counted, percent, with_interval

MAX_BOTTLENECKS = 3
WORTH_SAYING = 0.05
"""A milestone at which fewer runs end is no bottleneck; a minefield that fewer hit is in the tables only."""


def arm_findings(report: ArmReport, cap: int) -> tuple[str, ...]:
    """The findings of one agent × variant, the most important first."""
    return (
        _headline(report, cap),
        *_bottlenecks(report.nodes, report.edges),
        *_minefields(report.minefields),
        *_missing(report.missing_information),
        *_stability(report.nodes),
        *_left_out(report.nodes),
    )


def _headline(report: ArmReport, cap: int) -> str:
    if report.reach.value is None:
        return f"nothing could be scored: {report.reach.undefined}"
    text = f"reaches {with_interval(report.reach)} of the required milestones within {cap} calls"
    covered, success = (report.outcomes[name].value for name in ("covered", "final_success"))
    if covered is not None:
        text += f"; {percent(covered)} of runs reach all of them and hit no minefield"
    if success is not None:
        text += f"; {percent(success)} end in the right state"
    return text


def _bottlenecks(nodes: Sequence[NodeReport], edges: Sequence[EdgeReport]) -> Iterator[str]:
    """The required milestones at which most runs end, of those that reach what comes before."""
    ended: dict[str, float] = {}
    for edge in edges:
        ended[edge.target] = max(ended.get(edge.target, 0.0), edge.ended.value or 0.0)
    found = [node for node in nodes if node.required and ended.get(node.name, 0.0) >= WORTH_SAYING]
    found.sort(key=lambda node: -ended[node.name])
    for node in found[:MAX_BOTTLENECKS]:
        yield bottleneck_words(node)


def bottleneck_words(node: NodeReport) -> str:
    """``bottleneck M3: touched 92 %, reached 41 %; 38 % of misses are an invented SKU``.

    Where more misses are for want of any call than have the most frequent cause, that is said first.
    """
    text = f"bottleneck {node.name}: touched {percent(node.touched.value)}, reached {percent(node.reached.value)}"
    never = node.reasons["never_called"].value or 0.0
    causes = [f"{percent(cause.share.value)} of misses are {cause.words}" for cause in node.causes[:1]]
    not_called = [f"in {percent(never)} of misses its tool is never called"] if never else []
    explains = (node.causes[0].share.value or 0.0) if node.causes else 0.0
    return "; ".join([text, *(causes if explains >= never else [*not_called, *causes])])


def _minefields(minefields: Mapping[str, Estimate]) -> Iterator[str]:
    hit = [(share.value, name, share) for name, share in minefields.items() if (share.value or 0) >= WORTH_SAYING]
    for _, name, share in sorted(hit, key=lambda item: (-(item[0] or 0), item[1])):
        yield f"minefield {name}: hit in {with_interval(share)} of runs"


def _missing(missing: Sequence[MissingInformationReport]) -> Iterator[str]:
    for report in missing[:1]:
        shares = (("ask", report.asks), ("refuse", report.refuses), ("invent it", report.invents))
        told = ", ".join(f"{percent(share.value)} {what}" for what, share in shares)
        yield f"where information is missing, of {counted(report.asks.runs, 'run')} {told}"


def _stability(nodes: Sequence[NodeReport]) -> Iterator[str]:
    """The milestone that most scenarios reach now and then, but not every time."""
    wavering = {
        node.name: node.stability.abilities["unstable"] + node.stability.abilities["undetermined"] for node in nodes
    }
    if not wavering or not max(wavering.values()):
        return
    node = next(node for node in nodes if wavering[node.name] == max(wavering.values()))
    told, scenarios = node.stability, sum(node.stability.abilities.values())
    yield (
        f"least stable {node.name}: of {counted(scenarios, 'scenario')} {told.abilities['stable']} always reach it, "
        f"{told.abilities['unstable']} mostly, {told.abilities['undetermined']} now and then, "
        f"{told.abilities['bottleneck']} never"
    )


def _left_out(nodes: Sequence[NodeReport]) -> Iterator[str]:
    unscorable = {node.name: node.standings["unscorable"] for node in nodes if node.standings["unscorable"]}
    if unscorable:
        told = ", ".join(f"{name} in {counted(count, 'run')}" for name, count in unscorable.items())
        yield f"could not be scored, and left out: {told}"
